// What a starter config must know of the data it is for.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/filesystem.h"
#include "data/sets/dataset.h"
#include "data/sets/image_list.h"
#include "data/sets/table.h"
#include "data/sets/target_columns.h"
#include "data/text/texts.h"

namespace trainyard {

// What the cells of a column are, and what a network can learn from them.

/// What the cells of a column are.
struct ColumnFacts {
  std::int64_t values = 0;   // cells that have one
  std::int64_t missing = 0;  // cells without
  std::int64_t numbers = 0;
  std::int64_t words = 0;           // words of all cells
  std::set<std::string> different;  // values
  bool whole = true;                // all numbers are
  bool counts = true;               // the rows: 0, 1, 2, ... or 1, 2, 3, ...

  [[nodiscard]] bool numeric() const { return numbers == values && values > 0; }
  /// Texts of several words that mostly differ.
  [[nodiscard]] bool phrases() const;
  /// At most 100 different values, each about twice.
  [[nodiscard]] bool few() const;
};
/// Rows that are too short do not count.
[[nodiscard]] ColumnFacts facts_of(std::span<const SeparatedRow> rows, std::size_t column);
[[nodiscard]] std::int64_t words_of(std::string_view text);

/// The index of the first column, but `except`, whose name says that it has classes: label, class,
/// species, ..., in any case; empty: none has.
[[nodiscard]] std::optional<std::size_t> named_label(std::span<const std::string> columns,
                                                     std::optional<std::size_t> except = {});
/// Numbers from 0 without a gap are classes as they are; everything else is a name. Rows that are
/// too short do not count.
[[nodiscard]] ListLabels labels_in(std::span<const SeparatedRow> rows, std::size_t column);

/// What a network learns from a column.
struct Answer {
  enum class Kind {
    classes,
    number,  // real numbers, or more than 20 different whole ones that do not count from 0
    words,   // several of at most 100 in a cell, divided by ';' or '|'
  };
  Kind kind = Kind::classes;
  /// The field of `columns`, under the column's name if a key can have it.
  std::pair<std::string, TargetColumn> target = {};
};
[[nodiscard]] Answer answer_in(std::span<const SeparatedRow> rows, std::size_t column,
                               const std::string& name);
/// The outputs of a network that learns it: classes, or the numbers of the field.
[[nodiscard]] std::int64_t outputs_of(const Dataset& set, const Answer& answer);

/// What a starter is to know of images: their sizes, colours and classes.
struct ImageFacts {
  std::int64_t samples = 0;
  std::int64_t outputs = 0;  // outputs of the network: classes, numbers or words
  std::int64_t side = 0;     // pixels of the shorter side of the median image
  bool grey = false;         // every image that was looked at, at most 500 of them
  bool skewed = false;       // the largest class has more than twice the images of the smallest
  Answer answer = {};
};

/// What `answer` is to learn, of images with three channels that differ in size. Damaged ones
/// count for their size alone.
[[nodiscard]] ImageFacts facts_of_images(const Dataset& set, const Answer& answer = {});

// Recognises lists of images: which column has the paths, and which the classes.

struct FoundList {
  ImageListOptions options;
  Answer answer;  // answer of a list whose first line names its columns; of others classes
};
/// How `image_list` reads a file whose lines, but perhaps the first, each name an image; none for
/// another file. Its `root` is "", the list's folder, unless the images are below the current
/// folder or a folder beside the list. Throws Error{data} for a list without a column of classes,
/// or with several columns that might be it.
[[nodiscard]] std::optional<FoundList> image_list_in(const fs::path& file);

// A file of rows: which column is learned, and what the others are.

/// A file of rows, as its source reads it.
struct RowFacts {
  std::variant<TableOptions, TextsOptions> source;
  std::int64_t samples = 0;   // samples of the training part
  std::int64_t outputs = 0;   // outputs of the network: classes, numbers or words
  std::int64_t features = 0;  // features of a table
  Answer answer = {};
};

/// Looks at a CSV or TSV file whose first line names its columns. What is learned is in
/// named_label(), unless that is `name`, else in the last column; see answer_in(). A column of
/// phrases that mostly differ makes it `texts`. In a table, columns of numbers are numeric and
/// those of a few words categorical; numbers of rows and words that differ from row to row are
/// ignored, and numbers may be missing if some are. Throws Error{data} as read_rows(), for a first
/// line of values, for classes that are too many, for a column with one value alone, and if no
/// column tells anything; and as the source.
[[nodiscard]] RowFacts look_at_rows(const fs::path& file);

enum class StarterKind { images, table, texts, text, cifar10, mnist, fashion_mnist, imdb };

struct StarterData {
  StarterKind kind = StarterKind::images;
  std::string name;                      // name of the run and of the files: "flowers"
  fs::path path;                         // images: of the training split; text: the file
  fs::path val_path;                     // images: of the validation split; empty: a part of `path`
  ImageFacts images;                     // facts of the training split
  std::optional<ImageListOptions> list;  // options of a list, which is at `path`
  std::optional<RowFacts> rows;          // rows of a table, and of texts
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
