// Lists of images: a text file with a path and a label a line.
#pragma once

#include "data/sets/image_set.h"
#include "data/sets/labelled_rows.h"
#include "data/sets/target_columns.h"

namespace trainyard {

/// The columns of a list by their names.
struct ListColumns {
  std::vector<std::string> order{"path", "label"};  // all columns of a list without a header
  std::string image, label;  // columns of a list with a header that are used; "": not given
  TargetColumns targets;     // likewise
};
void declare(config::Fields& fields, ListColumns& columns);

struct ImageListOptions : ImageOptions, RowsOptions, LabelOptions {
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
[[nodiscard]] std::unique_ptr<Dataset> open_image_list(const ImageListOptions& options,
                                                       const Opening& opening = {},
                                                       const std::optional<RowsPart>& part = {});

[[nodiscard]] std::unique_ptr<DatasetSource> read_image_list(config::Fields& fields);

}  // namespace trainyard
