// What the GPU part's kernels take of a processor, by the compiler's reports
// (cmake/keep_report.sh): every kernel can be launched, and those that spill registers are the ones
// of spills.txt. Needs no GPU.
#include <cxxabi.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cuda_launch.cuh"

namespace {

using namespace trainyard;

/// Registers of a block on any GPU that kernels are compiled for, and the shared memory that a
/// block can have on all of them.
constexpr unsigned kRegisters = 65'536, kSharedBytes = 99 * 1024;

/// Threads of a block of each form of kernel.
const std::map<std::string, unsigned, std::less<>> kThreads = {
    {"each_kernel", kEachThreads},         {"rows_kernel", kTeamLanes},
    {"finished_rows_kernel", kTeamLanes},  {"columns_kernel", kColumnThreads},
    {"sibling_each_kernel", kEachThreads}, {"sibling_columns_kernel", kColumnThreads},
    {"settled_kernel", kColumnThreads},    {"sibling_settled_kernel", kColumnThreads},
};

struct Kernel {
  std::string gpu, name;
  unsigned stored = 0, loaded = 0;  // bytes of spilled registers
  unsigned registers = 0, shared_bytes = 0;
};

/// "rows_kernel<NarrowConv<Float16, false> >" of its symbol.
std::string readable(const std::string& symbol) {
  char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr);
  std::string name = text == nullptr ? symbol : text;
  std::free(text);
  int depth = 0;
  const auto parameters = std::ranges::find_if(name, [&](char letter) {
    depth += letter == '<' ? 1 : letter == '>' ? -1 : 0;
    return letter == '(' && depth == 0;
  });
  name.erase(parameters, name.end());
  return std::regex_replace(name, std::regex("^void |trainyard::"), "");
}

/// The number that a regular expression finds in a line, or 0.
unsigned number_of(const std::string& line, const std::string& expression) {
  std::smatch found;
  return std::regex_search(line, found, std::regex(expression))
             ? static_cast<unsigned>(std::stoul(found[1]))
             : 0;
}

void read_report(const std::string& path, std::vector<Kernel>& kernels) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, "no report: ", path);
  std::smatch entry;
  const std::regex begin("Compiling entry function '(.*)' for '(.*)'");
  for (std::string line; std::getline(file, line);) {
    if (std::regex_search(line, entry, begin)) {
      kernels.push_back({.gpu = entry[2], .name = readable(entry[1])});
    } else if (line.find(" bytes spill stores") != line.npos && !kernels.empty()) {
      kernels.back().stored = number_of(line, "([0-9]+) bytes spill stores");
      kernels.back().loaded = number_of(line, "([0-9]+) bytes spill loads");
    } else if (line.find(": Used ") != line.npos) {
      REQUIRE(!kernels.empty());
      kernels.back().registers = number_of(line, "Used ([0-9]+) registers");
      kernels.back().shared_bytes = number_of(line, "([0-9]+) bytes smem");
    }
  }
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, "cannot read ", path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Kernels in all objects of the GPU part, once for each object that has them.
const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> list;
    for (const std::string& object : lines_of(TY_CUDA_OBJECTS)) {
      read_report(object + ".ptxas", list);
    }
    return list;
  }();
  return all;
}

TEST_CASE("every kernel can be launched on every GPU that it is compiled for") {
  std::set<std::string> gpus;
  for (const Kernel& kernel : kernels()) {
    gpus.insert(kernel.gpu);
    INFO(kernel.gpu, " ", kernel.name);
    const auto form = kThreads.find(kernel.name.substr(0, kernel.name.find('<')));
    REQUIRE_MESSAGE(form != kThreads.end(), "kThreads lacks this kernel");
    REQUIRE(kernel.registers > 0);
    CHECK((kernel.registers + 7) / 8 * 8 * form->second <= kRegisters);
    CHECK(kernel.shared_bytes <= kSharedBytes);
  }
  CHECK(gpus == std::set<std::string>{"sm_120", "sm_80", "sm_90"});
}

/// Spills of the present build, as lines of the table.
std::set<std::string> spills() {
  std::set<std::string> found;
  for (const Kernel& kernel : kernels()) {
    if (kernel.stored + kernel.loaded == 0) continue;
    found.insert(kernel.gpu + " " + std::to_string(kernel.stored) + " " +
                 std::to_string(kernel.loaded) + " " + kernel.name);
  }
  return found;
}

TEST_CASE("the kernels that spill registers are those of the table") {
  const auto table = lines_of(TY_SOURCE_DIR "/tests/launcher/spills.txt");
  REQUIRE(table.size() > 1);
  if (table[0].find(" " TY_CUDA_VERSION ";") == std::string::npos) {
    MESSAGE("Not compared: this build's compiler is ", TY_CUDA_VERSION);
    return;
  }
  const std::set<std::string> expected(table.begin() + 1, table.end()), found = spills();
  for (const std::string& line : found) {
    if (!expected.contains(line)) FAIL_CHECK("spills.txt lacks: ", line);
  }
  for (const std::string& line : expected) {
    if (!found.contains(line)) FAIL_CHECK("spills.txt has, but not this build: ", line);
  }
}

}  // namespace
