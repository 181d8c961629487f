// The kernels of the CUDA launcher on the host (grid.h) against the CPU launcher: bit-identical for
// every form and around every limit of blocks and chunks. Needs no GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "../base/error_of.h"
#include "../launcher/functors.h"
#include "../launcher/launchers.h"
#include "launcher/cuda_launch.cuh"

namespace trainyard {
namespace {

using test::values;

/// Compares bits; NaN differs from other NaN, and -0 from 0.
template <class T>
bool same_bits(const std::vector<T>& one, const std::vector<T>& other) {
  return one.size() == other.size() &&
         std::memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0;
}

/// `work(launcher)` gives the same with the CUDA launcher, in every order of turns, as with the CPU
/// launcher.
template <class Work>
void check_alike(const Work& work) {
  const auto expected = work(CpuLauncher(1));
  for (const emulated::Conduct& conduct : emulated::kConducts) {
    emulated::set_conduct(conduct);
    CHECK(same_bits(work(CudaLauncher(nullptr)), expected));
  }
  emulated::set_conduct({});
}

TEST_CASE("each of the CUDA launcher is bit-identical to the CPU launcher") {
  for (const std::int64_t n : {0, 1, 7, 255, 256, 257, 511, 512, 513, 20'011}) {
    CAPTURE(n);
    const std::vector<float> in = values(n);
    check_alike([&](const auto& launcher) {
      std::vector<float> out(in.size() + 1, std::nanf(""));  // one more, which is never written
      launcher.each(n, test::Wave{in.data(), out.data()});
      return out;
    });
  }
}

/// Every member of a Team, one right after another: what all lanes wrote is read by other lanes,
/// sums follow sums and maxima maxima, and results are written by one lane.
template <class T>
struct RowWork {
  const T* in;
  std::int64_t width;
  T* squares;  // [rows, width]
  T* results;  // [rows, 4]
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const T* const own = in + row * width;
    T* const square = squares + row * width;
    T* const result = results + row * 4;
    team.each(width, [&](std::int64_t i) { square[i] = own[i] * own[i]; });
    const T sum =
        team.template sum<T>(width, [&](std::int64_t i) { return square[width - 1 - i]; });
    const T rest = team.template sum<T>(width, [&](std::int64_t i) { return own[i] - sum; });
    const T most = team.template max<T>(width, T(-2), [&](std::int64_t i) { return own[i]; });
    const T least =
        team.template max<T>(width, rest, [&](std::int64_t i) { return most - own[i]; });
    team.once([&] {
      result[0] = sum;
      result[1] = most;
      result[2] += rest;  // exactly once
    });
    team.once([&] { result[3] = least; });
  }
};

template <class T>
void check_rows(std::int64_t rows, std::int64_t width, const std::vector<T>& in) {
  CAPTURE(rows);
  CAPTURE(width);
  const auto elements = static_cast<std::size_t>(rows * width);
  const auto all = elements + static_cast<std::size_t>(rows) * 4;
  check_alike([&](const auto& launcher) {
    std::vector<T> out(all + 1, T(1));  // one more, which is never written
    launcher.rows(rows, RowWork<T>{in.data(), width, out.data(), out.data() + elements});
    return out;
  });
}

template <class T>
std::vector<T> values_of(std::int64_t count) {
  std::vector<T> list;
  for (const float value : values(count)) {
    list.push_back(std::is_integral_v<T> ? static_cast<T>(value * 10)
                                         : static_cast<T>(value) + static_cast<T>(value) / T(3));
  }
  return list;
}

TEST_CASE_TEMPLATE("rows of the CUDA launcher are bit-identical to the CPU's", T, float, double,
                   std::int32_t) {
  for (const std::int64_t width : {0,  1,   2,   31,  32,  33,  63,  64,  65,  95,  96,
                                   97, 127, 128, 129, 255, 256, 257, 383, 384, 385, 1000}) {
    check_rows<T>(3, width, values_of<T>(3 * width));
  }
  for (const std::int64_t rows : {0, 1, 20}) check_rows<T>(rows, 5, values_of<T>(rows * 5));
}

TEST_CASE_TEMPLATE("rows keep NaN, infinities and signed zeros bit-identical to the CPU's", T,
                   float, double) {
  const T specials[] = {std::numeric_limits<T>::quiet_NaN(),
                        -std::numeric_limits<T>::quiet_NaN(),
                        std::numeric_limits<T>::infinity(),
                        -std::numeric_limits<T>::infinity(),
                        T(0),
                        -T(0),
                        std::numeric_limits<T>::denorm_min()};
  constexpr std::int64_t kWidth = 300;
  for (const T special : specials) {
    for (const std::size_t place : {0u, 31u, 64u, 127u, 128u, 299u}) {
      std::vector<T> in(kWidth, -T(0));
      in[place] = special;
      check_rows<T>(1, kWidth, in);
    }
  }
}

TEST_CASE("the end of rows of the CUDA launcher is bit-identical to the CPU's") {
  for (const std::int64_t rows : {0, 1, 2, 127, 300}) {
    CAPTURE(rows);
    const auto in = values(rows * 33);
    check_alike([&](const auto& launcher) {
      std::vector<float> out(static_cast<std::size_t>(rows) + 1, 1.0f);
      std::uint32_t finished = 0;
      for (int launch = 0; launch < 2; ++launch) {
        launcher.finished_rows(
            rows, test::TotalOfRows{in.data(), rows, 33, out.data() + 1, out.data()}, &finished);
        CHECK(finished == 0);
      }
      return out;
    });
  }
}

/// A column's sum of T, and the sum that finish() receives.
template <class T, int Together = 1>
struct ColumnSum {
  using Sum = T;
  static constexpr int kColumns = Together;
  static constexpr std::int64_t kStripRows = 32;
  const T* in;
  std::int64_t columns;
  T* out;
  TY_HD T operator()(std::int64_t row, std::int64_t column) const {
    return in[row * columns + column];
  }
  TY_HD void finish(std::int64_t column, T sum) const { out[column] += sum; }
};

template <class Functor, class Input>
void check_columns(std::int64_t rows, std::int64_t columns, const std::vector<Input>& in) {
  using Sum = typename Functor::Sum;
  CAPTURE(rows);
  CAPTURE(columns);
  check_alike([&](const auto& launcher) {
    // One more of each, which is never written; unwritten values show.
    std::vector<Sum> partials(static_cast<std::size_t>(column_partials(rows, columns)) + 1);
    std::memset(partials.data(), 0xff, partials.size() * sizeof(Sum));
    const Sum last = partials.back();
    std::vector<Sum> out(static_cast<std::size_t>(columns) + 1);
    std::vector<std::uint32_t> finished(kColumnGroups);
    launcher.columns(rows, columns, Functor{in.data(), columns, out.data()}, partials.data(),
                     finished.data());
    CHECK(finished == std::vector<std::uint32_t>(kColumnGroups));
    CHECK(std::memcmp(&partials.back(), &last, sizeof last) == 0);
    return out;
  });
}

TEST_CASE("columns of the CUDA launcher are bit-identical to the CPU's") {
  // Strips have from 4 to 128 rows, a block 16 to 256 of them.
  for (const std::int64_t rows : {0, 1, 4, 5, 127, 128, 129, 511, 512, 513, 4095, 4096, 4097,
                                  8 * 512, 8 * 512 + 1, 17 * 512 + 3, 140'001}) {
    for (const std::int64_t columns : {1, 3}) {
      const auto in = values_of<float>(rows * columns);
      check_columns<test::ColumnMoments>(rows, columns, in);
      check_columns<ColumnSum<float>>(rows, columns, in);
      check_columns<ColumnSum<double>>(rows, columns, values_of<double>(rows * columns));
    }
  }
  for (const std::int64_t columns : {0, 15, 16, 17, 255, 256, 257, 513}) {
    for (const std::int64_t rows : {1, 129, 300, 3001}) {
      check_columns<ColumnSum<double>>(rows, columns, values_of<double>(rows * columns));
    }
  }
}

TEST_CASE("columns of many blocks are bit-identical to the CPU's") {
  // 293 blocks that have 16 strips of 32 rows twice; the last adds 32 of them in a lane.
  constexpr std::int64_t kRows = 300'001, kColumns = 16;
  const ColumnGrid grid = column_grid<ColumnSum<float>>(kRows, kColumns);
  REQUIRE(grid.turns == 2);
  REQUIRE(grid.chunks_of_lane() == 32);
  check_columns<ColumnSum<float>>(kRows, kColumns, values_of<float>(kRows * kColumns));
}

TEST_CASE("columns in packs of the CUDA launcher are bit-identical to the CPU's") {
  for (const std::int64_t columns : {8, 16, 24, 32, 40, 64, 72}) {
    for (const std::int64_t rows : {1, 31, 128, 129, 1000, 9001}) {
      check_columns<ColumnSum<float, 8>>(rows, columns, values_of<float>(rows * columns));
      check_columns<ColumnSum<float, 4>>(rows, columns, values_of<float>(rows * columns));
    }
  }
}

/// The indices of the calls of a launch of which only the last blocks are run. (Threads write to
/// one list, so their accesses are not checked.)
struct Seen {
  std::vector<std::int64_t>* indices;
  void operator()(std::int64_t i) const { indices->push_back(i); }
  template <class Team>
  void operator()(const Team& team, std::int64_t row) const {
    team.once([&] { indices->push_back(row); });
  }
};

std::vector<std::int64_t> indices_up_to(std::int64_t end, std::int64_t begin) {
  std::vector<std::int64_t> list;
  for (std::int64_t i = begin; i < end; ++i) list.push_back(i);
  return list;
}

TEST_CASE("indices beyond 2^32 are counted in 64 bits, up to the largest launch") {
  constexpr std::int64_t kBlocks = emulated::kMostBlocks;
  emulated::set_conduct({.last_blocks = 1, .checked = false});
  std::vector<std::int64_t> seen;
  const CudaLauncher launcher(nullptr);
  for (const std::int64_t n : {(std::int64_t{1} << 32) + 3, kBlocks * kEachThreads - 1}) {
    seen.clear();
    launcher.each(n, Seen{&seen});
    CHECK(seen == indices_up_to(n, (n - 1) / kEachThreads * kEachThreads));
  }
  seen.clear();
  launcher.rows(kBlocks, Seen{&seen});
  CHECK(seen == indices_up_to(kBlocks, kBlocks - 1));
  emulated::set_conduct({});
}

/// Finds 1 in each row of each column, and notes the sums of the last columns.
struct CountRows {
  using Sum = std::int8_t;
  std::vector<std::int64_t>* columns;
  Sum operator()(std::int64_t, std::int64_t) const { return 1; }
  void finish(std::int64_t column, Sum sum) const { columns->push_back(column * 2 + sum); }
};

TEST_CASE("columns beyond 2^32 are counted in 64 bits") {
  constexpr std::int64_t kColumns = (std::int64_t{1} << 32) + 2;
  std::vector<std::int64_t> seen;
  emulated::set_conduct({.last_blocks = 1, .checked = false});
  CudaLauncher(nullptr).columns(1, kColumns, CountRows{&seen}, nullptr, nullptr);
  emulated::set_conduct({});
  CHECK(seen == std::vector<std::int64_t>{kColumns * 2 - 3, kColumns * 2 - 1});
}

TEST_CASE("a launch beyond CUDA's limits is refused before it is made") {
  constexpr std::int64_t kBlocks = emulated::kMostBlocks;
  const CudaLauncher launcher(nullptr);
  std::vector<std::int64_t> seen;
  CHECK_THROWS_AS(launcher.rows(kBlocks + 1, Seen{&seen}), Error);
  CHECK_THROWS_AS(launcher.each(kBlocks * kEachThreads + 1, Seen{&seen}), Error);
  CHECK(seen.empty());
}

TEST_CASE("launches may begin early if both the code and what it was compiled from wait") {
  struct Code {
    int ptx, binary;
    bool waits;
  };
  std::vector<std::int64_t> seen;
  for (const Code code : {Code{80, 80, false}, {80, 90, false}, {90, 90, true}, {90, 120, true}}) {
    CAPTURE(code.binary);
    emulated::set_code(code.ptx, code.binary);
    CudaLauncher(nullptr).rows(1, Seen{&seen});
    CHECK(emulated::last_launch_overlaps() == code.waits);
  }
  emulated::set_code(90, 90);
}

}  // namespace
}  // namespace trainyard
