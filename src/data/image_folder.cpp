#include "data/image_folder.h"

#include <algorithm>
#include <system_error>

#include "data/bad_file.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

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

/// The pictures of `folder` and then those of the folders in it. `name` is its path below the root.
void append_pictures(const fs::path& folder, const fs::path& name, std::int32_t label,
                     std::vector<PictureFile>& files) {
  const std::vector<fs::directory_entry> entries = sorted_entries(folder);
  std::error_code ignored;
  for (const fs::directory_entry& entry : entries) {
    if (entry.is_directory(ignored) || !is_picture_name(entry.path())) continue;
    require_regular(entry);
    files.push_back({(name / entry.path().filename()).string(), label});
  }
  for (const fs::directory_entry& entry : entries) {
    if (!entry.is_directory(ignored)) continue;
    if (entry.is_symlink()) bad_file(entry.path(), "is a symbolic link; use a real folder");
    append_pictures(entry.path(), name / entry.path().filename(), label, files);
  }
}

void append_class(const fs::path& folder, std::int32_t label, const Opening& opening,
                  std::vector<PictureFile>& files) {
  const std::size_t before = files.size();
  append_pictures(folder, folder.filename(), label, files);
  if (files.size() > before) return;
  if (!opening.may_lack_classes) {
    bad_file(folder,
             "holds no .jpg, .png or .bmp file; every class folder needs at least one picture");
  }
  opening.warn("'" + folder.string() +
               "' holds no .jpg, .png or .bmp file: a class without samples");
}

/// Checks that the folders are classes, of which there may be more than folders.
void check_classes(const fs::path& root, const std::vector<std::string>& names,
                   std::int64_t classes) {
  const auto count = static_cast<std::int64_t>(names.size());
  if (classes == 0 || count <= classes) return;
  bad_file(root / names[static_cast<std::size_t>(classes)],
           "is class folder " + std::to_string(classes + 1) + " of " + std::to_string(count) +
               ", expected at most " + std::to_string(classes) + " ('classes')");
}

}  // namespace

void declare(config::Fields& fields, ImageFolderOptions& options) {
  fields.required("root", options.root, "folder with one folder of pictures per class");
  fields.field("classes", options.classes,
               "number of classes, the last of which may lack a folder; 0: that of the folders",
               {.minimum = 0});
  declare_pictures(fields, options);
}

PictureFiles class_folders(const fs::path& folder, const Opening& opening) {
  PictureFiles set{.folder = folder};
  std::error_code ignored;
  for (const fs::directory_entry& entry : sorted_entries(folder)) {
    if (!entry.is_directory(ignored)) continue;
    if (entry.is_symlink()) bad_file(entry.path(), "is a symbolic link; use a real class folder");
    append_class(entry.path(), static_cast<std::int32_t>(set.class_names.size()), opening,
                 set.files);
    set.class_names.push_back(entry.path().filename().string());
  }
  set.classes = std::ssize(set.class_names);
  if (set.files.empty()) {
    bad_file(folder,
             "holds no class folders with pictures; expected " + folder.string() + "/CLASS/*.jpg");
  }
  return set;
}

std::unique_ptr<Dataset> open_image_folder(const ImageFolderOptions& options,
                                           const Opening& opening) {
  const fs::path folder = located(options.root);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    bad_file(folder,
             "is not a folder; 'root' names a folder with one folder of pictures per class");
  }
  PictureFiles set = class_folders(folder, opening);
  check_classes(set.folder, set.class_names, options.classes);
  if (options.classes > 0) set.classes = options.classes;
  return open_pictures(std::move(set), options, opening);
}

std::unique_ptr<DatasetSource> read_image_folder(config::Fields& fields) {
  ImageFolderOptions options;
  declare(fields, options);
  return std::make_unique<OptionsSource<ImageFolderOptions>>(
      "image_folder", options, [](const ImageFolderOptions& given, const Opening& opening) {
        return open_image_folder(given, opening);
      });
}

}  // namespace trainyard
