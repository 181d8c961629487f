// Image files with labels: folders, root/CLASS/*.jpg and so on, also in folders below, with classes
// and files in the order of files_below(); and lists, text files with a path and a label a line.
#pragma once

#include "data/sets/image_set.h"
#include "data/sets/labelled_rows.h"
#include "data/sets/target_columns.h"

namespace trainyard {

struct ImageFolderOptions : ImageOptions {
  static constexpr std::string_view kName = "image_folder";
  config::FilePath root;
  std::int64_t classes = 0;  // 0: as many as there are folders
};
void declare(config::Fields& fields, ImageFolderOptions& options);

/// The images of the class folders in `folder`, labelled in the order of the folders. Throws
/// Error{data} as open_image_folder().
[[nodiscard]] ImageFiles class_folders(const fs::path& folder, Links links,
                                       const Opening& opening = {});

/// The images of the class folders, see open_images(). Throws Error{data}: no folder, no class
/// folders, a class without images, files and links that are refused, other formats.
[[nodiscard]] DatasetPtr open_image_folder(const ImageFolderOptions& options,
                                           const Opening& opening = {});

/// The columns of a list by their names.
struct ListColumns {
  std::vector<std::string> order{"path", "label"};  // all columns of a list without a header
  std::string image, label;  // columns of a list with a header that are used; "": not given
  TargetColumns targets;     // likewise
};
void declare(config::Fields& fields, ListColumns& columns);

struct ImageListOptions : ImageOptions, RowsOptions, LabelOptions {
  static constexpr std::string_view kName = "image_list";
  ImageListOptions() { links = Links::refuse; }
  config::FilePath root;  // "": the list's folder
  bool header = false;    // the first line names the columns
  ListColumns columns;
  std::string path = "path", label = "label";  // the names of the two columns that are used
  MissingRow missing = MissingRow::error;
};
void declare(config::Fields& fields, ImageListOptions& options);

/// The images of a list in its order, see open_images(). Classes given by name are numbered in
/// the order of `class_names`, without it in alphabetical order (by bytes). Throws Error{data} with
/// the line: another number of cells, a label that is none, a path that is absolute or contains
/// "..", and a link on the way to a file unless links are followed.
[[nodiscard]] DatasetPtr open_image_list(const ImageListOptions& options,
                                         const Opening& opening = {},
                                         const std::optional<RowsPart>& part = {});

}  // namespace trainyard
