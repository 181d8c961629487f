// Folders of images: root/CLASS/*.jpg and so on, also in folders below; classes and files in the
// order of files_below().
#pragma once

#include "data/sets/image_set.h"

namespace trainyard {

struct ImageFolderOptions : ImageOptions {
  config::FilePath root;
  std::int64_t classes = 0;  // 0: as many as there are folders
};
void declare(config::Fields& fields, ImageFolderOptions& options);

/// The images of the class folders in `folder`, labelled in the order of the folders. Throws
/// Error{data} as open_image_folder().
[[nodiscard]] ImageFiles class_folders(const std::filesystem::path& folder, Links links,
                                       const Opening& opening = {});

/// The images of the class folders, see open_images(). Throws Error{data}: no folder, no class
/// folders, a class without images, files and links that are refused, other formats.
[[nodiscard]] std::unique_ptr<Dataset> open_image_folder(const ImageFolderOptions& options,
                                                         const Opening& opening = {});

[[nodiscard]] std::unique_ptr<DatasetSource> read_image_folder(config::Fields& fields);

}  // namespace trainyard
