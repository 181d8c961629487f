// Folders of images: root/CLASS/*.jpg, *.png and *.bmp, classes and files in the order of their
// names.
#pragma once

#include "data/image_decode.h"
#include "data/source.h"

namespace trainyard {

struct ImageFolderOptions : SourceOptions {
  std::string root;
  std::int64_t classes = 0;                     // 0: as many as there are folders
  std::int64_t channels = 3;                    // 1 (grey) or 3
  std::int64_t max_pixels = kDefaultMaxPixels;  // that an image may claim
  std::int64_t memory_mib = 1024;  // sets up to this size are decoded once and held as bytes
};
void declare(config::Fields& fields, ImageFolderOptions& options);

/// Images [channels, h, w], all of one size. `limit` takes every k-th file, so that every class
/// remains. All headers are checked on opening; the pixels are decoded on opening for sets up to
/// `memory_mib`, else each time a sample is read. Throws Error{data}: no folder, no class folders,
/// a class without images, a symbolic link or other non-regular file, other formats, sizes that
/// differ, a claim beyond max_pixels, damaged files.
[[nodiscard]] std::unique_ptr<Dataset> open_image_folder(const ImageFolderOptions& options);

[[nodiscard]] std::unique_ptr<DatasetSource> read_image_folder(config::Fields& fields);

}  // namespace trainyard
