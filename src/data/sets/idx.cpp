#include "data/sets/idx.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/hash.h"
#include "data/sets/gzip.h"
#include "data/sets/memory_dataset.h"

namespace trainyard {
namespace {

constexpr std::uint32_t kImageMagic = 0x803;
constexpr std::uint32_t kLabelMagic = 0x801;
constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 30;  // bytes of one file's contents

std::string hexadecimal(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(value));
  return text;
}

struct IdxContents {
  std::vector<std::uint32_t> extents;
  std::vector<std::uint8_t> values;
};

/// Reads one big-endian word of the header.
std::uint32_t header_word(InflatingReader& reader, const fs::path& path, Hash128& hash) {
  std::byte bytes[4];
  if (reader.read(bytes) != 4) bad_file(path, "is not an IDX file: it ends inside its header");
  hash.update(bytes);
  std::uint32_t word = 0;
  for (const std::byte byte : bytes) word = (word << 8) | std::to_integer<std::uint32_t>(byte);
  return word;
}

std::uint64_t claimed_bytes(const std::vector<std::uint32_t>& extents) {
  std::uint64_t bytes = 1;
  for (const std::uint32_t extent : extents) {
    if (extent != 0 && bytes > kMostBytes / extent) return kMostBytes + 1;
    bytes *= extent;
  }
  return bytes;
}

std::string extents_text(const std::vector<std::uint32_t>& extents) {
  std::string text;
  for (const std::uint32_t extent : extents) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text;
}

IdxContents read_contents(const fs::path& path, std::uint32_t magic, Hash128& hash) {
  InflatingReader reader(path);
  const std::uint32_t found = header_word(reader, path, hash);
  if (found != magic) {
    bad_file(path, "begins with " + hexadecimal(found) + ", expected " + hexadecimal(magic) +
                       (magic == kImageMagic ? " (IDX images of bytes, [n, h, w])"
                                             : " (IDX labels of bytes, [n])"));
  }
  IdxContents contents;
  for (std::uint32_t axis = 0; axis < (magic & 0xff); ++axis) {
    contents.extents.push_back(header_word(reader, path, hash));
  }
  const std::string claim = "claims " + extents_text(contents.extents) + " bytes";
  const std::uint64_t bytes = claimed_bytes(contents.extents);
  if (bytes == 0) bad_file(path, claim + ": it holds no samples");
  if (bytes > kMostBytes || bytes > reader.most_bytes()) {
    bad_file(path,
             claim + ", more than a file of its size can hold (or than 8 GiB); it is damaged");
  }
  contents.values.resize(bytes);
  const auto values = std::as_writable_bytes(std::span<std::uint8_t>(contents.values));
  const std::size_t read = reader.read(values);
  if (read != bytes)
    bad_file(path, claim + " but holds " + std::to_string(read) + "; it is cut off");
  std::byte more[1];
  if (reader.read(more) != 0) bad_file(path, claim + " but holds more; it is damaged");
  hash.update(values);
  return contents;
}

struct IdxPaths {
  fs::path images;
  fs::path labels;
};

IdxPaths standard_paths(const IdxOptions& options) {
  const std::string prefix = options.split == Split::train ? "train" : "t10k";
  const std::string images = prefix + "-images-idx3-ubyte";
  const std::string labels = prefix + "-labels-idx1-ubyte";
  const fs::path folder = find_data_folder(
      {options.root, options.subfolder, {images, images + ".gz"}, options.title, options.advice});
  const auto plain_or_compressed = [&](const std::string& name) {
    std::error_code ignored;
    return fs::exists(folder / name, ignored) ? folder / name : folder / (name + ".gz");
  };
  return {plain_or_compressed(images), plain_or_compressed(labels)};
}

IdxPaths paths_of(const IdxOptions& options) {
  if (options.images.empty()) return standard_paths(options);
  return {located(options.images), located(options.labels)};
}

void check_labels(const std::vector<std::uint8_t>& labels, const fs::path& path,
                  std::int64_t classes) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < classes) continue;
    bad_file(path, "record " + std::to_string(i) + " (from 0) has label " +
                       std::to_string(labels[i]) + ", expected 0 to " +
                       std::to_string(classes - 1));
  }
}

void declare_folder(config::Fields& fields, IdxOptions& options) {
  fields.field("root", options.root, "folder with files of the standard names, plain or .gz");
  fields.field("split", options.split, "which split");
}

std::unique_ptr<DatasetSource> make_source(std::string_view name, IdxOptions options) {
  return std::make_unique<OptionsSource<open_idx>>(name, std::move(options));
}

std::unique_ptr<DatasetSource> read_named(config::Fields& fields, std::string_view name,
                                          IdxOptions options) {
  options.root = "data";
  declare_folder(fields, options);
  declare_common(fields, options);
  return make_source(name, std::move(options));
}

}  // namespace

void declare(config::Fields& fields, IdxOptions& options) {
  fields.field("images", options.images, "file of images, plain or .gz");
  fields.field("labels", options.labels, "file of labels, plain or .gz");
  declare_folder(fields, options);
  fields.field("classes", options.classes, "number of classes", {.minimum = 1, .maximum = 256});
  declare_common(fields, options);
  if (fields.describing()) return;
  if (options.images.empty() != options.labels.empty()) {
    fields.error("", "'images' and 'labels' go together; give both, or 'root' and 'split'");
  } else if (options.images.empty() == options.root.empty()) {
    fields.error("", "give either 'images' and 'labels', or 'root'");
  }
}

DatasetPtr open_idx(const IdxOptions& options) {
  const IdxPaths paths = paths_of(options);
  Hash128 hash;
  IdxContents images = read_contents(paths.images, kImageMagic, hash);
  const IdxContents labels = read_contents(paths.labels, kLabelMagic, hash);
  if (images.extents[0] != labels.extents[0]) {
    throw data_error("'" + paths.images.string() + "' holds " + std::to_string(images.extents[0]) +
                     " images but '" + paths.labels.string() + "' holds " +
                     std::to_string(labels.extents[0]) +
                     " labels; expected equal counts of one split");
  }
  check_labels(labels.values, paths.labels, options.classes);
  MemorySamples samples;
  samples.image = Shape{1, images.extents[1], images.extents[2]};
  samples.bytes = std::move(images.values);
  samples.labels.assign(labels.values.begin(), labels.values.end());
  samples.classes = options.classes;
  samples.class_names = options.class_names;
  samples.fingerprint = hash.hex();
  return std::make_unique<MemoryDataset>(std::move(samples), options.limit);
}

std::unique_ptr<DatasetSource> read_idx(config::Fields& fields) {
  IdxOptions options;
  declare(fields, options);
  return make_source("idx", std::move(options));
}

std::unique_ptr<DatasetSource> read_mnist(config::Fields& fields) {
  IdxOptions options;
  options.subfolder = "mnist";
  options.title = "MNIST";
  options.advice = "get its four files with: train data get mnist --to FOLDER";
  return read_named(fields, "mnist", std::move(options));
}

std::unique_ptr<DatasetSource> read_fashion_mnist(config::Fields& fields) {
  IdxOptions options;
  options.subfolder = "fashion-mnist";
  options.title = "Fashion-MNIST";
  options.advice = "get its four files with: train data get fashion_mnist --to FOLDER";
  options.class_names = {"t-shirt", "trouser", "pullover", "dress", "coat",
                         "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};
  return read_named(fields, "fashion_mnist", std::move(options));
}

}  // namespace trainyard
