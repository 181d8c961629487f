// Folders of images: root/CLASS/*.jpg, *.png and *.bmp, classes and files in the order of their
// names.
#pragma once

#include "data/picture_set.h"

namespace trainyard {

struct ImageFolderOptions : PictureOptions {
  config::FilePath root;
  std::int64_t classes = 0;  // 0: as many as there are folders
};
void declare(config::Fields& fields, ImageFolderOptions& options);

/// The pictures of the class folders in `folder`, labelled in the order of the folders. Throws
/// Error{data} as open_image_folder().
[[nodiscard]] PictureFiles class_folders(const std::filesystem::path& folder,
                                         const Opening& opening = {});

/// The pictures of the class folders, see open_pictures(). Throws Error{data}: no folder, no class
/// folders, a class without images, a symbolic link or other non-regular file, other formats.
[[nodiscard]] std::unique_ptr<Dataset> open_image_folder(const ImageFolderOptions& options,
                                                         const Opening& opening = {});

[[nodiscard]] std::unique_ptr<DatasetSource> read_image_folder(config::Fields& fields);

}  // namespace trainyard
