#include "source_file.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string_view>

namespace trainyard::layers {

namespace {

/// True if the quote at `at` separates digits (10'000) instead of opening a character.
bool is_digit_separator(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '\'')) --begin;
  return begin < at && std::isdigit(static_cast<unsigned char>(text[begin])) != 0;
}

/// Offset just past a literal that opens with `text[at]`, a quote.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
  const char quote = text[at];
  std::size_t i = at + 1;
  while (i < text.size() && text[i] != quote && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

/// Offset just past a raw string whose quote is at `at`.
std::size_t end_of_raw_string(std::string_view text, std::size_t at) {
  const std::size_t open = text.find('(', at);
  if (open == std::string_view::npos) return text.size();
  const std::string close = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

/// Offset just past the comment or literal that begins at `at`, or `at` if none does.
std::size_t end_of_prose(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (rest.starts_with('"')) {
    const bool raw = at > 0 && text[at - 1] == 'R' && (at == 1 || !is_word(text[at - 2]));
    return raw ? end_of_raw_string(text, at) : end_of_literal(text, at);
  }
  if (rest.starts_with('\'') && !is_digit_separator(text, at)) return end_of_literal(text, at);
  return at;
}

std::string without_prose(std::string_view text) {
  std::string code(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_prose(text, at);
    if (end == at) {
      ++at;
      continue;
    }
    const std::size_t keep = text[at] == '/' ? 0 : 1;  // the quotes of a literal stay
    for (std::size_t i = at + keep; i + keep < end; ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
    at = end;
  }
  return code;
}

}  // namespace

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

SourceFile make_source(std::string path, std::string text) {
  std::string code = without_prose(text);
  return {std::move(path), std::move(text), std::move(code)};
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<SourceFile> read_sources(const std::filesystem::path& root) {
  std::vector<SourceFile> files;
  for (const char* top : {"src", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / top)) {
      static constexpr std::string_view kExtensions[] = {".h", ".cpp", ".cuh", ".cu"};
      if (std::ranges::find(kExtensions, entry.path().extension().string()) ==
          std::end(kExtensions)) {
        continue;
      }
      files.push_back(make_source(entry.path().lexically_relative(root).generic_string(),
                                  read_text(entry.path())));
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

int line_of(std::string_view text, std::size_t offset) {
  return 1 + static_cast<int>(std::ranges::count(text.substr(0, offset), '\n'));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string report(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) {
    out += finding.path + ":" + std::to_string(finding.line) + ": " + finding.text + "\n";
  }
  return out;
}

}  // namespace trainyard::layers
