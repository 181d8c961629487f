#include <doctest/doctest.h>

#include <cmath>

#include "functors.h"
#include "launchers.h"

namespace trainyard {
namespace {

using test::ColumnMoments;
using test::Moments;

struct Size {
  std::int64_t rows, columns;
};

std::vector<Moments> run(const CpuLauncher& launcher, const std::vector<float>& in, Size size) {
  const auto room = static_cast<std::size_t>(column_partials(size.rows, size.columns));
  // NaN, so that an unwritten partial result shows.
  std::vector<Moments> partials(room, Moments{std::nanf(""), std::nanf("")});
  std::vector<Moments> out(static_cast<std::size_t>(size.columns));
  launcher.columns(size.rows, size.columns, ColumnMoments{in.data(), size.columns, out.data()},
                   partials.data());
  return out;
}

const Size kSizes[] = {{1, 1}, {127, 15}, {128, 16}, {129, 17}, {1000, 33}, {5, 64}, {4099, 3}};

TEST_CASE("columns are bit-identical for any number of threads and any vectors") {
  for (const Size size : kSizes) {
    const std::vector<float> in = test::values(size.rows * size.columns);
    const std::vector<Moments> first = run(CpuLauncher(1), in, size);
    for (const CpuLauncher& launcher : test::launchers()) {
      const std::vector<Moments> out = run(launcher, in, size);
      for (std::size_t c = 0; c < out.size(); ++c) {
        CHECK(out[c].sum == first[c].sum);
        CHECK(out[c].squares == first[c].squares);
      }
    }
  }
}

/// Like a launcher without vectors of columns: one call per column of a chunk.
std::vector<Moments> run_column_by_column(const std::vector<float>& in, Size size) {
  std::vector<Moments> partials(static_cast<std::size_t>(column_partials(size.rows, size.columns)));
  std::vector<Moments> out(static_cast<std::size_t>(size.columns));
  const ColumnMoments moments{in.data(), size.columns, out.data()};
  const CpuLauncher launcher(2);
  launcher.each(column_partials(size.rows, size.columns),
                ColumnChunk<ColumnMoments>{moments, size.rows, size.columns, partials.data()});
  launcher.each(size.columns, ColumnTotals<ColumnMoments>{moments, column_chunks(size.rows),
                                                          size.columns, partials.data()});
  return out;
}

TEST_CASE("columns one by one, as on a GPU, are bit-identical to columns side by side") {
  for (const Size size : kSizes) {
    const std::vector<float> in = test::values(size.rows * size.columns);
    const std::vector<Moments> side_by_side = run(CpuLauncher(1), in, size);
    const std::vector<Moments> one_by_one = run_column_by_column(in, size);
    for (std::size_t c = 0; c < side_by_side.size(); ++c) {
      CHECK(one_by_one[c].sum == side_by_side[c].sum);
      CHECK(one_by_one[c].squares == side_by_side[c].squares);
    }
  }
}

TEST_CASE("columns sum every row once") {
  for (const Size size : kSizes) {
    const std::vector<float> in = test::values(size.rows * size.columns);
    const std::vector<Moments> out = run(CpuLauncher(2), in, size);
    // A value below 1 takes part in at most 128 additions in its chunk and one per chunk, each of
    // which rounds a partial sum of at most `rows` by 2^-24 of it.
    const double bound =
        static_cast<double>(128 + size.rows / 128 + 1) * static_cast<double>(size.rows) * 0x1p-24;
    for (std::int64_t c = 0; c < size.columns; ++c) {
      double sum = 0, squares = 0;
      for (std::int64_t row = 0; row < size.rows; ++row) {
        const double value = in[row * size.columns + c];
        sum += value;
        squares += value * value;
      }
      CHECK(std::abs(out[c].sum - sum) <= bound);
      CHECK(std::abs(out[c].squares - squares) <= bound);
    }
  }
}

TEST_CASE("columns of no rows are zero") {
  const std::vector<Moments> out = run(CpuLauncher(1), {}, {0, 3});
  for (const Moments& moments : out) CHECK(moments.sum == 0.0f);
}

}  // namespace
}  // namespace trainyard
