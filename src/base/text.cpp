#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace trainyard {

namespace {

// The longest fixed form of a double: 309 digits, point, sign and up to 32 decimals.
constexpr std::size_t kNumberBuffer = 400;

template <class T>
std::string shortest(T value) {
  std::array<char, kNumberBuffer> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

// to_chars keeps the sign bit of a NaN; tables need a single word.
template <class T>
std::string real_text(T value) {
  return std::isnan(value) ? "nan" : shortest(value);
}

/// The number that the whole text is.
template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `letter` is well-formed UTF-8; U+0080 to U+009F are control characters too.
bool is_control(std::string_view letter) {
  const auto first = static_cast<unsigned char>(letter[0]);
  if (letter.size() == 2) return first == 0xc2 && static_cast<unsigned char>(letter[1]) < 0xa0;
  return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f;
}

std::string escaped(char byte) {
  std::array<char, 8> text;
  std::snprintf(text.data(), text.size(), "\\x%02x", static_cast<unsigned char>(byte));
  return text.data();
}

std::string readable_line(std::string_view line) {
  constexpr std::size_t kMostBytes = 2000, kBegin = 1400, kEnd = 500;
  if (line.size() <= kMostBytes) return std::string(line);
  const auto continues = [&](std::size_t i) { return (line[i] & 0xc0) == 0x80; };
  std::size_t begin = kBegin, end = line.size() - kEnd;
  while (begin > kBegin - 3 && continues(begin)) --begin;
  while (end < line.size() - kEnd + 3 && continues(end)) ++end;
  return std::string(line.substr(0, begin)) + " ... " + std::string(line.substr(end));
}

}  // namespace

std::string number_text(double value) { return real_text(value); }
std::string number_text(float value) { return real_text(value); }
std::string number_text(std::int64_t value) { return shortest(value); }

std::string fixed_text(double value, int decimals) {
  if (!std::isfinite(value)) return real_text(value);
  std::array<char, kNumberBuffer> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::fixed, std::clamp(decimals, 0, 32));
  return {buffer.data(), result.ptr};
}

std::string with_separators(std::int64_t value) {
  std::string text = number_text(value);
  const std::size_t sign = value < 0 ? 1 : 0;
  for (std::size_t end = text.size(); end > sign + 3;) {
    end -= 3;
    text.insert(end, ",");
  }
  return text;
}

std::string memory_text(std::size_t bytes) {
  const std::size_t mebibytes = bytes >> 20;
  return mebibytes > 0 ? std::to_string(mebibytes) + " MiB" : std::to_string(bytes) + " bytes";
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parsed<std::int64_t>(text);
}

std::optional<double> parse_real(std::string_view text) {
  const std::optional<double> value = parsed<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string csv_quoted(std::string_view text) {
  if (text.find_first_of(",\"\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += letter;
    quoted += letter;
  }
  return quoted + "\"";
}

int columns_of(std::string_view text) {
  // Bytes that do not continue a UTF-8 sequence.
  return static_cast<int>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += separator;
    out += words[i];
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    pieces.emplace_back(text.substr(begin, end - begin));
    if (end == text.npos) return pieces;
    begin = end + 1;
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kMostBytes = 60;
  std::string out;
  for (const char c : text) {
    const bool continuation = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (out.size() >= kMostBytes && !continuation) return out + "...";
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    if (first == 0xed && byte(1) > 0x9f) return 0;
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (first == 0xf0 && byte(1) < 0x90) return 0;
    if (first == 0xf4 && byte(1) > 0x8f) return 0;
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf16(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return true;
  const std::string_view begin = text.substr(0, 8);
  const auto zeros_from = [&](std::size_t first) {
    for (std::size_t i = 0; i < begin.size(); ++i) {
      if ((begin[i] == '\0') != (i % 2 == first)) return false;
    }
    return begin.size() == 8;
  };
  return zeros_from(0) || zeros_from(1);
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view letter = text.substr(0, std::max<std::size_t>(length, 1));
    if (length > 0 && !is_control(letter)) {
      out += letter;
    } else {
      for (const char byte : letter) out += escaped(byte);
    }
    text.remove_prefix(letter.size());
  }
  return out;
}

std::string readable(std::string_view text) {
  constexpr std::size_t kMostLines = 200;
  std::string out;
  for (std::size_t lines = 0, end = 0; end != text.npos; ++lines) {
    if (lines == kMostLines) return out + "\n(and more)";
    end = text.find('\n');
    out += (lines > 0 ? "\n" : "") + readable_line(text.substr(0, end));
    if (end != text.npos) text.remove_prefix(end + 1);
  }
  return out;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > limit) return limit + 1;
  // Rows of the table for the first i letters of b: this one, the last, and the one before.
  std::vector<std::size_t> row(a.size() + 1), last(a.size() + 1), before(a.size() + 1);
  for (std::size_t j = 0; j <= a.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= b.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    std::size_t best = row[0];
    for (std::size_t j = 1; j <= a.size(); ++j) {
      const std::size_t differs = a[j - 1] == b[i - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + differs});
      if (i > 1 && j > 1 && a[j - 1] == b[i - 2] && a[j - 2] == b[i - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
      best = std::min(best, row[j]);
    }
    // A swap reaches back two rows, so one row beyond the limit does not decide; two do, and the
    // next row can be at most one better than this one.
    if (best > limit + 1) return limit + 1;
  }
  return std::min(row[a.size()], limit + 1);
}

std::string plural(std::int64_t count, std::string_view noun) {
  if (count == 1) return std::string(noun);
  const bool hisses =
      noun.ends_with('s') || noun.ends_with('x') || noun.ends_with("tch") || noun.ends_with("nch");
  return std::string(noun) + (hisses ? "es" : "s");
}

std::string count_text(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + plural(count, noun);
}

}  // namespace trainyard
