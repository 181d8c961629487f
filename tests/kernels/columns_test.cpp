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
                   partials.data(), nullptr);
  return out;
}

const Size kSizes[] = {{1, 1},  {127, 15}, {128, 16},  {129, 17},  {1000, 33},
                       {5, 64}, {4099, 3}, {70001, 1}, {20001, 40}};

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

/// The order as columns.h states it, written out for one column.
Moments in_order(const ColumnMoments& f, const ColumnGrid& grid, std::int64_t column) {
  const auto fold = [](std::vector<Moments> lanes) {
    for (std::size_t width = 1; width < lanes.size(); width *= 2) {
      for (std::size_t lane = 0; lane < lanes.size(); lane += 2 * width) {
        lanes[lane] += lanes[lane + width];
      }
    }
    return lanes[0];
  };
  std::vector<Moments> totals(static_cast<std::size_t>(grid.lanes()), Moments{0, 0});
  for (std::int64_t chunk = 0; chunk < grid.chunks; ++chunk) {
    Moments sum{0, 0};
    for (std::int64_t turn = 0; turn < grid.turns; ++turn) {
      std::vector<Moments> lanes;
      for (std::int64_t lane = 0; lane < grid.tall; ++lane) {
        lanes.push_back({0, 0});
        const std::int64_t begin = grid.begin(chunk, lane, turn);
        for (std::int64_t row = begin; row < grid.end(begin); ++row) lanes.back() += f(row, column);
      }
      sum += fold(lanes);
    }
    totals[static_cast<std::size_t>(chunk % grid.lanes())] += sum;
  }
  return fold(totals);
}

TEST_CASE("columns are added in the order that is stated") {
  for (const Size size : kSizes) {
    CAPTURE(size.rows);
    CAPTURE(size.columns);
    const std::vector<float> in = test::values(size.rows * size.columns);
    const std::vector<Moments> out = run(CpuLauncher(1), in, size);
    const ColumnGrid grid = column_grid<ColumnMoments>(size.rows, size.columns);
    for (std::int64_t c = 0; c < size.columns; ++c) {
      const Moments sum = in_order({in.data(), size.columns, nullptr}, grid, c);
      CHECK(out[static_cast<std::size_t>(c)].sum == sum.sum);
      CHECK(out[static_cast<std::size_t>(c)].squares == sum.squares);
    }
  }
}

/// A functor as those of batch norm are, in packs of bf16.
struct Packs {
  static constexpr int kColumns = 8;
  static constexpr std::int64_t kStripRows = 32;
};

template <class F>
void check_grid(std::int64_t rows, std::int64_t columns) {
  CAPTURE(rows);
  CAPTURE(columns);
  const ColumnGrid grid = column_grid<F>(rows, columns);
  CHECK(grid.wide * grid.tall == kColumnThreads);
  CHECK(grid.strip <= most_strip_rows<F>());
  CHECK(grid.groups * grid.beside() >= columns);
  CHECK(grid.chunks <= column_chunks(rows));
  CHECK(grid.begin(grid.chunks, 0, 0) >= rows);
  CHECK((grid.chunks == 1 || grid.begin(grid.chunks - 1, 0, 0) < rows));
  CHECK((grid.chunks == 1 || grid.groups <= kColumnGroups));
  CHECK(grid.beside() <= kColumnsOfBlock);
  CHECK(grid.lanes() * grid.beside() == kColumnThreads);
}

TEST_CASE("the split covers every row, whatever the shape, with few partial results") {
  for (const std::int64_t rows : {0, 1, 31, 128, 129, 8192, 131072, 802816, 100'000'001}) {
    for (const std::int64_t columns : {1, 3, 10, 16, 64, 1000, 16384, 16385, 1'000'000}) {
      check_grid<ColumnMoments>(rows, columns);
      check_grid<Packs>(rows, 8 * columns);
    }
  }
}

TEST_CASE("columns sum every row once") {
  for (const Size size : kSizes) {
    const std::vector<float> in = test::values(size.rows * size.columns);
    const std::vector<Moments> out = run(CpuLauncher(2), in, size);
    // A value below 1 takes part in at most one addition for each row of a thread, each level of
    // the trees and each chunk of a lane, each of which rounds a partial sum of at most `rows` by
    // 2^-24 of it.
    const ColumnGrid grid = column_grid<ColumnMoments>(size.rows, size.columns);
    const std::int64_t additions = grid.strip * grid.turns + 16 + grid.chunks / grid.lanes() + 1;
    const double bound = static_cast<double>(additions) * static_cast<double>(size.rows) * 0x1p-24;
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
