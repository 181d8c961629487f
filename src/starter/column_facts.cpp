#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "starter/starter_data.h"

namespace trainyard {
namespace {

constexpr std::int64_t kMostCategories = 100;  // categories of a column
constexpr std::int64_t kMostNumbers = 20;      // numbers that are classes without counting from 0
constexpr std::array<std::string_view, 10> kLabelNames{
    "label", "labels", "class", "class_name", "category", "species", "target", "tags", "name", "y"};
/// Keys that `columns` of a source has itself.
constexpr std::array<std::string_view, 9> kOwnKeys{
    "label", "numeric", "categorical", "ignore", "text", "image", "order", "tokens", "length"};

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

/// Whether each of some words is in several cells, of which one in ten has two words or more.
bool divides(std::span<const SeparatedRow> rows, std::size_t column, char divider) {
  std::set<std::string> different;
  std::int64_t cells = 0, several = 0, words = 0;
  for (const SeparatedRow& row : rows) {
    if (row.cells.size() <= column || trimmed(row.cells[column]).empty()) continue;
    const std::vector<std::string> parts = split(row.cells[column], divider);
    ++cells;
    several += parts.size() > 1 ? 1 : 0;
    for (const std::string& part : parts) {
      words += trimmed(part).empty() ? 0 : 1;
      different.emplace(trimmed(part));
    }
  }
  const std::int64_t count = std::ssize(different);
  return several > 0 && 10 * several >= cells && count <= kMostCategories && 2 * count <= words;
}

/// The column's name, if a key may have it.
std::string key_for(const std::string& name, const char* other) {
  const bool plain = !name.empty() && begins_name(name[0]) && std::ranges::all_of(name, [](char c) {
    return begins_name(c) || is_digit(c);
  });
  return plain && std::ranges::find(kOwnKeys, name) == kOwnKeys.end() ? name : other;
}

}  // namespace

bool ColumnFacts::phrases() const {
  return !numeric() && words >= 3 * values && 2 * std::ssize(different) > values;
}

bool ColumnFacts::few() const {
  const std::int64_t count = std::ssize(different);
  return count > 0 && count <= kMostCategories && 2 * count <= values;
}

ColumnFacts facts_of(std::span<const SeparatedRow> rows, std::size_t column) {
  ColumnFacts facts;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].cells.size() <= column) continue;
    add_cell(facts, trimmed(rows[row].cells[column]), static_cast<std::int64_t>(row));
  }
  return facts;
}

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

Answer answer_in(std::span<const SeparatedRow> rows, std::size_t column, const std::string& name) {
  const ColumnFacts facts = facts_of(rows, column);
  if (facts.numeric()) {
    const bool counted = labels_in(rows, column) == ListLabels::number;
    const bool classes = facts.whole && (counted || std::ssize(facts.different) <= kMostNumbers);
    if (classes) return {};
    const std::string key = key_for(name, "value");
    const bool own = key == name;
    return {
        .kind = Answer::Kind::number,
        .target = {
            key,
            {.columns = {own ? "float" : name}, .column = {}, .split = {}, .standardize = !own}}};
  }
  for (const char divider : {';', '|'}) {
    if (!divides(rows, column, divider)) continue;
    return {.kind = Answer::Kind::words,
            .target = {key_for(name, "tags"),
                       {.columns = {}, .column = name, .split = std::string(1, divider)}}};
  }
  return {};
}

std::int64_t outputs_of(const Dataset& set, const Answer& answer) {
  if (answer.kind == Answer::Kind::classes) return set.classes();
  const std::vector<SampleField> fields = set.fields();
  const auto field = std::ranges::find(fields, answer.target.first, &SampleField::name);
  return field == fields.end() ? 0 : field->shape.elements();
}

}  // namespace trainyard
