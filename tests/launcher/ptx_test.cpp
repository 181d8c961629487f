// The arithmetic of nvcc's kernels, read from their PTX: it must be the CPU's, or results could not
// be bit-identical. Needs no GPU.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace {

std::string kernels() {
  std::ifstream file(TY_PTX);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The bodies of the kernels whose name contains `word`.
std::vector<std::string> kernels_of(const std::string& word) {
  const std::string text = kernels();
  std::vector<std::string> found;
  for (std::size_t at = text.find(".entry"); at != std::string::npos;) {
    const std::size_t next = text.find(".entry", at + 1);
    const std::string kernel = text.substr(at, next - at);
    if (kernel.substr(0, kernel.find('(')).find(word) != std::string::npos) {
      found.push_back(kernel);
    }
    at = next;
  }
  return found;
}

bool has(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

TEST_CASE("nothing is approximated and no subnormal is flushed to zero") {
  const std::string text = kernels();
  REQUIRE(has(text, "div.rn.f32"));
  CHECK_FALSE(has(text, ".approx"));
  CHECK_FALSE(has(text, ".full"));
  CHECK_FALSE(has(text, ".ftz"));
}

TEST_CASE("products and sums are not contracted, and fma in the source is fma in the PTX") {
  const auto moments = kernels_of("ColumnMoments");
  REQUIRE(moments.size() == 1);
  CHECK(has(moments[0], "mul.rn.f32"));
  CHECK(has(moments[0], "add.rn.f32"));
  CHECK_FALSE(has(moments[0], "fma.rn"));
  const auto wave = kernels_of("Wave");
  REQUIRE(wave.size() == 1);
  CHECK(has(wave[0], "fma.rn.f32"));
}

TEST_CASE("every kernel waits for those before it, before it touches memory") {
  const auto all = kernels_of("");
  REQUIRE(all.size() >= 4);
  for (const std::string& kernel : all) {
    CAPTURE(kernel.substr(0, kernel.find('(')));
    const std::size_t wait = kernel.find("griddepcontrol.wait");
    REQUIRE(wait != std::string::npos);
    const std::string before = kernel.substr(0, wait);
    CHECK_FALSE(std::regex_search(before, std::regex(R"(\b(ld|st|atom|red)\.(?!param))")));
    CHECK_FALSE(has(kernel, "griddepcontrol.launch_dependents"));
    CHECK_FALSE(has(kernel, "ld.global.nc"));
  }
}

TEST_CASE("rows are combined by shuffles, and atomics count blocks alone") {
  const auto rows = kernels_of("RowSums");
  REQUIRE(rows.size() == 1);
  CHECK(has(rows[0], "shfl.sync.down"));
  CHECK_FALSE(std::regex_search(kernels(), std::regex(R"(\b(atom|red)\.(?!global\.inc\.u32\b))")));
}

}  // namespace
