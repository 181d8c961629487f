// The size of a checkout: lines of functions, and files per folder of src (scripts/code_size.sh).
//
//   code_size ROOT
#include <algorithm>
#include <cstdio>
#include <map>

#include "rules.h"

using namespace trainyard::layers;

namespace {

struct Sizes {
  std::vector<int> files;      // lines of each
  std::vector<int> functions;  // likewise
};

/// The smallest value that `share` of the sorted list do not exceed.
int at_share(const std::vector<int>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto last = sorted.size() - 1;
  return sorted[std::min(last, static_cast<std::size_t>(share * static_cast<double>(last) + 0.5))];
}

void print(const std::string& name, Sizes sizes) {
  std::ranges::sort(sizes.files);
  std::ranges::sort(sizes.functions);
  int lines = 0;
  for (const int count : sizes.files) lines += count;
  std::printf("%-18s %5zu %7d %7d %5d %9zu %7d %5d %5d\n", name.c_str(), sizes.files.size(), lines,
              at_share(sizes.files, 0.5), at_share(sizes.files, 1), sizes.functions.size(),
              at_share(sizes.functions, 0.5), at_share(sizes.functions, 0.9),
              at_share(sizes.functions, 1));
}

/// "run/session" of "src/run/session/session.h", and "main.cpp" of "src/main.cpp".
std::string folder_of(const std::string& path) {
  const std::size_t end = path.rfind('/');
  return end < 4 ? path.substr(4) : path.substr(4, end - 4);
}

void add(const SourceFile& file, Sizes& sizes) {
  sizes.files.push_back(static_cast<int>(lines_of(file.text).size()));
  for (const FunctionSpan& function : functions_of(file)) sizes.functions.push_back(function.lines);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("code_size ROOT\n", stderr);
    return 2;
  }
  std::map<std::string, Sizes> folders;
  Sizes program, tests;
  for (const SourceFile& file : read_sources(arguments[1])) {
    if (!file.under("src/")) {
      add(file, tests);
      continue;
    }
    add(file, program);
    add(file, folders[folder_of(file.path)]);
  }
  std::printf("%-18s %5s %7s %7s %5s %9s %7s %5s %5s\n", "", "files", "lines", "median", "most",
              "functions", "median", "90 %", "most");
  for (const auto& [name, sizes] : folders) print(name, sizes);
  print("src", program);
  print("tests", tests);
}
