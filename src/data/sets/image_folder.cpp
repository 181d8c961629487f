#include "data/sets/image_folder.h"

#include <system_error>

#include "base/error.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

void append_class(const fs::path& root, const std::string& name, std::int32_t label, Links links,
                  const Opening& opening, std::vector<ImageFile>& files) {
  const fs::path folder = root / name;
  const std::vector<FoundFile> found = files_below(folder, links, is_image_name);
  for (const FoundFile& file : found) {
    files.push_back({(fs::path(name) / file.name).string(), label, file.fault});
  }
  if (!found.empty()) return;
  const std::string what = "holds no image (" + std::string(kImageNames) + ")";
  if (!opening.may_lack_classes) {
    bad_file(folder, what + "; every class folder needs at least one");
  }
  opening.warn("'" + folder.string() + "' " + what + ": a class without samples");
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
  fields.required("root", options.root, "folder with one folder of images per class");
  fields.field("classes", options.classes,
               "number of classes, the last of which may lack a folder; 0: that of the folders",
               {.minimum = 0});
  declare_images(fields, options);
}

ImageFiles class_folders(const fs::path& folder, Links links, const Opening& opening) {
  ImageFiles set{.folder = folder};
  set.class_names = folders_in(folder, links);
  for (std::size_t i = 0; i < set.class_names.size(); ++i) {
    append_class(folder, set.class_names[i], static_cast<std::int32_t>(i), links, opening,
                 set.files);
  }
  set.classes = std::ssize(set.class_names);
  if (set.files.empty()) {
    bad_file(folder,
             "holds no class folders with images; expected " + folder.string() + "/CLASS/*.jpg");
  }
  return set;
}

std::unique_ptr<Dataset> open_image_folder(const ImageFolderOptions& options,
                                           const Opening& opening) {
  const fs::path folder = located(options.root);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    bad_file(folder, "is not a folder; 'root' names a folder with one folder of images per class");
  }
  ImageFiles set = class_folders(folder, options.links, opening);
  check_classes(set.folder, set.class_names, options.classes);
  if (options.classes > 0) set.classes = options.classes;
  return open_images(std::move(set), options, opening);
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
