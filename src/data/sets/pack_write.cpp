#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "data/sets/epoch_order.h"
#include "data/sets/pack.h"
#include "data/sets/pack_layout.h"

namespace trainyard {
namespace {

/// Removes a file unless it was kept.
class PartialFile {
 public:
  explicit PartialFile(fs::path path) : path_(std::move(path)) { remove(); }
  ~PartialFile() { remove(); }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  void remove() const {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  fs::path path_;
};

std::string_view characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

PackHeader header_of(const Dataset& set, std::int64_t block) {
  constexpr std::int64_t kBlockBytes = 1 << 20;
  PackHeader header{.image = set.image_shape(),
                    .samples = set.size(),
                    .classes = std::max<std::int64_t>(set.classes(), 1),
                    .class_names = set.class_names()};
  if (block == 0) block = std::max<std::int64_t>(kBlockBytes / header.image.elements(), 1);
  header.block = std::min(block, header.samples);
  return header;
}

void check_set(const Dataset& set) {
  if (!has_images(set)) {
    throw data_error("the samples are sequences " + sample_text(set) +
                     ", and a pack holds images; use the source itself");
  }
  if (!set.eight_bit()) {
    throw data_error("the images are not 8-bit, and a pack holds bytes; use the source itself");
  }
  if (set.fields().size() > 1) {
    throw data_error("the samples have a field '" + set.fields()[1].name +
                     "', and a pack holds images and labels; use the source itself");
  }
  if (set.image_shape()[1] > 0) return;
  throw data_error(
      "the images have several sizes, and a pack holds one; give 'size=224' or 'size=[224, 288]'");
}

void check_place(const fs::path& path, const PackHeader& header, const Disk& disk) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    throw disk_error("'" + path.string() + "' exists; remove it or give another name");
  }
  const std::uint64_t free = disk.free_bytes(path.has_parent_path() ? path.parent_path() : ".");
  if (header.header_at() <= free) return;
  throw disk_error("'" + path.string() + "' needs " + std::to_string(header.header_at()) +
                   " bytes, but " + std::to_string(free) + " are free");
}

/// Writes the images a few blocks at a time, and notes the hashes of the blocks.
void write_images(const Dataset& set, const PackWriting& writing,
                  const std::vector<std::int64_t>& order, AppendFile& file, PackHeader& header) {
  const std::int64_t each = header.image.elements();
  const std::int64_t batch = EpochOrder::kWindowBlocks * header.block;
  std::vector<std::uint8_t> images(
      static_cast<std::size_t>(std::min(batch, header.samples) * each));
  for (std::int64_t first = 0; first < header.samples; first += batch) {
    const std::int64_t count = std::min(batch, header.samples - first);
    each_sample(writing.threads, count, [&](std::int64_t i) {
      set.read_bytes(order[static_cast<std::size_t>(first + i)], images.data() + i * each);
    });
    const auto bytes =
        std::as_bytes(std::span(images)).first(static_cast<std::size_t>(count * each));
    for (std::int64_t i = 0; i < count; i += header.block) {
      const std::int64_t samples = std::min(header.block, count - i);
      header.hashes.push_back(hash128_hex(bytes.subspan(static_cast<std::size_t>(i * each),
                                                        static_cast<std::size_t>(samples * each))));
    }
    file.append(characters(bytes));
    writing.written(first + count);
  }
}

void write_labels(const Dataset& set, const std::vector<std::int64_t>& order, AppendFile& file,
                  PackHeader& header) {
  std::vector<std::int32_t> labels;
  for (const std::int64_t index : order) labels.push_back(set.label(index));
  header.labels_hash = hash128_hex(std::as_bytes(std::span(labels)));
  file.append(std::string(header.labels_at() - header.image_bytes(), '\0'));
  file.append(characters(std::as_bytes(std::span(labels))));
}

}  // namespace

void write_pack(const Dataset& set, const fs::path& path, const PackWriting& writing) {
  check_set(set);
  const Disk disk;
  PackHeader header = header_of(set, writing.block);
  check_place(path, header, disk);
  const PartialFile partial(path.string() + ".partial");
  const std::vector<std::int64_t> order = epoch_order(writing.seed, 0, set.size(), true);
  {
    AppendFile file(disk, partial.path());
    write_images(set, writing, order, file, header);
    write_labels(set, order, file, header);
    file.append(pack_tail(header));
    file.sync();
  }
  disk.rename(partial.path(), path);
}

}  // namespace trainyard
