// C++ and CUDA sources as text, for the rules that the suite applies to them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::layers {

/// One file. `code` has the length and the line ends of `text`; comments and the insides of string
/// and character literals are blanks in it, so that no rule matches prose.
struct SourceFile {
  std::string path;  // from the root of the project, with '/': "src/base/error.h"
  std::string text;
  std::string code;

  /// True if the path begins with `prefix`.
  [[nodiscard]] bool under(std::string_view prefix) const { return path.starts_with(prefix); }
  [[nodiscard]] bool is_header() const { return path.ends_with(".h") || path.ends_with(".cuh"); }
};

/// A rule that a file breaks.
struct Finding {
  std::string path;
  int line = 0;  // from 1
  std::string text;
};

[[nodiscard]] SourceFile make_source(std::string path, std::string text);
/// Every .h, .cpp, .cuh and .cu file below `root`/src and `root`/tests, sorted by path.
[[nodiscard]] std::vector<SourceFile> read_sources(const std::filesystem::path& root);
/// The whole file.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);
/// A letter, digit or underscore.
[[nodiscard]] bool is_word(char c);
/// Line number, from 1, of `offset` in `text`.
[[nodiscard]] int line_of(std::string_view text, std::size_t offset);
/// The lines of `text` without their ends.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
/// One "path:line: text" per line.
[[nodiscard]] std::string report(const std::vector<Finding>& findings);

}  // namespace trainyard::layers
