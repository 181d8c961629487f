#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "functors.h"
#include "launcher/pairwise.h"
#include "launchers.h"

namespace trainyard {
namespace {

using namespace test;

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

/// Neighbours, then neighbouring pairs and so on; of an odd number the last one stays.
template <class Sum>
Sum added_pairwise(std::vector<Sum> list) {
  while (list.size() > 1) {
    for (std::size_t i = 0; i + 1 < list.size(); i += 2) list[i] += list[i + 1];
    for (std::size_t i = 2; i < list.size(); i += 2) list[i / 2] = list[i];
    list.resize((list.size() + 1) / 2);
  }
  return list.at(0);
}

/// The order as columns.h states it, written out for one column.
Moments in_order(const ColumnMoments& f, const ColumnGrid& grid, std::int64_t column) {
  std::vector<Moments> strips;
  for (std::int64_t begin = 0; begin < grid.rows; begin += grid.strip) {
    strips.push_back({0, 0});
    for (std::int64_t row = begin; row < grid.end(begin, grid.strip); ++row) {
      strips.back() += f(row, column);
    }
  }
  return added_pairwise(strips);
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

TEST_CASE("pairwise() leaves out nothing and adds neighbours first") {
  const std::vector<float> list = test::values(8);
  CHECK(pairwise<8>([&](int i) { return list[static_cast<std::size_t>(i)]; }) ==
        added_pairwise(list));
}

TEST_CASE("how many chunks there are changes no bit") {
  constexpr std::int64_t kRows = 70'001;
  const std::vector<float> in = test::values(kRows * 3);
  const auto sums_of = [&](std::int64_t most) {
    const ColumnGrid grid = column_grid<ColumnMoments>(kRows, 3, most);
    CHECK(grid.chunks <= most);
    std::vector<Moments> partials(static_cast<std::size_t>(grid.chunks * 3)), out(3);
    CpuLauncher(2).columns(
        ColumnsCall<ColumnMoments>{grid, {in.data(), 3, out.data()}, partials.data()}, nullptr);
    return out;
  };
  const std::vector<Moments> one = sums_of(1);
  for (const std::int64_t most : {2, 7, 64, 137}) {
    CAPTURE(most);
    CHECK(column_grid<ColumnMoments>(kRows, 3, most).chunks > most / 2);
    CHECK(std::memcmp(sums_of(most).data(), one.data(), 3 * sizeof(Moments)) == 0);
  }
}

/// A functor in packs of bf16, and one as those of batch norm are.
struct Packs {
  using Sum = PairSum;
  static constexpr int kColumns = 8;
  static constexpr std::int64_t kStripRows = 32;
};
struct Groups : Packs {
  using Part = float;
};

template <class F>
void check_grid(std::int64_t rows, std::int64_t columns) {
  CAPTURE(rows);
  CAPTURE(columns);
  const ColumnGrid grid = column_grid<F>(rows, columns);
  CHECK(grid.wide * grid.tall == kColumnThreads);
  CHECK(grid.strip <= (has_parts<F>() ? kGroupRows / kGroupStrips : most_strip_rows<F>()));
  CHECK(grid.groups * grid.group_columns() >= columns);
  CHECK(grid.chunks <= column_chunks(rows));
  CHECK(grid.begin(grid.chunks, 0, 0) >= rows);
  CHECK((grid.chunks == 1 || grid.begin(grid.chunks - 1, 0, 0) < rows));
  CHECK((grid.chunks == 1 || grid.groups <= kColumnGroups));
  CHECK(grid.group_columns() <= kColumnsOfBlock);
  CHECK(grid.lanes() * grid.group_columns() == kColumnThreads);
}

TEST_CASE("the split covers every row, whatever the shape, with few partial results") {
  for (const std::int64_t rows : {0, 1, 31, 128, 129, 8192, 131072, 802816, 100'000'001}) {
    for (const std::int64_t columns : {1, 3, 10, 16, 64, 1000, 16384, 16385, 1'000'000}) {
      check_grid<ColumnMoments>(rows, columns);
      check_grid<Packs>(rows, 8 * columns);
      check_grid<Groups>(rows, 8 * columns);
    }
  }
}

TEST_CASE("columns sum every row once") {
  for (const Size size : kSizes) {
    const std::vector<float> in = test::values(size.rows * size.columns);
    const std::vector<Moments> out = run(CpuLauncher(2), in, size);
    // A value below 1 takes part in at most one addition for each row of a strip and each level of
    // the tree, each of which rounds a partial sum of at most `rows` by 2^-24 of it.
    const ColumnGrid grid = column_grid<ColumnMoments>(size.rows, size.columns);
    const std::int64_t additions = grid.strip + 17;
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

TEST_CASE("sums are left where a GPU's blocks can finish them soon") {
  // Maps of ResNet-20 and MiniGoogLeNet at batch 128, and of 16 channels at 1024.
  const auto left = [](std::int64_t rows, std::int64_t columns) {
    const ColumnGrid grid = left_grid<Groups>(rows, columns);
    CHECK((!grid.left || grid.chunks * grid.group_columns() * 16 <= 32 * 1024));
    return grid.left ? grid.groups * grid.chunks : 0;
  };
  CHECK(left(128 * 32 * 32, 16) == 128);
  CHECK(left(128 * 16 * 16, 32) == 64);
  CHECK(left(128 * 8 * 8, 64) == 32);
  CHECK(left(128 * 32 * 32, 96) == 192);
  CHECK(left(128 * 16 * 16, 80) == 192);
  CHECK(left(128 * 8 * 8, 336) == 176);
  CHECK(left(1024 * 32 * 32, 16) == 0);
}

TEST_CASE("columns of no rows are zero") {
  const std::vector<Moments> out = run(CpuLauncher(1), {}, {0, 3});
  for (const Moments& moments : out) CHECK(moments.sum == 0.0f);
}

}  // namespace
}  // namespace trainyard
