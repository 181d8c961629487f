// Limits on the length of files and functions.
#pragma once

#include <string>
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

}  // namespace trainyard::layers
