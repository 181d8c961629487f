#include "launcher/launch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "functors.h"
#include "launchers.h"

namespace trainyard {
namespace {

using namespace test;

TEST_CASE("each is bit-identical for any number of threads and any vectors") {
  // Around the grain of 4096 elements per thread and the vector widths.
  for (const std::int64_t n : {1, 7, 17, 4095, 4097, 20011}) {
    const std::vector<float> in = test::values(n);
    std::vector<float> expected(in.size());
    for (std::int64_t i = 0; i < n; ++i) Wave{in.data(), expected.data()}(i);
    for (const CpuLauncher& launcher : test::launchers()) {
      std::vector<float> out(in.size(), std::nanf(""));
      launcher.each(n, Wave{in.data(), out.data()});
      CHECK(out == expected);
    }
  }
}

TEST_CASE("each calls nothing for no elements") { CpuLauncher(2).each(0, Wave{nullptr, nullptr}); }

TEST_CASE("rows are bit-identical for any number of threads and any vectors") {
  const std::int64_t rows = 13;
  for (const std::int64_t width : {1, 127, 128, 129, 1000}) {
    const std::vector<float> in = test::values(rows * width);
    std::vector<float> first_sums;
    for (const CpuLauncher& launcher : test::launchers()) {
      std::vector<float> sums(rows), maxima(rows);
      launcher.rows(rows, RowSums{in.data(), width, sums.data(), maxima.data()});
      if (first_sums.empty()) first_sums = sums;
      CHECK(sums == first_sums);
      for (std::int64_t row = 0; row < rows; ++row) {
        double exact = 0;
        float most = in[row * width];
        for (std::int64_t i = row * width; i < (row + 1) * width; ++i) {
          exact += in[i];
          most = std::max(most, in[i]);
        }
        CHECK(maxima[row] == most);
        // Each value below 1 takes part in at most width / 128 + 8 additions, each of which rounds
        // a partial sum of at most `width` by 2^-24 of it.
        const double bound = (width / 128 + 8) * (width * 0x1p-24);
        CHECK(std::abs(sums[row] - exact) <= bound);
      }
    }
  }
}

TEST_CASE("the end of rows runs once, after all of them") {
  for (const std::int64_t rows : {0, 1, 13, 1000}) {
    const std::vector<float> in = test::values(rows * 3);
    for (const CpuLauncher& launcher : test::launchers()) {
      std::vector<float> sums(static_cast<std::size_t>(rows), std::nanf("")), total(1, 2.0f);
      launcher.finished_rows(rows, test::TotalOfRows{in.data(), rows, 3, sums.data(), total.data()},
                             nullptr);
      const float sum = CpuTeam{}.sum<float>(
          rows, [&](std::int64_t i) { return in[i * 3] + in[i * 3 + 1] + in[i * 3 + 2]; });
      CHECK(total[0] == doctest::Approx(2.0f + sum));
    }
  }
}

float max_of(const std::vector<float>& list) {
  return CpuTeam{}.max<float>(static_cast<std::int64_t>(list.size()), -1.0f,
                              [&](std::int64_t i) { return list[i]; });
}

TEST_CASE("a NaN at any position is the maximum") {
  for (const std::size_t place : {0u, 1u, 130u, 299u}) {
    std::vector<float> list(300, 2.0f);
    list[place] = std::nanf("");
    CHECK(std::isnan(max_of(list)));
  }
}

TEST_CASE("the maximum of nothing is the given least value") {
  CHECK(max_of({}) == -1.0f);
  CHECK(max_of({-3.0f}) == -1.0f);
}

}  // namespace
}  // namespace trainyard
