#include <algorithm>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "starter/starter_data.h"

namespace trainyard {
namespace {

constexpr std::int64_t kMostRead = 500;

std::int64_t median_side(const Dataset& set) {
  std::vector<std::int64_t> sides;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const Shape shape = set.sample_shape(i);
    sides.push_back(std::min(shape[1], shape[2]));
  }
  const auto middle = sides.begin() + std::ssize(sides) / 2;
  std::ranges::nth_element(sides, middle);
  return *middle;
}

/// True if the planes of red, green and blue are equal.
bool is_grey(const Dataset& set, std::int64_t index) {
  std::vector<std::uint8_t> planes(static_cast<std::size_t>(set.sample_shape(index).elements()));
  try {
    set.read_bytes(index, planes.data());
  } catch (const Error&) {
    return true;  // damaged, which 'train check' reports
  }
  const std::size_t plane = planes.size() / 3;
  const std::span red = std::span(planes).first(plane);
  return std::ranges::equal(red, std::span(planes).subspan(plane, plane)) &&
         std::ranges::equal(red, std::span(planes).last(plane));
}

bool all_grey(const Dataset& set) {
  const std::int64_t read = std::min(set.size(), kMostRead);
  for (std::int64_t i = 0; i < read; ++i) {
    if (!is_grey(set, i * set.size() / read)) return false;
  }
  return true;
}

bool is_skewed(const Dataset& set) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(set.classes()));
  for (std::int64_t i = 0; i < set.size(); ++i) {
    ++counts[static_cast<std::size_t>(set.label(i))];
  }
  const auto [least, most] = std::ranges::minmax(counts);
  return most > 2 * least;
}

}  // namespace

ImageFacts facts_of_images(const Dataset& set, const Answer& answer) {
  return {.samples = set.size(),
          .outputs = outputs_of(set, answer),
          .side = median_side(set),
          .grey = all_grey(set),
          .skewed = answer.kind == Answer::Kind::classes && is_skewed(set),
          .answer = answer};
}

namespace {

constexpr std::uint64_t kMostListBytes = std::uint64_t{1} << 30;
constexpr std::size_t kHeadBytes = 65536;  // bytes that are read to recognise a list

bool names_image(const std::string& cell) {
  try {
    return is_image_name(cell);
  } catch (const Error&) {
    return true;  // a format that is not read, as open_image_list() says
  }
}

/// The rows of a list, and the column of its paths.
struct Rows {
  Separator separator = Separator::comma;
  std::vector<SeparatedRow> rows;
  std::size_t path = 0;
};

/// True if nearly every row, the first aside if there are more, has an image in this cell. What is
/// wrong with the others open_image_list() says.
bool is_column_of_images(const std::vector<SeparatedRow>& rows, std::size_t column) {
  const std::size_t cells = rows.front().cells.size();
  const auto of = std::span(rows).subspan(rows.size() > 1 ? 1 : 0);
  const auto images = std::ranges::count_if(of, [&](const SeparatedRow& row) {
    return row.cells.size() == cells && names_image(row.cells[column]);
  });
  return 10 * images >= 9 * std::ssize(of);
}

std::optional<Rows> rows_of(std::string_view text, Separator separator) {
  Rows found{.separator = separator, .rows = {}};
  try {
    found.rows = separated_rows(text, separator, "");
  } catch (const Error&) {
    return std::nullopt;
  }
  if (found.rows.empty()) return std::nullopt;
  // With spaces a path is in front: one without a label may have spaces of its own.
  const std::size_t columns = separator == Separator::space ? 1 : found.rows.front().cells.size();
  for (found.path = 0; found.path < columns; ++found.path) {
    if (is_column_of_images(found.rows, found.path)) return found;
  }
  return std::nullopt;
}

/// The rows at the start of a text by the first separator that divides them into cells of which one
/// is an image; if none does, paths alone.
std::optional<Rows> first_rows(std::string_view text) {
  if (text.size() > kHeadBytes) text = text.substr(0, text.rfind('\n', kHeadBytes));
  std::optional<Rows> alone;
  for (const Separator separator :
       {Separator::tab, Separator::comma, Separator::semicolon, Separator::space}) {
    std::optional<Rows> rows = rows_of(text, separator);
    if (!rows) continue;
    if (rows->rows.front().cells.size() > 1) return rows;
    if (!alone) alone = std::move(rows);
  }
  return alone;
}

std::size_t label_column(const fs::path& file, const std::vector<std::string>& columns,
                         std::size_t path) {
  if (columns.size() == 2) return 1 - path;
  if (const std::optional<std::size_t> label = named_label(columns, path)) return *label;
  throw data_error(
      "'" + file.string() + "' lists images in the column '" + columns[path] + "', but " +
      (columns.size() == 1
           ? "no line has a class; expected a path and a class in each"
           : "which of " + joined(columns) + " is their class? Name it 'label' in the first line") +
      " (source image_list in docs/language/data.md)");
}

/// The folder that the list's first path is below: the list's own (""), the current one, or one
/// beside the list.
fs::path root_of(const fs::path& file, const std::string& first) {
  std::error_code ignored;
  const fs::path beside = file.parent_path().empty() ? "." : file.parent_path();
  if (fs::exists(beside / first, ignored)) return "";
  if (fs::exists(first, ignored)) return ".";
  for (fs::directory_iterator at(beside, ignored), end; at != end; at.increment(ignored)) {
    if (!at->is_directory(ignored) || !fs::exists(at->path() / first, ignored)) continue;
    return file.parent_path() / at->path().filename();
  }
  return "";
}

}  // namespace

std::optional<FoundList> image_list_in(const fs::path& file) {
  const std::string text = read_text(file, ErrorKind::data, kMostListBytes);
  std::optional<Rows> found = first_rows(text);
  if (!found) return std::nullopt;
  found->rows = separated_rows(text, found->separator, file.string());
  ImageListOptions options;
  options.file = file;
  options.separator = found->separator;
  std::vector<std::string> columns = found->rows.front().cells;
  options.header = !names_image(columns[found->path]);
  if (!options.header) {
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = "column" + std::to_string(i + 1);
    columns[found->path] = "path";
    if (columns.size() == 2) columns[1 - found->path] = "label";
    options.columns.order = columns;
  }
  const std::size_t label = label_column(file, columns, found->path);
  if (options.header) found->rows.erase(found->rows.begin());
  options.path = columns[found->path];
  options.label = columns[label];
  options.labels = labels_in(found->rows, label);
  options.root = root_of(file, found->rows.front().cells[found->path]);
  Answer answer;
  if (options.header) answer = answer_in(found->rows, label, columns[label]);
  if (answer.kind != Answer::Kind::classes) {
    options.columns.targets = {answer.target};
    options.label = "";
  }
  return FoundList{std::move(options), std::move(answer)};
}

}  // namespace trainyard
