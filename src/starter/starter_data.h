// What a starter config must know of the data it is for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "data/sets/dataset.h"
#include "data/sets/image_list.h"
#include "data/sets/table.h"
#include "data/text/texts.h"
#include "starter/column_facts.h"

namespace trainyard {

/// What a starter is to know of images: their sizes, colours and classes.
struct ImageFacts {
  std::int64_t samples = 0;
  std::int64_t outputs = 0;  // of the network: classes, numbers or words
  std::int64_t side = 0;     // pixels of the shorter side of the median image
  bool grey = false;         // every image that was looked at, at most 500 of them
  bool skewed = false;       // the largest class has more than twice the images of the smallest
  Answer answer = {};
};

/// What `answer` is to learn, of images with three channels and sizes of their own. Damaged ones
/// count for their size alone.
[[nodiscard]] ImageFacts facts_of_images(const Dataset& set, const Answer& answer = {});

// Recognises lists of images: which column has the paths, and which the classes.

struct FoundList {
  ImageListOptions options;
  Answer answer;  // of a list whose first line names its columns; of others classes
};
/// How `image_list` reads a file whose lines, but perhaps the first, each name an image; none for
/// another file. Its `root` is "", the list's folder, unless the images are below the current
/// folder or a folder beside the list. Throws Error{data} for a list without a column of classes,
/// or with several columns that might be it.
[[nodiscard]] std::optional<FoundList> image_list_in(const std::filesystem::path& file);

// A file of rows: which column is learned, and what the others are.

/// A file of rows, as its source reads it.
struct RowFacts {
  std::variant<TableOptions, TextsOptions> source;
  std::int64_t samples = 0;   // of the training part
  std::int64_t outputs = 0;   // of the network: classes, numbers or words
  std::int64_t features = 0;  // of a table
  Answer answer = {};
};

/// Looks at a CSV or TSV file whose first line names its columns. What is learned is in
/// named_label(), unless that is `name`, else in the last column; see answer_in(). A column of
/// phrases that mostly differ makes it `texts`. Of a table, columns of numbers are numeric and
/// those of a few words categorical; numbers of rows and words that differ from row to row are
/// ignored, and numbers may be missing if some are. Throws Error{data} as read_rows(), for a first
/// line of values, for classes that are too many, for a column with one value alone, and if no
/// column tells anything; and as the source.
[[nodiscard]] RowFacts look_at_rows(const std::filesystem::path& file);

enum class StarterKind { images, table, texts, text, cifar10, mnist, fashion_mnist, imdb };

struct StarterData {
  StarterKind kind = StarterKind::images;
  std::string name;                      // of the run and of the files: "flowers"
  std::filesystem::path path;            // images: of the training split; text: the file
  std::filesystem::path val_path;        // images: of the validation split; empty: a part of `path`
  ImageFacts images;                     // of the training split
  std::optional<ImageListOptions> list;  // of a list, which is at `path`
  std::optional<RowFacts> rows;          // of a table, and of texts
  std::int64_t length = 0;               // text: characters
  std::int64_t characters = 0;           // text: different ones
};

/// Looks at `data`: the name of a known set, a folder of images (with one folder for each class,
/// or with such folders train and val), a list of images, a CSV or TSV file of numbers and
/// categories or of texts, with their classes, or a text file. Throws
/// Error{command_line} if it is none of these, and Error{data} for images that cannot be read,
/// fewer than two classes, a text that is too short, and data that another source reads.
[[nodiscard]] StarterData look_at_data(const std::string& data);

}  // namespace trainyard
