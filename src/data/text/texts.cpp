#include "data/text/texts.h"

#include <algorithm>
#include <functional>
#include <span>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "base/text.h"
#include "data/sets/separated_rows.h"
#include "data/sets/token_set.h"
#include "data/text/keras_words.h"

namespace trainyard {
namespace {

constexpr std::size_t kMostReviewBytes = 1 << 20;
constexpr std::uint64_t kMostTableBytes = std::uint64_t{1} << 30;

/// Refuses a line that is too long before it is split.
void require_short_lines(std::string_view table, const std::string& name) {
  std::int64_t line = 1;
  for (std::size_t begin = 0; begin < table.size(); ++line) {
    const std::size_t end = std::min(table.find('\n', begin), table.size());
    if (end - begin > kMostReviewBytes) {
      bad_line(name, line,
               "is " + std::to_string(end - begin) + " bytes long, expected at most " +
                   std::to_string(kMostReviewBytes));
    }
    begin = end + 1;
  }
}

std::string unescaped(std::string_view cell, const std::string& name, std::int64_t line) {
  constexpr std::string_view kEscapes = "\\tnr", kMeanings = "\\\t\n\r";
  std::string text;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] != '\\') {
      text += cell[i];
      continue;
    }
    const std::size_t escape =
        i + 1 < cell.size() ? kEscapes.find(cell[i + 1]) : std::string_view::npos;
    if (escape == std::string_view::npos) {
      bad_line(name, line,
               "has a backslash that begins none of \\\\, \\t, \\n, \\r; write a "
               "backslash as \\\\");
    }
    text += kMeanings[escape];
    ++i;
  }
  return text;
}

/// The files of a folder, by their names' bytes.
std::vector<fs::path> files_of(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".txt") files.push_back(entry->path());
  }
  if (failed) bad_file(folder, "cannot be read: " + failed.message());
  if (files.empty()) bad_file(folder, "has no .txt files; expected one for each text");
  std::ranges::sort(files, {}, [](const fs::path& file) { return file.filename().string(); });
  return files;
}

using UnitCounts = std::unordered_map<std::string, std::int64_t>;

constexpr std::int32_t kUnknownToken = 1;

/// Calls `each` with the units of a text.
void each_unit(std::string_view text, TextUnit unit,
               const std::function<void(std::string_view)>& each) {
  if (unit == TextUnit::words) return for_each_keras_word(text, each);
  for_each_unit(text, unit, "", each);
}

/// The text of a row of a set.
const std::string& text_at(const LabelledRows& rows, std::size_t column, std::int64_t index) {
  return rows.rows.rows[static_cast<std::size_t>(index)].cells[column];
}

/// The vocabulary of the training rows.
std::shared_ptr<const Vocabulary> counted_vocabulary(const LabelledRows& rows, std::size_t column,
                                                     const TextsOptions& options) {
  UnitCounts counts;
  for (const std::int64_t index : rows.training) {
    each_unit(text_at(rows, column, index), options.unit,
              [&](std::string_view unit) { ++counts[std::string(unit)]; });
  }
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> words{"<pad>", "<unknown>"};
  for (auto& [word, count] : sorted) {
    if (std::ssize(words) == options.vocabulary) break;
    words.push_back(std::move(word));
  }
  if (options.vocabulary > 0) words.resize(static_cast<std::size_t>(options.vocabulary));
  return std::make_shared<const Vocabulary>(options.unit, std::move(words), kUnknownToken);
}

/// Vocabulary of the training split, which has units of the same kind.
std::shared_ptr<const Vocabulary> checked_vocabulary(
    const std::shared_ptr<const Vocabulary>& vocabulary, const TextsOptions& options,
    const std::string& name) {
  if (vocabulary->unit() == options.unit) return vocabulary;
  bad_file(name, "is read with another 'unit' than the training split; give both the same");
}

/// Throws Error{data} for a row without a text.
void require_texts(const NamedRows& rows, std::size_t column) {
  for (const SeparatedRow& row : rows.rows) {
    if (!trimmed(row.cells[column]).empty()) continue;
    rows.bad_cell(row, column, "has no text; correct it, or set 'missing: drop'");
  }
}

void put_tokens(const LabelledRows& rows, std::size_t column, const TextsOptions& options,
                TokenSamples& samples) {
  const auto steps = static_cast<std::size_t>(samples.steps);
  samples.tokens.resize(rows.own.size() * steps);
  Hash128 hash;
  for (std::size_t i = 0; i < rows.own.size(); ++i) {
    const std::string& text = text_at(rows, column, rows.own[i]);
    const std::int64_t kept = fit_at_front(tokens_of_row(text, *samples.vocabulary),
                                           std::span(samples.tokens).subspan(i * steps, steps));
    samples.lengths.push_back(static_cast<std::int32_t>(kept));
    hash.update(std::to_string(text.size()) + " " + text);
  }
  hash.update(std::as_bytes(std::span(samples.labels)));
  hash.update(number_text(options.length) + " " + number_text(options.vocabulary) + " " +
              std::string(config::word_of(options.unit)));
  add_to_hash(hash, samples.fields);
  samples.fingerprint = hash.hex();
}

}  // namespace

LabelledTexts parse_text_table(std::string_view table, const std::string& name) {
  require_short_lines(table, name);
  require_utf8(table, name, "; convert the table to UTF-8");
  const NamedRows rows = named_rows(table, {.separator = Separator::tab}, name);
  constexpr const char* kExpected = "the first line is to name the columns label and text";
  const std::size_t label = rows.column("label", kExpected), text = rows.column("text", kExpected);
  LabelledTexts read;
  for (const SeparatedRow& row : rows.rows) {
    const std::string& of_row = row.cells[label];
    if (of_row != "0" && of_row != "1") {
      bad_line(name, row.line, "label '" + shortened(of_row) + "', expected 0 or 1");
    }
    read.labels.push_back(of_row == "1" ? 1 : 0);
    read.texts.push_back(unescaped(row.cells[text], name, row.line));
  }
  return read;
}

LabelledTexts read_text_table(const fs::path& file) {
  return parse_text_table(read_text(file, ErrorKind::data, kMostTableBytes), file.string());
}

LabelledTexts read_text_folders(const fs::path& folder) {
  LabelledTexts read;
  for (const auto& [name, label] : {std::pair{"pos", 1}, std::pair{"neg", 0}}) {
    for (const fs::path& file : files_of(folder / name)) {
      read.texts.push_back(read_text(file, ErrorKind::data, kMostReviewBytes));
      require_utf8(read.texts.back(), file.string(), "; convert the file to UTF-8");
      read.labels.push_back(label);
    }
  }
  return read;
}

void declare(config::Fields& fields, TextColumns& columns) {
  fields.required("text", columns.text, "the column of the texts");
  fields.field("label", columns.label, "the column of the labels; without it rows have none");
  declare_targets(fields, columns.label, columns.targets);
}

void declare(config::Fields& fields, TextsOptions& options) {
  declare_rows(fields, options,
               "a CSV or TSV file with a text and its label in each row, whose "
               "first line names the columns");
  fields.required("columns", options.columns, "what the columns are, by their names");
  fields.field("unit", options.unit,
               "what a token is: words, in small letters and without punctuation, or characters");
  fields.field("vocabulary", options.vocabulary,
               "number of tokens: '<pad>', '<unknown>' and the most frequent ones of the training "
               "split; 0: all of them",
               {.minimum = 0, .maximum = 1 << 24});
  fields.field("length", options.length, "tokens of a text, cut and padded at the front",
               {.minimum = 1, .maximum = 65536});
  fields.field("missing", options.missing,
               "rows without a text or a label: error, or drop, which leaves them out");
  declare_labels(fields, options);
  declare_common(fields, options);
  if (fields.describing()) return;
  if (options.vocabulary == 1 || options.vocabulary == 2) {
    fields.error("vocabulary",
                 "expected 0 or at least 3: '<pad>' and '<unknown>' are two of the tokens");
  }
  if (options.unit == TextUnit::bytes) fields.error("unit", "expected words or characters");
  if (options.separator == Separator::space) {
    fields.error("separator", "'space' divides no texts; use 'comma', 'semicolon' or 'tab'");
  }
}

std::vector<std::int32_t> tokens_of_row(std::string_view text, const Vocabulary& vocabulary) {
  std::vector<std::int32_t> tokens;
  each_unit(text, vocabulary.unit(), [&](std::string_view unit) {
    tokens.push_back(vocabulary.find(unit).value_or(kUnknownToken));
  });
  return tokens;
}

DatasetPtr open_texts(const TextsOptions& options, const Opening& opening,
                      const std::optional<RowsPart>& part) {
  NamedRows file = read_rows(located(options.file), options);
  const std::string advice = " names a column of the first line";
  const std::size_t column = file.column(options.columns.text, "'columns.text'" + advice);
  Targets targets(options.columns.targets, file);
  RowsRequest request{.limit = options.limit, .drop = nullptr, .part = part};
  if (!options.columns.label.empty()) {
    request.label = file.column(options.columns.label, "'columns.label'" + advice);
  }
  if (options.missing == MissingRow::drop) {
    request.drop = [&](const SeparatedRow& row) {
      return targets.lacks_value(row, request.label) || trimmed(row.cells[column]).empty();
    };
  }
  const LabelledRows rows = labelled_rows(std::move(file), options, request, opening);
  require_texts(rows.rows, column);
  targets.fit(rows.rows, rows.training, opening);
  const auto& given = opening.form.vocabulary;
  TokenSamples samples{.steps = options.length,
                       .labels = rows.own_labels(),
                       .padding = PaddingSide::front,
                       .classes = rows.labels.classes,
                       .class_names = rows.labels.names,
                       .vocabulary = given ? checked_vocabulary(given, options, rows.rows.name)
                                           : counted_vocabulary(rows, column, options),
                       .origins = rows.own_origins(),
                       .fields = targets.fields(rows.rows, rows.own)};
  put_tokens(rows, column, options, samples);
  return token_set_of(std::move(samples));
}

}  // namespace trainyard
