// The rules over the whole tree. For what the rules catch see rules_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <regex>

#include "rules.h"
#include "source_file.h"

using namespace trainyard::layers;

namespace {

const std::filesystem::path kRoot = TY_SOURCE_DIR;

/// The findings of `rule` in all files whose path begins with `prefix`.
std::string broken(const std::string& prefix,
                   const std::function<std::vector<Finding>(const SourceFile&)>& rule) {
  std::vector<Finding> all;
  for (const SourceFile& file : read_sources(kRoot)) {
    if (!file.under(prefix)) continue;
    for (Finding& finding : rule(file)) all.push_back(std::move(finding));
  }
  return report(all);
}

std::vector<SourceFile> cmake_lists() {
  std::vector<SourceFile> lists;
  for (const char* top : {"src", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / top)) {
      if (entry.path().filename() != "CMakeLists.txt") continue;
      lists.push_back(make_source(entry.path().lexically_relative(kRoot).generic_string(),
                                  read_text(entry.path())));
    }
  }
  return lists;
}

}  // namespace

TEST_CASE("the scan sees the tree") {
  const auto files = read_sources(kRoot);
  CHECK(files.size() > 40);
  CHECK(std::ranges::any_of(files, [](const auto& f) { return f.path == "src/base/error.h"; }));
  CHECK(std::ranges::any_of(files, [](const auto& f) { return f.path == "tests/main.cpp"; }));
  CHECK(std::ranges::any_of(
      files, [](const auto& f) { return f.path == "src/launcher/cuda_launch.cuh"; }));
}

TEST_CASE("every folder of src is in the include table") {
  for (const SourceFile& file : read_sources(kRoot)) {
    if (file.under("src/")) CHECK_MESSAGE(folder_in_table(file.path.substr(4)) != "", file.path);
  }
}

TEST_CASE("every include of src is in the include table") {
  CHECK(broken("src/", forbidden_includes) == "");
}

TEST_CASE("every library is included only by its owner") {
  CHECK(broken("src/", foreign_libraries) == "");
}

TEST_CASE("no function is longer than sixty lines") { CHECK(broken("", long_functions) == ""); }

TEST_CASE("no file is longer than four hundred lines") { CHECK(broken("", long_files) == ""); }

TEST_CASE("no op is spread over more than six files") {
  CHECK(report(scattered_ops(read_sources(kRoot))) == "");
}

TEST_CASE("printing, the environment, exits, clocks and silenced warnings stay in their folders") {
  CHECK(broken("", misplaced_words) == "");
}

TEST_CASE("no work is marked as unfinished") { CHECK(broken("", unfinished_work) == ""); }

TEST_CASE("comments, messages and documents are in plain words") {
  CHECK(broken("src/", unplain_words) == "");
  CHECK(broken("tests/", unplain_words) == "");
  std::vector<Finding> findings;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / "docs")) {
    const std::string path = std::filesystem::relative(entry.path(), kRoot).string();
    if (entry.path().extension() != ".md" || path.starts_with("docs/results/log/")) continue;
    const std::string text = read_text(entry.path());
    const SourceFile page{.path = path, .text = text, .code = std::string(text.size(), ' ')};
    std::ranges::copy(unplain_words(page), std::back_inserter(findings));
  }
  CHECK(report(findings) == "");
}

TEST_CASE("every header is guarded") { CHECK(broken("", unguarded_headers) == ""); }

TEST_CASE("no two headers of src define a type of one name") {
  std::vector<SourceFile> headers;
  for (SourceFile& file : read_sources(kRoot)) {
    if (file.under("src/")) headers.push_back(std::move(file));
  }
  CHECK(report(types_of_one_name(headers)) == "");
}

TEST_CASE("what exists for speed says at its head what it gains") {
  // Files by the end of their path: passes of the plan, kernels of the CPU and of GPUs.
  const std::vector<std::string> fast = {
      "plan/fuse.cpp",       "plan/layouts.cpp",        "plan/biases.cpp",
      "plan/relus.cpp",      "plan/loss_head.cpp",      "plan/accumulations.cpp",
      "plan/recompute.cpp",  "plan/packed_weights.cpp", "plan/siblings.cpp",
      "plan/side_queue.cpp", "/paired_maps.h",          "/read_ahead.h",
      "/weight_gradient.h",  "winograd/algorithms.h",   "matmul/product.h",
      "norm/blocks.cpp",     "norm/bn_rows.h",          "pool/blocks.cpp",
      "/narrow_conv.h",      "elementwise/bias.h"};
  const std::regex gain("[Gg]ain|[Cc]osts|takes 22 us|what they are for");
  std::size_t seen = 0;
  for (const SourceFile& file : read_sources(kRoot)) {
    const auto ends = [&](const std::string& name) { return file.path.ends_with(name); };
    if (!file.under("src/") || std::ranges::none_of(fast, ends)) continue;
    ++seen;
    CHECK_MESSAGE(std::regex_search(file.text.substr(0, file.text.find('#')), gain), file.path);
  }
  CHECK(seen == fast.size());
}

TEST_CASE("every source is in a CMake list") {
  CHECK(report(unlisted_sources(read_sources(kRoot), cmake_lists())) == "");
}
