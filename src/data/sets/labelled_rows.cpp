#include "data/sets/labelled_rows.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "data/sets/memory_dataset.h"
#include "data/sets/source.h"
#include "data/sets/subset.h"

namespace trainyard {
namespace {

std::vector<std::string> names_in(const fs::path& file, std::int64_t classes) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) bad_file(file, "does not exist; 'class_names' names it");
  return read_class_names(file, classes);
}

/// A label and where it is.
struct LabelCell {
  const std::string& file;
  std::int64_t line;
  std::string text;
};

/// Turns labels into class indices.
class Labels {
 public:
  Labels(const LabelOptions& options, std::vector<std::string> names, std::string advice)
      : by_name_(options.labels == ListLabels::name),
        advice_(std::move(advice)),
        classes_(options.classes > 0 ? options.classes : std::ssize(names)) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      index_.emplace(std::move(names[i]), static_cast<std::int32_t>(i));
    }
  }

  [[nodiscard]] std::int32_t at(const LabelCell& cell) const {
    const std::int32_t label = by_name_ ? by_name(cell) : number(cell);
    if (classes_ == 0 || label < classes_) return label;
    bad_line(cell.file, cell.line,
             "label " + cell.text + " is class " + std::to_string(label) + " (from 0), expected " +
                 "less than " + std::to_string(classes_));
  }
  /// 0: as many as the largest label needs.
  [[nodiscard]] std::int64_t classes() const { return classes_; }

 private:
  [[nodiscard]] std::int32_t by_name(const LabelCell& cell) const {
    const auto found = index_.find(cell.text);
    if (found != index_.end()) return found->second;
    bad_line(cell.file, cell.line, "'" + cell.text + "' is not in the file of class names");
  }
  [[nodiscard]] std::int32_t number(const LabelCell& cell) const {
    std::int32_t value = 0;
    const char* const end = cell.text.data() + cell.text.size();
    const auto [rest, status] = std::from_chars(cell.text.data(), end, value);
    if (status == std::errc{} && rest == end && value >= 0 &&
        value < std::numeric_limits<std::int32_t>::max()) {
      return value;
    }
    bad_line(cell.file, cell.line,
             "label '" + cell.text +
                 "' is not a whole number from 0; for names of classes set 'labels: name'" +
                 advice_);
  }

  bool by_name_;
  std::string advice_;
  std::int64_t classes_;
  std::map<std::string, std::int32_t> index_;
};

using Rows = std::vector<std::int64_t>;

/// The rows of a part of all.
Rows rows_of(const LabelledRows& all, const Opening& opening, const std::optional<RowsPart>& part) {
  if (part) {
    const MemoryDataset whole({.image = kNoImage,
                               .labels = all.labels.of_rows,
                               .classes = all.labels.classes,
                               .origins = all.origins});
    return part_of(whole,
                   {.fraction = part->fraction, .seed = opening.seed, .by = opening.division},
                   part->part);
  }
  Rows rows(all.origins.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

template <class T>
std::vector<T> values_at(const std::vector<T>& values, const Rows& rows) {
  std::vector<T> taken;
  for (const std::int64_t row : rows) taken.push_back(values[static_cast<std::size_t>(row)]);
  return taken;
}

}  // namespace

std::vector<std::int32_t> LabelledRows::own_labels() const {
  return values_at(labels.of_rows, own);
}

std::vector<std::int64_t> LabelledRows::own_origins() const { return values_at(origins, own); }

void declare_labels(config::Fields& fields, LabelOptions& options) {
  fields.field("labels", options.labels, "number: classes from 0; name: names of classes");
  fields.field("class_names", options.class_names,
               "a file with the name of a class in each line, in the order of their numbers");
  fields.field("classes", options.classes,
               "number of classes; 0: that of the names, or the largest number plus one",
               {.minimum = 0});
}

RowLabels labels_of_rows(const NamedRows& rows, std::size_t column, const LabelOptions& options,
                         const std::string& advice) {
  std::vector<std::string> texts;
  for (const SeparatedRow& row : rows.rows) {
    texts.emplace_back(trimmed(row.cells[column]));
    if (texts.back().empty()) bad_line(rows.name, row.line, "has no label: its cell is empty");
  }
  RowLabels labels;
  if (!options.class_names.empty()) {
    labels.names = names_in(located(options.class_names), options.classes);
  } else if (options.labels == ListLabels::name) {
    labels.names = texts;
    std::ranges::sort(labels.names);
    labels.names.erase(std::ranges::unique(labels.names).begin(), labels.names.end());
  }
  const Labels index(options, labels.names, advice);
  labels.classes = index.classes();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    labels.of_rows.push_back(index.at({rows.name, rows.rows[i].line, std::move(texts[i])}));
    if (index.classes() > 0) continue;
    labels.classes = std::max<std::int64_t>(labels.classes, labels.of_rows.back() + 1);
  }
  return labels;
}

LabelledRows labelled_rows(NamedRows rows, const LabelOptions& options, const RowsRequest& request,
                           const Opening& opening) {
  LabelledRows all{.rows = std::move(rows)};
  if (request.limit > 0 && request.limit < std::ssize(all.rows.rows)) {
    all.rows.rows.resize(static_cast<std::size_t>(request.limit));
  }
  if (request.drop) {
    all.origins = drop_rows(all.rows, request.drop, opening.warn);
  } else {
    all.origins.resize(all.rows.rows.size());
    std::iota(all.origins.begin(), all.origins.end(), 0);
  }
  if (request.label) {
    all.labels = labels_of_rows(all.rows, *request.label, options, request.advice);
  } else {
    all.labels = {.of_rows = std::vector<std::int32_t>(all.rows.rows.size(), -1), .classes = 0};
  }
  all.own = rows_of(all, opening, request.part);
  std::optional<RowsPart> training = request.part;
  if (training) training->part = Part::train;
  all.training = rows_of(all, opening, training);
  return all;
}

}  // namespace trainyard
