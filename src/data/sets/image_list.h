// Lists of images: a text file with a path and a label a line.
#pragma once

#include "data/sets/image_set.h"
#include "data/sets/separated_rows.h"

namespace trainyard {

/// What the labels of a list are.
enum class ListLabels { number, name };
[[nodiscard]] constexpr config::Words<ListLabels> words(ListLabels) { return {"number", "name"}; }

struct ImageListOptions : ImageOptions {
  ImageListOptions() { links = Links::refuse; }
  config::FilePath file;
  config::FilePath root;  // "": the list's folder
  Separator separator = Separator::comma;
  bool header = false;                                // the first line names the columns
  std::vector<std::string> columns{"path", "label"};  // without a header
  std::string path = "path", label = "label";         // the names of the two columns that are used
  ListLabels labels = ListLabels::number;
  config::FilePath class_names;  // a file of names; "": none
  std::int64_t classes = 0;      // 0: the number of names, or the largest number plus one
};
void declare(config::Fields& fields, ImageListOptions& options);

/// The images of a list in its order, see open_images(). Classes given by name are numbered in
/// the order of `class_names`, without it in alphabetical order (by bytes). Throws Error{data} with
/// the line: another number of cells, a label that is none, a path that is absolute or contains
/// "..", and a link on the way to a file unless links are followed.
[[nodiscard]] std::unique_ptr<Dataset> open_image_list(const ImageListOptions& options,
                                                       const Opening& opening = {});

[[nodiscard]] std::unique_ptr<DatasetSource> read_image_list(config::Fields& fields);

}  // namespace trainyard
