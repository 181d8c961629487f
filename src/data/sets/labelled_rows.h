// Rows with a class each, given by its number or its name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/sets/dataset.h"
#include "data/sets/separated_rows.h"
#include "data/sets/source.h"

namespace trainyard {

/// What the labels of a list are.
enum class ListLabels { number, name };
[[nodiscard]] constexpr config::Words<ListLabels> words(ListLabels) { return {"number", "name"}; }

struct LabelOptions {
  ListLabels labels = ListLabels::number;
  config::FilePath class_names;  // a file of names; "": none
  std::int64_t classes = 0;      // 0: the number of names, or the largest number plus one
};
/// Declares `labels`, `class_names` and `classes`.
void declare_labels(config::Fields& fields, LabelOptions& options);

/// What is done with rows that lack a value.
enum class MissingRow { error, drop };
[[nodiscard]] constexpr config::Words<MissingRow> words(MissingRow) { return {"error", "drop"}; }

/// The classes of the rows of a file. Classes given by name are numbered in the order of
/// `class_names`, without it in alphabetical order (by bytes).
struct RowLabels {
  std::vector<std::int32_t> of_rows;
  std::vector<std::string> names;  // empty: labels are numbers
  std::int64_t classes = 0;
};
/// Labels in the column `column`. Throws Error{data} with the line: no label, one that is not a
/// class; `advice` follows labels that are no numbers.
[[nodiscard]] RowLabels labels_of_rows(const NamedRows& rows, std::size_t column,
                                       const LabelOptions& options, const std::string& advice = "");

/// A part of rows that val_fraction divides.
struct RowsPart {
  double fraction = 0;  // share of the validation part
  Part part = Part::train;
};

/// Rows with their classes, some of which are a set's samples.
struct LabelledRows {
  NamedRows rows;
  std::vector<std::int64_t> origins;  // index of each row among those of the file
  RowLabels labels;
  std::vector<std::int64_t> own;       // the rows of the set
  std::vector<std::int64_t> training;  // rows of the training split, if this file has it

  [[nodiscard]] std::vector<std::int32_t> own_labels() const;
  [[nodiscard]] std::vector<std::int64_t> own_origins() const;
};

struct RowsRequest {
  std::optional<std::size_t> label = {};          // the column; empty: rows have none, -1
  std::int64_t limit = 0;                         // rows from the start; 0: all
  std::function<bool(const SeparatedRow&)> drop;  // rows to leave out; null: none
  std::optional<RowsPart> part;                   // empty: all rows
  std::string advice = "";                        // advice of labels_of_rows()
};
/// Throws Error{data} as labels_of_rows() and drop_rows(), Error{config} as part_of().
[[nodiscard]] LabelledRows labelled_rows(NamedRows rows, const LabelOptions& options,
                                         const RowsRequest& request, const Opening& opening);

/// A source of rows that divides them itself, since the training part's form is that of both.
template <auto opener>
class RowsSource final : public DatasetSource {
 public:
  using Options = OptionsOf<opener>;
  RowsSource(std::string_view name, Options options) : name_(name), options_(std::move(options)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] DatasetPtr open(const Opening& opening) const override {
    return opener(options_, opening, {});
  }
  [[nodiscard]] DatasetPtr open_part(const Opening& opening, double fraction,
                                     Part part) const override {
    return opener(options_, opening, RowsPart{fraction, part});
  }

 private:
  std::string_view name_;
  Options options_;
};

}  // namespace trainyard
