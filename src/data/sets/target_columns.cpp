#include "data/sets/target_columns.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "config/diagnostics.h"

namespace trainyard {

namespace {

constexpr CellRules kTargetRules{
    .missing = {}, .unknown = UnknownCategory::error, .of_target = true};

/// The words of a cell, without blanks around them.
std::vector<std::string> words_in(std::string_view cell, const std::string& divides) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= cell.size();) {
    const std::size_t end = std::min(cell.find(divides, begin), cell.size());
    const std::string_view word = trimmed(cell.substr(begin, end - begin));
    if (!word.empty()) words.emplace_back(word);
    begin = end + divides.size();
  }
  return words;
}

const SeparatedRow& row_at(const NamedRows& rows, std::int64_t index) {
  return rows.rows[static_cast<std::size_t>(index)];
}

/// Words of the rows `training`, in the order of their bytes.
std::vector<std::string> all_words(const NamedRows& rows, std::size_t place,
                                   std::span<const std::int64_t> training,
                                   const std::string& divides) {
  std::vector<std::string> words;
  for (const std::int64_t row : training) {
    for (std::string& word : words_in(row_at(rows, row).cells[place], divides)) {
      words.push_back(std::move(word));
    }
  }
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  if (words.empty()) {
    bad_file(rows.name,
             "has no word in column '" + rows.columns[place] + "' of the training split");
  }
  return words;
}

/// [n, words]: 1 for each of a row's words.
std::vector<float> marks_of(const NamedRows& rows, const PlacedColumn& column,
                            const std::vector<std::string>& known, const std::string& divides,
                            std::span<const std::int64_t> which) {
  std::vector<float> marks(known.size() * which.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    const SeparatedRow& row = row_at(rows, which[i]);
    for (const std::string& word : words_in(row.cells[column.place], divides)) {
      const auto found = std::ranges::lower_bound(known, word);
      if (found == known.end() || *found != word) {
        rows.bad_cell(row, column.place,
                      "'" + shortened(word) + "' is not a word of the training split; correct it" +
                          config::suggestion(word, known));
      }
      marks[i * known.size() + static_cast<std::size_t>(found - known.begin())] = 1;
    }
  }
  return marks;
}

}  // namespace

bool TargetColumn::is_float() const {
  return !column && columns == std::vector<std::string>{"float"};
}

std::vector<std::string> TargetColumn::names(const std::string& name) const {
  if (column) return {*column};
  return is_float() ? std::vector{name} : columns;
}

void declare(config::Fields& fields, TargetColumn& target) {
  fields.rest("columns", target.columns,
              "columns of numbers, one for each output; float: the column of the field's own name, "
              "standardised");
  fields.field("column", target.column, "in place of 'columns': one column");
  fields.field("split", target.split,
               "what divides the words of a cell, each of which is an output: 1 if the cell has "
               "it, else 0");
  fields.field("standardize", target.standardize,
               "each number is (x - mean) / deviation of the training split");
  if (fields.describing()) return;
  if (target.columns.empty() != target.column.has_value()) {
    fields.error("", "give 'column' or 'columns'");
  }
  const bool several = !target.column && target.columns.size() > 1;
  if (target.split && (several || target.standardize || target.split->empty())) {
    fields.error("split", "divides the words of one column, which are not standardised");
  }
}

void declare_targets(config::Fields& fields, const std::string& label, TargetColumns& targets) {
  fields.others("FIELD", targets,
                "any other key is a field of the samples, a target or a weight: float, the name "
                "of a column, a list of them, or the keys below");
  if (label.empty() && targets.empty()) {
    fields.error("", "missing key 'label' in 'columns', or a field that a loss has as its target");
  }
  for (const auto& [name, target] : targets) {
    const std::array<std::string, 3> own{kTokensField, kLengthField, kLabelField};
    if (std::ranges::find(own, name) == own.end()) continue;
    fields.error(name, "'" + name + "' is a field that samples have of their own; rename it");
  }
}

Targets::Targets(const TargetColumns& targets, const NamedRows& rows) {
  for (const auto& [name, given] : targets) {
    Target& target = targets_.emplace_back();
    const std::vector<std::string> names = given.names(name);
    target.split = given.split.value_or("");
    target.standardize = given.standardize || given.is_float();
    target.field = {.name = name, .type = DType::f32};
    if (names.size() > 1) target.field.shape = {std::ssize(names)};
    for (const std::string& column : names) {
      const std::size_t place = rows.column(
          column, "the field '" + name + "' of 'columns' names a column of the first line");
      target.columns.push_back({place, {.name = column, .categories = {}}});
    }
  }
}

bool Targets::lacks_value(const SeparatedRow& row, std::optional<std::size_t> label) const {
  if (label && trimmed(row.cells[*label]).empty()) return true;
  return std::ranges::any_of(targets_, [&](const Target& target) {
    return target.split.empty() &&
           std::ranges::any_of(target.columns, [&](const PlacedColumn& column) {
             return trainyard::lacks_value(row, column);
           });
  });
}

void Targets::fit(const NamedRows& rows, std::span<const std::int64_t> training,
                  const Opening& opening) {
  for (Target& target : targets_) {
    if (target.split.empty() && !target.standardize) continue;
    if (opening.form.fields.empty()) {
      fit(target, rows, training, opening);
    } else {
      follow(target, opening.form.fields, rows.name);
    }
  }
}

void Targets::fit(Target& target, const NamedRows& rows, std::span<const std::int64_t> training,
                  const Opening& opening) {
  if (!target.split.empty()) {
    target.field.words = all_words(rows, target.columns[0].place, training, target.split);
    target.field.shape = {std::ssize(target.field.words)};
    return;
  }
  for (PlacedColumn& column : target.columns) {
    trainyard::fit(column, rows, training, kTargetRules, opening.warn);
    target.field.mean.push_back(column.is.mean);
    target.field.deviation.push_back(column.is.deviation);
  }
}

void Targets::follow(Target& target, const std::vector<SampleField>& fields,
                     const std::string& name) {
  const auto of = std::ranges::find(fields, target.field.name, &SampleField::name);
  const bool words = !target.split.empty();
  if (of == fields.end() || of->words.empty() == words ||
      (!words && of->mean.size() != target.columns.size())) {
    bad_file(name, "is read with another field '" + target.field.name +
                       "' than the training split; give both the same 'columns'");
  }
  target.field = *of;
  for (std::size_t i = 0; i < target.columns.size() && !words; ++i) {
    target.columns[i].is.mean = of->mean[i];
    target.columns[i].is.deviation = of->deviation[i];
  }
}

std::vector<MemoryField> Targets::fields(const NamedRows& rows,
                                         std::span<const std::int64_t> which) const {
  std::vector<MemoryField> made;
  for (const Target& of : targets_) {
    const std::vector<float> numbers =
        of.split.empty() ? features_of(rows, of.columns, which, kTargetRules)
                         : marks_of(rows, of.columns[0], of.field.words, of.split, which);
    const auto bytes = std::as_bytes(std::span(numbers));
    made.push_back({of.field, {bytes.begin(), bytes.end()}});
  }
  return made;
}

}  // namespace trainyard
