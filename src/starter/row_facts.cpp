#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "data/sets/vocabulary.h"
#include "starter/starter_data.h"

namespace trainyard {
namespace {

constexpr double kHeldOut = 0.2;  // val_fraction of a starter, and its seed
constexpr std::uint64_t kSeed = 42;
constexpr std::int64_t kMostVocabulary = 20'000;
constexpr std::int64_t kLeastLength = 8, kMostLength = 200;  // tokens of a text

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
                          "table in docs/language/data.md)");
}

/// In a table, as opposed to a list of images, a name is that of a row.
std::size_t label_of(const NamedRows& rows) {
  const std::optional<std::size_t> named = named_label(rows.columns);
  if (named && lower_case(rows.columns[*named]) != "name") return *named;
  return rows.columns.size() - 1;
}

/// Throws unless the column has classes or a target.
void require_answer(const NamedRows& rows, std::size_t label, const ColumnFacts& facts,
                    const Answer& answer) {
  const std::string column = "column '" + rows.columns[label] + "'";
  const std::string advice =
      ". 'train init' takes the column that is named label, class, species, target or y, else the "
      "last one, for what is learned";
  if (facts.different.size() < 2) {
    bad_file(rows.name, "has the same value in all rows of " + column +
                            ": there is nothing to learn from it" + advice);
  }
  if (answer.kind != Answer::Kind::classes || facts.few()) return;
  bad_file(rows.name, "has " + std::to_string(facts.different.size()) + " different values in " +
                          column + ", too many for classes of " + std::to_string(rows.rows.size()) +
                          " rows" + advice);
}

/// Fills in what a source's `columns` have of the answer.
template <class Columns>
void name_answer(Columns& columns, const std::string& column, const Answer& answer) {
  if (answer.kind == Answer::Kind::classes) {
    columns.label = column;
  } else {
    columns.targets.push_back(answer.target);
  }
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

TableOptions table_of(const NamedRows& rows, std::span<const ColumnFacts> facts, std::size_t label,
                      const Answer& answer) {
  TableOptions table;
  name_answer(table.columns, rows.columns[label], answer);
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
RowFacts opened(Options options, const Answer& answer,
                DatasetPtr (*open)(const Options&, const Opening&,
                                   const std::optional<RowsPart>&)) {
  const Opening opening{.seed = kSeed};
  const auto set = open(options, opening, RowsPart{.fraction = kHeldOut, .part = Part::train});
  RowFacts found{
      .source = {}, .samples = set->size(), .outputs = outputs_of(*set, answer), .answer = answer};
  if constexpr (std::is_same_v<Options, TableOptions>) {
    found.features = set->image_shape().elements();
  } else {
    options.vocabulary = std::min<std::int64_t>(set->vocabulary()->size(), kMostVocabulary);
  }
  found.source = std::move(options);
  return found;
}

}  // namespace

RowFacts look_at_rows(const fs::path& file) {
  RowsOptions options;
  options.file = file;
  options.separator = separator_of(file, read_text(file, ErrorKind::data, std::uint64_t{1} << 30));
  const NamedRows rows = read_rows(file, options);
  require_names(rows);
  std::vector<ColumnFacts> facts;
  for (std::size_t i = 0; i < rows.columns.size(); ++i) facts.push_back(facts_of(rows.rows, i));
  const std::size_t label = label_of(rows);
  const Answer answer = answer_in(rows.rows, label, rows.columns[label]);
  require_answer(rows, label, facts[label], answer);
  const std::optional<std::size_t> text = text_column(facts, label);
  if (!text) {
    TableOptions table = table_of(rows, facts, label, answer);
    static_cast<RowsOptions&>(table) = options;
    table.labels = labels_in(rows.rows, label);
    return opened<TableOptions>(std::move(table), answer, open_table);
  }
  TextsOptions texts;
  static_cast<RowsOptions&>(texts) = options;
  texts.columns.text = rows.columns[*text];
  name_answer(texts.columns, rows.columns[label], answer);
  texts.labels = labels_in(rows.rows, label);
  texts.length = usual_length(rows, *text);
  texts.vocabulary = 0;
  return opened<TextsOptions>(std::move(texts), answer, open_texts);
}

}  // namespace trainyard
