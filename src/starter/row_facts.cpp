#include "starter/row_facts.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "data/sets/vocabulary.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr double kHeldOut = 0.2;  // val_fraction of a starter, and its seed
constexpr std::uint64_t kSeed = 42;
constexpr std::int64_t kMostVocabulary = 20'000;
constexpr std::int64_t kLeastLength = 8, kMostLength = 200;  // tokens of a text
constexpr std::int64_t kMostCategories = 100;                // of a column
constexpr std::array<std::string_view, 9> kLabelNames{
    "label", "labels", "class", "class_name", "category", "species", "target", "name", "y"};

/// What the cells of a column are.
struct ColumnFacts {
  std::int64_t values = 0;   // cells that have one
  std::int64_t missing = 0;  // cells without
  std::int64_t numbers = 0;
  std::int64_t words = 0;           // of all cells
  std::set<std::string> different;  // values
  bool whole = true;                // all numbers are
  bool counts = true;               // the rows: 0, 1, 2, ... or 1, 2, 3, ...

  [[nodiscard]] bool numeric() const { return numbers == values && values > 0; }
  [[nodiscard]] bool phrases() const {
    return !numeric() && words >= 3 * values && 2 * std::ssize(different) > values;
  }
  [[nodiscard]] bool few() const {
    const std::int64_t count = std::ssize(different);
    return count > 0 && count <= kMostCategories && 2 * count <= values;
  }
};

std::int64_t words_of(std::string_view text) {
  std::int64_t words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    words += !blank && !inside ? 1 : 0;
    inside = !blank;
  }
  return words;
}

void add_cell(ColumnFacts& facts, std::string_view cell, std::int64_t row) {
  const PlacedColumn number{.place = 0, .is = {}};
  if (lacks_value({.line = 0, .cells = {std::string(cell)}}, number)) {
    ++facts.missing;
    return;
  }
  ++facts.values;
  facts.different.emplace(cell);
  facts.words += words_of(cell);
  facts.numbers += parse_real(cell) ? 1 : 0;
  const std::optional<std::int64_t> whole = parse_integer(cell);
  facts.whole = facts.whole && whole.has_value();
  facts.counts = facts.counts && whole && (*whole == row || *whole == row + 1);
}

ColumnFacts facts_of(const NamedRows& rows, std::size_t column) {
  ColumnFacts facts;
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    add_cell(facts, trimmed(rows.rows[row].cells[column]), static_cast<std::int64_t>(row));
  }
  return facts;
}

/// The separator that the first line has most of.
Separator separator_of(const fs::path& file, std::string_view text) {
  if (lower_case(file.extension().string()) == ".tsv") return Separator::tab;
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto count = [&](char c) { return std::ranges::count(line, c); };
  if (count('\t') > std::max(count(','), count(';'))) return Separator::tab;
  return count(';') > count(',') ? Separator::semicolon : Separator::comma;
}

/// Throws unless the first line names columns: numbers do not.
void require_names(const NamedRows& rows) {
  const auto number = std::ranges::find_if(
      rows.columns, [](const std::string& name) { return parse_real(name).has_value(); });
  if (number == rows.columns.end()) return;
  bad_file(rows.name, "has the number '" + *number +
                          "' in its first line; expected the names of the columns there (source "
                          "table in docs/language.md)");
}

/// In a table, as opposed to a list of images, a name is that of a row.
std::size_t label_of(const NamedRows& rows) {
  const std::optional<std::size_t> named = named_label(rows.columns);
  if (named && lower_case(rows.columns[*named]) != "name") return *named;
  return rows.columns.size() - 1;
}

/// Throws unless the column has classes.
void require_classes(const NamedRows& rows, std::size_t label, const ColumnFacts& facts) {
  const std::string column = "column '" + rows.columns[label] + "'";
  const std::string advice =
      ". 'train init' takes the column that is named label, class, species, target or y, else the "
      "last one, for the classes";
  if (facts.different.size() < 2) {
    bad_file(rows.name, "has the same value in all rows of " + column +
                            ": a classifier needs at least two classes" + advice);
  }
  if (facts.numeric() && (!facts.whole || !facts.few())) {
    bad_file(rows.name, "has numbers in " + column + " that are no classes" + advice);
  }
  if (facts.few()) return;
  bad_file(rows.name, "has " + std::to_string(facts.different.size()) + " different values in " +
                          column + ", too many for classes of " + std::to_string(rows.rows.size()) +
                          " rows" + advice);
}

/// The column of texts: of phrases, the one with most words.
std::optional<std::size_t> text_column(std::span<const ColumnFacts> facts, std::size_t label) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (i == label || !facts[i].phrases()) continue;
    if (!found || facts[i].words > facts[*found].words) found = i;
  }
  return found;
}

/// The number of words that 19 of 20 texts do not exceed.
std::int64_t usual_length(const NamedRows& rows, std::size_t column) {
  std::vector<std::int64_t> lengths;
  for (const SeparatedRow& row : rows.rows) lengths.push_back(words_of(row.cells[column]));
  const auto at = lengths.begin() + std::ssize(lengths) * 19 / 20;
  std::ranges::nth_element(lengths, at);
  return std::clamp(*at, kLeastLength, kMostLength);
}

TableOptions table_of(const NamedRows& rows, std::span<const ColumnFacts> facts,
                      std::size_t label) {
  TableOptions table;
  table.columns.label = rows.columns[label];
  bool features = false;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (i == label) continue;
    const bool numeric = facts[i].numeric() && !facts[i].counts && !rows.columns[i].empty();
    const bool categorical = !facts[i].numeric() && facts[i].few();
    features = features || numeric || categorical;
    if (categorical) table.columns.categorical.push_back(rows.columns[i]);
    if (!numeric && !categorical) table.columns.ignore.push_back(rows.columns[i]);
    if (numeric && facts[i].missing > 0) table.missing.rule = MissingRule::mean;
    if (categorical) table.unknown = UnknownCategory::ignore;
  }
  if (!features) bad_file(rows.name, "has no column of numbers, of a few words or of texts");
  return table;
}

/// What the training part of the rows is to the starter.
template <class Options>
RowFacts opened(Options options, std::unique_ptr<Dataset> (*open)(const Options&, const Opening&,
                                                                  const std::optional<RowsPart>&)) {
  const Opening opening{.seed = kSeed};
  const auto set = open(options, opening, RowsPart{.fraction = kHeldOut, .part = Part::train});
  RowFacts found{.source = {}, .samples = set->size(), .classes = set->classes()};
  if constexpr (std::is_same_v<Options, TableOptions>) {
    found.features = set->image_shape().elements();
  } else {
    options.vocabulary = std::min<std::int64_t>(set->vocabulary()->size(), kMostVocabulary);
  }
  found.source = std::move(options);
  return found;
}

}  // namespace

std::optional<std::size_t> named_label(std::span<const std::string> columns,
                                       std::optional<std::size_t> except) {
  for (const std::string_view name : kLabelNames) {
    const auto at =
        static_cast<std::size_t>(std::ranges::find(columns, name, lower_case) - columns.begin());
    if (at < columns.size() && at != except) return at;
  }
  return std::nullopt;
}

ListLabels labels_in(std::span<const SeparatedRow> rows, std::size_t column) {
  std::set<std::int64_t> numbers;
  for (const SeparatedRow& row : rows) {
    if (row.cells.size() <= column) continue;
    const std::optional<std::int64_t> number = parse_integer(row.cells[column]);
    if (!number) return ListLabels::name;
    numbers.insert(*number);
  }
  const bool whole =
      !numbers.empty() && *numbers.begin() == 0 && *numbers.rbegin() == std::ssize(numbers) - 1;
  return whole ? ListLabels::number : ListLabels::name;
}

RowFacts look_at_rows(const fs::path& file) {
  RowsOptions options;
  options.file = file;
  options.separator = separator_of(file, read_text(file, ErrorKind::data, std::uint64_t{1} << 30));
  const NamedRows rows = read_rows(file, options);
  require_names(rows);
  std::vector<ColumnFacts> facts;
  for (std::size_t i = 0; i < rows.columns.size(); ++i) facts.push_back(facts_of(rows, i));
  const std::size_t label = label_of(rows);
  require_classes(rows, label, facts[label]);
  if (const std::optional<std::size_t> text = text_column(facts, label)) {
    TextsOptions texts;
    static_cast<RowsOptions&>(texts) = options;
    texts.columns = {.text = rows.columns[*text], .label = rows.columns[label]};
    texts.labels = labels_in(rows.rows, label);
    texts.length = usual_length(rows, *text);
    texts.vocabulary = 0;
    return opened<TextsOptions>(std::move(texts), open_texts);
  }
  TableOptions table = table_of(rows, facts, label);
  static_cast<RowsOptions&>(table) = options;
  table.labels = labels_in(rows.rows, label);
  return opened<TableOptions>(std::move(table), open_table);
}

}  // namespace trainyard
