#include "data/sets/image_set.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/faults.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "data/images/image_decode.h"
#include "data/sets/image_index.h"
#include "data/sets/memory_dataset.h"

namespace trainyard {
namespace {

/// The hashes of files, each put once by the thread that decodes it first. Files that have theirs
/// cost a look at a byte.
class FileHashes {
 public:
  explicit FileHashes(std::size_t files)
      : states_(std::make_unique<std::atomic<State>[]>(files)), texts_(files) {}

  /// True for one caller: it puts the hash.
  [[nodiscard]] bool claim(std::size_t file) {
    State unknown = State::unknown;
    return states_[file].load(std::memory_order_relaxed) == unknown &&
           states_[file].compare_exchange_strong(unknown, State::claimed);
  }
  void put(std::size_t file, std::string_view hash) {
    std::ranges::copy(hash, texts_[file].begin());
    states_[file].store(State::known, std::memory_order_release);
  }
  [[nodiscard]] std::string of(std::size_t file) const {
    if (states_[file].load(std::memory_order_acquire) != State::known) return "";
    return {texts_[file].begin(), texts_[file].end()};
  }

 private:
  enum class State : std::uint8_t { unknown, claimed, known };
  std::unique_ptr<std::atomic<State>[]> states_;
  std::vector<std::array<char, 32>> texts_;
};

class ImageSet final : public Dataset {
 public:
  ImageSet(ImageFiles files, const std::vector<ImageRecord>& records, const ImageOptions& options,
           std::vector<std::string> left_out, std::shared_ptr<Faults> faults)
      : files_(std::move(files)),
        options_(options),
        faults_(std::move(faults)),
        hashes_(files_.files.size()),
        left_out_(std::move(left_out)) {
    for (const ImageRecord& record : records) {
      sizes_.push_back(record.size);
      lengths_.push_back(record.bytes);
      times_.push_back(record.changed);
    }
    if (files_.fields_of) fields_ = std::exchange(files_.fields_of, nullptr)(files_.files);
    fingerprint_ = fingerprint_of(records);
    shape_ =
        options.size ? Shape{options.channels, options.size->h, options.size->w} : shape_of_all();
  }

  [[nodiscard]] std::int64_t size() const override { return std::ssize(files_.files); }
  [[nodiscard]] Shape image_shape() const override { return shape_; }
  [[nodiscard]] Shape sample_shape(std::int64_t index) const override {
    if (shape_[1] > 0) return shape_;
    const ImageSize own = sizes_[static_cast<std::size_t>(index)];
    return {options_.channels, own.h, own.w};
  }
  [[nodiscard]] std::int64_t classes() const override { return files_.classes; }
  [[nodiscard]] std::vector<std::string> class_names() const override { return files_.class_names; }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override {
    return files_.files[static_cast<std::size_t>(index)].label;
  }
  [[nodiscard]] const std::vector<MemoryField>& further_fields() const { return fields_; }
  [[nodiscard]] std::vector<SampleField> fields() const override {
    std::vector<SampleField> fields{SampleField{}};
    for (const MemoryField& field : fields_) fields.push_back(field.of);
    return fields;
  }
  void read_field(std::size_t field, std::int64_t index, std::byte* out) const override {
    if (field == 0) return Dataset::read_field(field, index, out);
    const MemoryField& from = fields_[field - 1];
    const std::size_t bytes = from.of.bytes();
    std::copy_n(from.values.data() + static_cast<std::size_t>(index) * bytes, bytes, out);
  }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }
  [[nodiscard]] SampleFiles files() const override {
    SampleFiles all{.folder = files_.folder, .left_out = left_out_};
    for (std::size_t i = 0; i < files_.files.size(); ++i) {
      all.files.push_back({.name = files_.files[i].name,
                           .label = files_.files[i].label,
                           .bytes = lengths_[i],
                           .changed = unix_time(times_[i]),
                           .hash = hashes_.of(i)});
    }
    return all;
  }
  [[nodiscard]] std::string file(std::int64_t index) const override {
    return files_.files[static_cast<std::size_t>(index)].name;
  }
  [[nodiscard]] bool eight_bit() const override { return true; }
  void read(std::int64_t index, float* image) const override { read_as(index, image); }
  void read_bytes(std::int64_t index, std::uint8_t* image) const override { read_as(index, image); }

 private:
  [[nodiscard]] fs::path path(std::int64_t index) const {
    return files_.folder / files_.files[static_cast<std::size_t>(index)].name;
  }
  [[nodiscard]] std::string fingerprint_of(const std::vector<ImageRecord>& records) const {
    Hash128 hash;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const ImageRecord& record = records[i];
      hash.update(record.name + '\n' + std::to_string(files_.files[i].label) + ' ' +
                  std::to_string(record.bytes) + ' ' + std::to_string(record.size.h) + ' ' +
                  std::to_string(record.size.w) + '\n');
    }
    add_to_hash(hash, fields_);
    return hash.hex();
  }
  /// Shape of the images if it is one, else without height and width.
  [[nodiscard]] Shape shape_of_all() const {
    const ImageSize first = sizes_.front();
    const bool one = std::ranges::all_of(sizes_, [&](ImageSize own) { return own == first; });
    return one ? Shape{options_.channels, first.h, first.w} : Shape{options_.channels, 0, 0};
  }
  [[nodiscard]] Image decoded(std::int64_t index) const {
    const fs::path file = path(index);
    std::string hash;
    const bool first = hashes_.claim(static_cast<std::size_t>(index));
    Image stored = read_image_file(file, static_cast<int>(options_.channels), options_.max_pixels,
                                   first ? &hash : nullptr);
    if (first) hashes_.put(static_cast<std::size_t>(index), hash);
    if (stored.size() != sizes_[static_cast<std::size_t>(index)]) {
      bad_file(file,
               "has changed size since the run began; do not change data folders during a run");
    }
    if (!options_.size) return stored;
    const ImageSize to{options_.size->h, options_.size->w};
    const ImageBox box =
        options_.fit == Fit::cover ? centred_box(stored.size(), to) : whole_box(stored.size());
    return resized(stored, to, options_.filter, box);
  }
  template <class T>
  void read_as(std::int64_t index, T* image) const {
    if (!faults_) return copy_planes(decoded(index), image);
    std::fill_n(image, sample_shape(index).elements(), T{0});
    faults_->attempt(index, [&] { copy_planes(decoded(index), image); });
  }

  ImageFiles files_;
  std::vector<MemoryField> fields_;  // after the label
  ImageOptions options_;
  std::shared_ptr<Faults> faults_;
  std::vector<ImageSize> sizes_;  // sizes of the images in their files
  std::vector<std::uint64_t> lengths_;
  std::vector<std::int64_t> times_;  // ImageRecord::changed
  mutable FileHashes hashes_;
  std::vector<std::string> left_out_;
  Shape shape_;
  std::string fingerprint_;
};

DatasetPtr held_in_memory(const Dataset& set, std::vector<MemoryField> fields) {
  const std::int64_t elements = set.image_shape().elements();
  MemorySamples samples{.image = set.image_shape(),
                        .fields = std::move(fields),
                        .classes = set.classes(),
                        .class_names = set.class_names(),
                        .fingerprint = set.fingerprint()};
  samples.bytes.resize(static_cast<std::size_t>(set.size() * elements));
  samples.labels.resize(static_cast<std::size_t>(set.size()));
  Faults faults;
  each_sample(available_cores(), set.size(), [&](std::int64_t i) {
    faults.attempt(i, [&] { set.read_bytes(i, samples.bytes.data() + i * elements); });
    samples.labels[static_cast<std::size_t>(i)] = set.label(i);
  });
  faults.raise();
  samples.files = set.files();
  return std::make_unique<MemoryDataset>(std::move(samples));
}

/// Every k-th file.
std::vector<ImageFile> spread(std::vector<ImageFile> files, std::int64_t limit) {
  const std::int64_t count = std::ssize(files);
  if (limit <= 0 || limit >= count) return files;
  std::vector<ImageFile> taken;
  for (std::int64_t i = 0; i < limit; ++i) {
    taken.push_back(std::move(files[static_cast<std::size_t>(i * count / limit)]));
  }
  return taken;
}

/// The files of a set and what is known of them, and those that are none of its samples.
struct LookedAt {
  ImageFiles set;
  std::vector<ImageRecord> records;  // records of set.files
  std::vector<ImageFile> bad;
};

/// Looks at the files of the set and takes the bad ones out.
void look_at_files(const ImageLook& look, const Opening& opening, LookedAt& looked) {
  const std::vector<ImageFile> files = std::exchange(looked.set.files, {});
  std::vector<std::string> names;
  for (const ImageFile& file : files) names.push_back(file.name);
  const auto records = indexed_images(looked.set.folder, names, look, opening);
  looked.records.clear();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!records[i].fault.empty()) {
      looked.bad.push_back({files[i].name, files[i].label, records[i].fault});
      continue;
    }
    looked.set.files.push_back(files[i]);
    looked.records.push_back(records[i]);
  }
}

/// The bytes of the decoded set; 0 if its images differ in size.
std::int64_t decoded_bytes(const std::vector<ImageRecord>& records, const ImageOptions& options) {
  if (records.empty()) return 0;
  const ImageSize first = records[0].size;
  const bool one =
      std::ranges::all_of(records, [&](const ImageRecord& record) { return record.size == first; });
  const std::int64_t pixels =
      options.size ? options.size->h * options.size->w : (one ? first.pixels() : 0);
  return std::ssize(records) * options.channels * pixels;
}

bool fits_memory(const std::vector<ImageRecord>& records, const ImageOptions& options) {
  const std::int64_t bytes = decoded_bytes(records, options);
  return bytes > 0 && bytes <= (options.memory_mib << 20);
}

LookedAt look_at_set(ImageFiles files, const ImageOptions& options, const Opening& opening) {
  LookedAt looked;
  std::vector<ImageFile> named;
  for (ImageFile& file : files.files) {
    (file.fault.empty() ? named : looked.bad).push_back(std::move(file));
  }
  files.files = spread(std::move(named), options.limit);
  looked.set = std::move(files);
  ImageLook look{.max_pixels = options.max_pixels,
                 .decode = opening.check_all || options.on_error == OnError::skip};
  look_at_files(look, opening, looked);
  if (looked.bad.empty() || look.decode || !fits_memory(looked.records, options)) return looked;
  look.decode = true;  // as if no file were bad: so all of them are told
  look_at_files(look, opening, looked);
  return looked;
}

/// Throws if there are bad files and no others, in the set or in a class.
void require_classes(const LookedAt& looked, const std::string& faults, const Opening& opening) {
  const std::string folder = "'" + looked.set.folder.string() + "'";
  if (looked.set.files.empty()) {
    throw data_error("no file of " + folder + " can be used:" + faults);
  }
  std::set<std::int32_t> labels;
  for (const ImageFile& file : looked.set.files) labels.insert(file.label);
  for (const ImageFile& file : looked.bad) {
    if (opening.may_lack_classes || labels.contains(file.label)) continue;
    const auto label = static_cast<std::size_t>(file.label);
    const std::vector<std::string>& names = looked.set.class_names;
    const std::string name = label < names.size() ? names[label] : std::to_string(label);
    throw data_error("no file of class '" + name + "' in " + folder +
                     " can be used: " + file.fault);
  }
}

/// Tells of the bad files, as an error unless they are to be left out.
void judge(const LookedAt& looked, const ImageOptions& options, const Opening& opening) {
  if (looked.bad.empty()) return;
  std::vector<std::string> faults;
  for (const ImageFile& file : looked.bad) faults.push_back(file.fault);
  if (options.on_error == OnError::error) {
    throw data_error(
        fault_list(faults) +
        (faults.size() == 1
             ? ""
             : "\nmend or remove them, or leave them out with 'on_error: skip' of the source"));
  }
  require_classes(looked, fault_lines(faults), opening);
  const std::size_t all = looked.set.files.size() + faults.size();
  opening.warn(std::to_string(faults.size()) + " of " + std::to_string(all) + " files of '" +
               looked.set.folder.string() + (faults.size() == 1 ? "' is" : "' are") +
               " left out ('on_error: skip'):" + fault_lines(faults));
}

std::string extension_of(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& letter : extension) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return extension;
}

}  // namespace

void declare_images(config::Fields& fields, ImageOptions& options) {
  fields.field("channels", options.channels, "1 for grey, 3 for colour",
               {.minimum = 1, .maximum = 3});
  fields.field(
      "size", options.size,
      "every image is resized to it when it is read: one number or [h, w]; without it "
      "images of several sizes need 'resize', 'random_resized_crop' or a crop in 'augment'",
      {.minimum = 1, .maximum = 16384});
  fields.field("fit", options.fit,
               "with 'size': stretch all of an image, or cover: its largest centred part of the "
               "same proportions");
  fields.field("filter", options.filter, "with 'size': Pillow's filter of this name");
  fields.field("max_pixels", options.max_pixels, "maximum number of pixels of an image",
               {.minimum = 1, .maximum = 268435456});
  fields.field("links", options.links,
               "symbolic links to images and folders: follow, also out of the root, or refuse");
  fields.field(
      "on_error", options.on_error,
      "files that cannot be read: error, or skip, which leaves them out with a warning and "
      "decodes every new image once before training to find them");
  fields.field("memory_mib", options.memory_mib,
               "sets up to this size are decoded once and held in memory",
               {.minimum = 0, .maximum = 1 << 30});
  declare_common(fields, options);
  if (options.channels == 2) fields.error("channels", "expected 1 or 3, found 2");
}

DatasetPtr open_images(ImageFiles files, const ImageOptions& options, const Opening& opening) {
  LookedAt looked = look_at_set(std::move(files), options, opening);
  judge(looked, options, opening);
  std::vector<std::string> left_out;
  for (ImageFile& file : looked.bad) left_out.push_back(std::move(file.name));
  auto set = std::make_unique<ImageSet>(std::move(looked.set), looked.records, options,
                                        std::move(left_out), opening.faults);
  if (!fits_memory(looked.records, options)) return set;
  return held_in_memory(*set, set->further_fields());
}

bool is_image_name(const fs::path& path) {
  constexpr std::array<std::string_view, 5> kOthers{".tif", ".tiff", ".heic", ".avif", ".jp2"};
  constexpr std::array<std::string_view, 8> kImages{".jpg", ".jpeg", ".jpe", ".jfif",
                                                    ".png", ".webp", ".gif", ".bmp"};
  const std::string extension = extension_of(path);
  if (std::ranges::find(kOthers, extension) != kOthers.end()) {
    bad_file(path, "is an image of another format than " + std::string(kImageFormats) +
                       "; convert or remove it");
  }
  return std::ranges::find(kImages, extension) != kImages.end();
}

}  // namespace trainyard
