// Small text helpers: numbers, quoting, lists of words, edit distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// The shortest text that reads back to the same value ("0.005", "1e-04", "nan", "inf", "-inf"),
/// independent of the locale. 1.0 gives "1".
[[nodiscard]] std::string number_text(double value);
[[nodiscard]] std::string number_text(float value);
[[nodiscard]] std::string number_text(std::int64_t value);
/// With `decimals` digits after the point ("0.4787"); non-finite values as above.
[[nodiscard]] std::string fixed_text(double value, int decimals);
/// With thousands separators: 1,652,826.
[[nodiscard]] std::string with_separators(std::int64_t value);
/// An amount of memory in whole units, rounded down: "600 MiB"; below 1 MiB "1024 bytes".
[[nodiscard]] std::string memory_text(std::size_t bytes);

/// The whole text as a decimal integer or number; else empty (also out of range, blanks, a plus
/// sign, "nan" and "inf").
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

/// Quoted for a POSIX shell if needed: runs/a/0001, 'it'\''s'.
[[nodiscard]] std::string shell_quoted(std::string_view word);
/// As a quoted JSON string. Bytes above 0x7f pass through (UTF-8).
[[nodiscard]] std::string json_quoted(std::string_view text);

/// As a field of a CSV table (RFC 4180): in quotes if it contains a comma, a quote or a line feed.
[[nodiscard]] std::string csv_quoted(std::string_view text);

/// Columns of a text in UTF-8 whose characters are one column wide each.
[[nodiscard]] int columns_of(std::string_view text);
/// "a, b, c".
[[nodiscard]] std::string joined(std::span<const std::string> words,
                                 std::string_view separator = ", ");
/// The pieces between separators: "a,,b" gives "a", "", "b"; "" gives one empty piece.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
/// Without leading and trailing blanks, tabs and line ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// At most 60 bytes on one line, for messages: longer text is cut between UTF-8 characters and ends
/// in "...".
[[nodiscard]] std::string shortened(std::string_view text);
/// For a terminal: control characters but line feeds and tabs, and bytes that are not UTF-8, become
/// escapes, as \x1b.
[[nodiscard]] std::string printable(std::string_view text);
/// For messages: of a line of more than 2,000 bytes the beginning and the end, of more than 200
/// lines the first.
[[nodiscard]] std::string readable(std::string_view text);
[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// An ASCII letter or "_".
[[nodiscard]] constexpr bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
/// Length of the well-formed UTF-8 sequence at the front of `text`, 0 if there is none (RFC 3629:
/// no overlong forms, no surrogates, at most U+10FFFF).
[[nodiscard]] std::size_t utf8_length(std::string_view text);
/// True if `text`, the beginning of a file, is UTF-16: by its byte order mark, or because every
/// second byte of its first characters is 0.
[[nodiscard]] bool is_utf16(std::string_view text);
/// ASCII letters converted to lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// Fewest insertions, deletions, replacements and swaps of neighbours that turn one word into the
/// other (optimal string alignment), counted up to `limit`: beyond it the result is limit + 1.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b,
                                        std::size_t limit = 16);

/// The noun after a number: "run" for 1, else "runs"; of "class", "box", "batch" and the like
/// "classes".
[[nodiscard]] std::string plural(std::int64_t count, std::string_view noun);
/// A number with its noun: "1 run", "1562 steps".
[[nodiscard]] std::string count_text(std::int64_t count, std::string_view noun);

}  // namespace trainyard
