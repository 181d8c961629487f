#include "data/picture_set.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <memory>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "base/parallel.h"
#include "data/bad_file.h"
#include "data/each_sample.h"
#include "data/memory_dataset.h"
#include "data/picture_file.h"
#include "data/picture_index.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

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

class PictureSet final : public Dataset {
 public:
  PictureSet(PictureFiles files, const PictureOptions& options, const Opening& opening)
      : files_(std::move(files)), options_(options), hashes_(files_.files.size()) {
    std::vector<std::string> names;
    for (const PictureFile& file : files_.files) names.push_back(file.name);
    const auto records = indexed_pictures(files_.folder, names, options.max_pixels, opening);
    for (const PictureRecord& record : records) {
      sizes_.push_back(record.size);
      lengths_.push_back(record.bytes);
      times_.push_back(record.changed);
    }
    fingerprint_ = fingerprint_of(records);
    shape_ =
        options.size ? Shape{options.channels, options.size->h, options.size->w} : shape_of_all();
  }

  [[nodiscard]] std::int64_t size() const override { return std::ssize(files_.files); }
  [[nodiscard]] Shape image_shape() const override { return shape_; }
  [[nodiscard]] Shape sample_shape(std::int64_t index) const override;
  [[nodiscard]] std::int64_t classes() const override { return files_.classes; }
  [[nodiscard]] std::vector<std::string> class_names() const override { return files_.class_names; }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override {
    return files_.files[static_cast<std::size_t>(index)].label;
  }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }
  [[nodiscard]] SampleFiles files() const override;
  [[nodiscard]] std::string file(std::int64_t index) const override {
    return files_.files[static_cast<std::size_t>(index)].name;
  }
  [[nodiscard]] bool eight_bit() const override { return true; }
  void read(std::int64_t index, float* image) const override { copy_planes(picture(index), image); }
  void read_bytes(std::int64_t index, std::uint8_t* image) const override {
    copy_planes(picture(index), image);
  }

 private:
  [[nodiscard]] fs::path path(std::int64_t index) const {
    return files_.folder / files_.files[static_cast<std::size_t>(index)].name;
  }
  [[nodiscard]] std::string fingerprint_of(const std::vector<PictureRecord>& records) const;
  [[nodiscard]] Shape shape_of_all() const;
  [[nodiscard]] Picture picture(std::int64_t index) const;

  PictureFiles files_;
  PictureOptions options_;
  std::vector<ImageSize> sizes_;  // of the pictures in their files
  std::vector<std::uint64_t> lengths_;
  std::vector<std::int64_t> times_;  // PictureRecord::changed
  mutable FileHashes hashes_;
  Shape shape_;
  std::string fingerprint_;
};

std::string PictureSet::fingerprint_of(const std::vector<PictureRecord>& records) const {
  Hash128 hash;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const PictureRecord& record = records[i];
    hash.update(record.name + '\n' + std::to_string(files_.files[i].label) + ' ' +
                std::to_string(record.bytes) + ' ' + std::to_string(record.size.h) + ' ' +
                std::to_string(record.size.w) + '\n');
  }
  return hash.hex();
}

SampleFiles PictureSet::files() const {
  SampleFiles all{.folder = files_.folder};
  for (std::size_t i = 0; i < files_.files.size(); ++i) {
    all.files.push_back({.name = files_.files[i].name,
                         .label = files_.files[i].label,
                         .bytes = lengths_[i],
                         .changed = unix_time(times_[i]),
                         .hash = hashes_.of(i)});
  }
  return all;
}

/// That of the pictures if it is one, else no height and width.
Shape PictureSet::shape_of_all() const {
  const ImageSize first = sizes_.front();
  const bool one = std::ranges::all_of(sizes_, [&](ImageSize own) { return own == first; });
  return one ? Shape{options_.channels, first.h, first.w} : Shape{options_.channels, 0, 0};
}

Shape PictureSet::sample_shape(std::int64_t index) const {
  if (shape_[1] > 0) return shape_;
  const ImageSize own = sizes_[static_cast<std::size_t>(index)];
  return {options_.channels, own.h, own.w};
}

Picture PictureSet::picture(std::int64_t index) const {
  const fs::path file = path(index);
  std::string hash;
  const bool first = hashes_.claim(static_cast<std::size_t>(index));
  Picture stored = read_picture_file(file, static_cast<int>(options_.channels), options_.max_pixels,
                                     first ? &hash : nullptr);
  if (first) hashes_.put(static_cast<std::size_t>(index), hash);
  if (stored.size() != sizes_[static_cast<std::size_t>(index)]) {
    bad_file(file, "has changed size since the run began; do not change data folders during a run");
  }
  if (!options_.size) return stored;
  const ImageSize to{options_.size->h, options_.size->w};
  const PictureBox box =
      options_.fit == Fit::cover ? centred_box(stored.size(), to) : whole_box(stored.size());
  return resized(stored, to, options_.filter, box);
}

std::unique_ptr<Dataset> held_in_memory(const Dataset& set) {
  const std::int64_t elements = set.image_shape().elements();
  MemorySamples samples{.image = set.image_shape(),
                        .classes = set.classes(),
                        .class_names = set.class_names(),
                        .fingerprint = set.fingerprint()};
  samples.bytes.resize(static_cast<std::size_t>(set.size() * elements));
  samples.labels.resize(static_cast<std::size_t>(set.size()));
  each_sample(available_cores(), set.size(), [&](std::int64_t i) {
    set.read_bytes(i, samples.bytes.data() + i * elements);
    samples.labels[static_cast<std::size_t>(i)] = set.label(i);
  });
  samples.files = set.files();
  return std::make_unique<MemoryDataset>(std::move(samples));
}

/// Every k-th file.
std::vector<PictureFile> spread(std::vector<PictureFile> files, std::int64_t limit) {
  const std::int64_t count = std::ssize(files);
  if (limit <= 0 || limit >= count) return files;
  std::vector<PictureFile> taken;
  for (std::int64_t i = 0; i < limit; ++i) {
    taken.push_back(std::move(files[static_cast<std::size_t>(i * count / limit)]));
  }
  return taken;
}

std::string extension_of(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& letter : extension) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return extension;
}

}  // namespace

std::span<const config::Word<Fit>> words(Fit) {
  static constexpr config::Word<Fit> kWords[] = {{Fit::stretch, "stretch"}, {Fit::cover, "cover"}};
  return kWords;
}

void declare_pictures(config::Fields& fields, PictureOptions& options) {
  fields.field("channels", options.channels, "1 for grey, 3 for colour",
               {.minimum = 1, .maximum = 3});
  fields.field(
      "size", options.size,
      "every picture is resized to it when it is read: one number or [h, w]; without it "
      "pictures of several sizes need 'resize', 'random_resized_crop' or a crop in 'augment'",
      {.minimum = 1, .maximum = 16384});
  fields.field("fit", options.fit,
               "with 'size': stretch all of a picture, or cover: its largest centred part of the "
               "same proportions");
  fields.field("filter", options.filter, "with 'size': Pillow's filter of this name");
  fields.field("max_pixels", options.max_pixels, "maximum number of pixels of a picture",
               {.minimum = 1, .maximum = 268435456});
  fields.field("memory_mib", options.memory_mib,
               "sets up to this size are decoded once and held in memory", {.minimum = 0});
  declare_common(fields, options);
  if (options.channels == 2) fields.error("channels", "expected 1 or 3, found 2");
}

std::unique_ptr<Dataset> open_pictures(PictureFiles files, const PictureOptions& options,
                                       const Opening& opening) {
  files.files = spread(std::move(files.files), options.limit);
  auto set = std::make_unique<PictureSet>(std::move(files), options, opening);
  const std::int64_t bytes = set->size() * set->image_shape().elements();
  if (bytes == 0 || bytes > (options.memory_mib << 20)) return set;  // 0: sizes of their own
  return held_in_memory(*set);
}

bool is_picture_name(const fs::path& path) {
  constexpr std::array<std::string_view, 7> kOthers{".gif",  ".webp", ".tif", ".tiff",
                                                    ".heic", ".avif", ".jp2"};
  constexpr std::array<std::string_view, 6> kPictures{".jpg",  ".jpeg", ".jpe",
                                                      ".jfif", ".png",  ".bmp"};
  const std::string extension = extension_of(path);
  if (std::ranges::find(kOthers, extension) != kOthers.end()) {
    bad_file(path,
             "is a picture of another format than JPEG, PNG and BMP; convert or "
             "remove it");
  }
  return std::ranges::find(kPictures, extension) != kPictures.end();
}

void require_regular(const fs::directory_entry& entry) {
  std::error_code ignored;
  if (entry.is_symlink(ignored)) {
    bad_file(entry.path(), "is a symbolic link; picture folders hold regular files only, copy it");
  }
  if (!entry.is_regular_file(ignored)) bad_file(entry.path(), "is not a regular file");
}

}  // namespace trainyard
