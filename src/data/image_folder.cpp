#include "data/image_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "data/bad_file.h"
#include "data/memory_dataset.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

struct ImageFile {
  fs::path path;
  std::int32_t label = 0;
};

/// The images of a folder, decoded each time they are read.
class ImageFolder final : public Dataset {
 public:
  ImageFolder(const ImageFolderOptions& options, std::vector<ImageFile> files,
              std::vector<std::string> names);

  [[nodiscard]] std::int64_t size() const override {
    return static_cast<std::int64_t>(files_.size());
  }
  [[nodiscard]] Shape image_shape() const override { return shape_; }
  [[nodiscard]] std::int64_t classes() const override { return classes_; }
  [[nodiscard]] std::vector<std::string> class_names() const override { return names_; }
  void read(std::int64_t index, float* image) const override;
  [[nodiscard]] bool eight_bit() const override { return true; }
  void read_bytes(std::int64_t index, std::uint8_t* image) const override;
  [[nodiscard]] std::int32_t label(std::int64_t index) const override {
    return files_[static_cast<std::size_t>(index)].label;
  }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }

 private:
  [[nodiscard]] EncodedImage encoded(const fs::path& path,
                                     const std::vector<std::byte>& bytes) const {
    return {bytes, path.string(), max_pixels_};
  }
  void check_headers(std::int64_t channels);

  std::vector<ImageFile> files_;
  std::vector<std::string> names_;
  std::int64_t classes_;
  std::int64_t max_pixels_;
  Shape shape_;
  std::string fingerprint_;
};

ImageFolder::ImageFolder(const ImageFolderOptions& options, std::vector<ImageFile> files,
                         std::vector<std::string> names)
    : files_(std::move(files)),
      names_(std::move(names)),
      classes_(options.classes > 0 ? options.classes : static_cast<std::int64_t>(names_.size())),
      max_pixels_(options.max_pixels) {
  check_headers(options.channels);
}

void ImageFolder::check_headers(std::int64_t channels) {
  Hash128 hash;
  ImageSize first;
  for (const ImageFile& file : files_) {
    const std::vector<std::byte> bytes =
        trainyard::read_bytes(file.path, ErrorKind::data, kMostFileBytes);
    const ImageSize size = image_size(encoded(file.path, bytes));
    if (&file == &files_.front()) first = size;
    if (size != first) {
      bad_file(file.path, "is " + std::to_string(size.w) + " x " + std::to_string(size.h) +
                              " pixels but '" + files_.front().path.string() + "' is " +
                              std::to_string(first.w) + " x " + std::to_string(first.h) +
                              "; convert all pictures to one size");
    }
    hash.update(file.path.parent_path().filename().string() + "/" + file.path.filename().string() +
                "\n");
    hash.update(bytes);
  }
  shape_ = Shape{channels, first.h, first.w};
  fingerprint_ = hash.hex();
}

void ImageFolder::read_bytes(std::int64_t index, std::uint8_t* image) const {
  const fs::path& path = files_[static_cast<std::size_t>(index)].path;
  const std::vector<std::byte> bytes = trainyard::read_bytes(path, ErrorKind::data, kMostFileBytes);
  const EncodedImage picture = encoded(path, bytes);
  if (image_size(picture) != ImageSize{shape_[1], shape_[2]}) {
    bad_file(path, "has changed size since the run began; do not change data folders during a run");
  }
  decode_image(picture, static_cast<int>(shape_[0]),
               {image, static_cast<std::size_t>(shape_.elements())});
}

void ImageFolder::read(std::int64_t index, float* image) const {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(shape_.elements()));
  read_bytes(index, bytes.data());
  std::copy(bytes.begin(), bytes.end(), image);
}

std::unique_ptr<Dataset> held_in_memory(const ImageFolder& folder) {
  const std::size_t elements = static_cast<std::size_t>(folder.image_shape().elements());
  MemorySamples samples;
  samples.image = folder.image_shape();
  samples.classes = folder.classes();
  samples.class_names = folder.class_names();
  samples.fingerprint = folder.fingerprint();
  samples.bytes.resize(static_cast<std::size_t>(folder.size()) * elements);
  for (std::int64_t i = 0; i < folder.size(); ++i) {
    folder.read_bytes(i, samples.bytes.data() + static_cast<std::size_t>(i) * elements);
    samples.labels.push_back(folder.label(i));
  }
  return std::make_unique<MemoryDataset>(std::move(samples));
}

/// The entries of a folder in the order of their names, without hidden ones.
std::vector<fs::directory_entry> sorted_entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().front() != '.') entries.push_back(*at);
  }
  if (error) bad_file(folder, "cannot be read: " + error.message());
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.path().filename().string() < b.path().filename().string();
  });
  return entries;
}

std::string extension_of(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& letter : extension) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return extension;
}

/// True for an image; false for a file of another kind (README.txt). Pictures of formats that are
/// not read are refused: leaving them out would change the data set silently.
bool is_picture(const fs::directory_entry& entry) {
  constexpr std::array<std::string_view, 7> kOthers{".gif",  ".webp", ".tif", ".tiff",
                                                    ".heic", ".avif", ".jp2"};
  constexpr std::array<std::string_view, 6> kPictures{".jpg",  ".jpeg", ".jpe",
                                                      ".jfif", ".png",  ".bmp"};
  const std::string extension = extension_of(entry.path());
  if (std::ranges::find(kOthers, extension) != kOthers.end()) {
    bad_file(entry.path(),
             "is a picture of another format than JPEG, PNG and BMP; convert or "
             "remove it");
  }
  if (std::ranges::find(kPictures, extension) == kPictures.end()) return false;
  if (entry.is_symlink()) {
    bad_file(entry.path(), "is a symbolic link; picture folders hold regular files only, copy it");
  }
  if (!entry.is_regular_file()) bad_file(entry.path(), "is not a regular file");
  return true;
}

void append_class(const fs::path& folder, std::int32_t label, std::vector<ImageFile>& files) {
  const std::size_t before = files.size();
  for (const fs::directory_entry& entry : sorted_entries(folder)) {
    if (is_picture(entry)) files.push_back({entry.path(), label});
  }
  if (files.size() == before) {
    bad_file(folder,
             "holds no .jpg, .png or .bmp file; every class folder needs at least one picture");
  }
}

/// Checks that the folders are classes, of which there may be more than folders.
void check_classes(const fs::path& root, const std::vector<std::string>& names,
                   std::int64_t classes) {
  if (names.empty()) {
    bad_file(root, "holds no class folders; expected " + root.string() + "/CLASS/*.jpg");
  }
  const auto count = static_cast<std::int64_t>(names.size());
  if (classes == 0 || count <= classes) return;
  bad_file(root / names[static_cast<std::size_t>(classes)],
           "is class folder " + std::to_string(classes + 1) + " of " + std::to_string(count) +
               ", expected at most " + std::to_string(classes) + " ('classes')");
}

/// Every k-th file, so that every class remains.
std::vector<ImageFile> spread(std::vector<ImageFile> files, std::int64_t limit) {
  const std::int64_t count = static_cast<std::int64_t>(files.size());
  if (limit <= 0 || limit >= count) return files;
  std::vector<ImageFile> taken;
  for (std::int64_t i = 0; i < limit; ++i) {
    taken.push_back(std::move(files[static_cast<std::size_t>(i * count / limit)]));
  }
  return taken;
}

}  // namespace

void declare(config::Fields& fields, ImageFolderOptions& options) {
  fields.required("root", options.root, "folder with one folder of pictures per class");
  fields.field("classes", options.classes,
               "number of classes, the last of which may lack a folder; 0: that of the folders",
               {.minimum = 0});
  fields.field("channels", options.channels, "1 for grey, 3 for colour",
               {.minimum = 1, .maximum = 3});
  fields.field("max_pixels", options.max_pixels, "maximum number of pixels of a picture",
               {.minimum = 1, .maximum = 268435456});
  fields.field("memory_mib", options.memory_mib,
               "sets up to this size are decoded once and held in memory", {.minimum = 0});
  declare_common(fields, options);
  if (options.channels == 2) fields.error("channels", "expected 1 or 3, found 2");
}

std::unique_ptr<Dataset> open_image_folder(const ImageFolderOptions& options) {
  const fs::path root = located(options.root, options.config_folder);
  std::error_code ignored;
  if (!fs::is_directory(root, ignored)) {
    bad_file(root, "is not a folder; 'root' names a folder with one folder of pictures per class");
  }
  std::vector<ImageFile> files;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : sorted_entries(root)) {
    if (!entry.is_directory()) continue;
    if (entry.is_symlink()) bad_file(entry.path(), "is a symbolic link; use a real class folder");
    append_class(entry.path(), static_cast<std::int32_t>(names.size()), files);
    names.push_back(entry.path().filename().string());
  }
  check_classes(root, names, options.classes);
  auto folder = std::make_unique<ImageFolder>(options, spread(std::move(files), options.limit),
                                              std::move(names));
  const std::int64_t bytes = folder->size() * folder->image_shape().elements();
  if (bytes > (options.memory_mib << 20)) return folder;
  return held_in_memory(*folder);
}

std::unique_ptr<DatasetSource> read_image_folder(config::Fields& fields) {
  ImageFolderOptions options;
  declare(fields, options);
  return std::make_unique<OptionsSource<ImageFolderOptions>>(
      "image_folder", options,
      [](const ImageFolderOptions& given, std::uint64_t) { return open_image_folder(given); });
}

}  // namespace trainyard
