// The rules of this folder: limits on length, words, includes, and names of types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "source_file.h"

namespace trainyard::layers {

inline constexpr int kLongestFunction = 60;  // lines, signature and closing brace included
inline constexpr int kLongestFile = 400;     // lines
inline constexpr int kFilesOfAnOp = 6;

/// A function or test case with its number of lines. Lambdas and local types count as part of the
/// enclosing function; constant tables (const or constexpr with a braced value) do not count.
struct FunctionSpan {
  std::string head;  // the last line of its signature
  int line = 0;
  int lines = 0;
};
[[nodiscard]] std::vector<FunctionSpan> functions_of(const SourceFile& file);

[[nodiscard]] std::vector<Finding> long_functions(const SourceFile& file);
[[nodiscard]] std::vector<Finding> long_files(const SourceFile& file);
/// Ops (stems of src/ops headers) with more files than allowed.
[[nodiscard]] std::vector<Finding> scattered_ops(const std::vector<SourceFile>& files);

/// Types that an earlier header of the list defines too, at namespace scope or in a type, by their
/// qualified name. (A class that a template specialises has one name.)
[[nodiscard]] std::vector<Finding> types_of_one_name(const std::vector<SourceFile>& files);

/// Words of code (not of comments or literals) in files that may not use them.
[[nodiscard]] std::vector<Finding> misplaced_words(const SourceFile& file);
/// Marks of unfinished work, in comments and literals too.
[[nodiscard]] std::vector<Finding> unfinished_work(const SourceFile& file);
/// Sentences of comments and literals that begin with "Of" or "Those", and words that have a
/// standard term. `file` may also be a document.
[[nodiscard]] std::vector<Finding> unplain_words(const SourceFile& file);
/// Headers without `#pragma once`.
[[nodiscard]] std::vector<Finding> unguarded_headers(const SourceFile& file);
/// Sources that no CMakeLists.txt in their folder or above it names, by name, by pattern, or as a
/// file of its folder. `lists` are the CMakeLists.txt files, with paths from the root of the
/// project.
[[nodiscard]] std::vector<Finding> unlisted_sources(const std::vector<SourceFile>& files,
                                                    const std::vector<SourceFile>& lists);

/// The folder of the table that a path from src is in: "data/sets/idx.h" is in "data/sets"; "" if
/// in none.
[[nodiscard]] std::string_view folder_in_table(std::string_view path);
/// True if a file of src may include another, both by their paths from there: if they are in one
/// folder of the table, or the folder of `to` is in the row of that of `from`. What the folders of
/// a row may include is not meant.
[[nodiscard]] bool may_include(std::string_view from, std::string_view to);

/// Project includes that the table forbids, and those that are not "folder/file.h".
[[nodiscard]] std::vector<Finding> forbidden_includes(const SourceFile& file);
/// Library headers outside the folder that owns the library.
[[nodiscard]] std::vector<Finding> foreign_libraries(const SourceFile& file);

}  // namespace trainyard::layers
