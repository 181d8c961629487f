// The CUDA launcher against the CPU launcher: bit-identical.
#include <doctest/doctest.h>

#include <cmath>

#include "gpu.h"
#include "gpu_array.h"
#include "launchers.h"

namespace trainyard::test {
namespace {

TEST_CASE("each on a GPU is bit-identical to the CPU" * doctest::skip(no_gpu())) {
  Gpu gpu;
  for (const std::int64_t n : {1, 7, 255, 256, 257, 100003}) {
    const std::vector<float> in = values(n);
    std::vector<float> expected(in.size(), std::nanf(""));
    CpuLauncher(1).each(n, Wave{in.data(), expected.data()});
    const GpuArray<float> from(gpu, in), to(gpu, std::vector<float>(in.size(), std::nanf("")));
    launch_each(gpu.stream(), n, Wave{from.data(), to.data()});
    CHECK(to.read() == expected);
  }
}

TEST_CASE("no elements are no launch" * doctest::skip(no_gpu())) {
  Gpu gpu;
  launch_each(gpu.stream(), 0, Wave{nullptr, nullptr});
  launch_rows(gpu.stream(), 0, RowSums{nullptr, 3, nullptr, nullptr});
  CHECK_NOTHROW(gpu.queue->wait());
}

TEST_CASE("sums and maxima of rows on a GPU are bit-identical to the CPU" *
          doctest::skip(no_gpu())) {
  Gpu gpu;
  const std::int64_t rows = 13;
  for (const std::int64_t width : {1, 31, 127, 128, 129, 1000}) {
    const std::vector<float> in = values(rows * width);
    std::vector<float> sums(rows), maxima(rows);
    CpuLauncher(1).rows(rows, RowSums{in.data(), width, sums.data(), maxima.data()});
    const GpuArray<float> from(gpu, in);
    const GpuArray<float> gpu_sums(gpu, std::vector<float>(rows)), gpu_maxima(gpu, gpu_sums.read());
    launch_rows(gpu.stream(), rows,
                RowSums{from.data(), width, gpu_sums.data(), gpu_maxima.data()});
    CHECK(gpu_sums.read() == sums);
    CHECK(gpu_maxima.read() == maxima);
  }
}

TEST_CASE("the end of rows on a GPU sees what all rows wrote, launch after launch" *
          doctest::skip(no_gpu())) {
  Gpu gpu;
  const std::int64_t width = 130;
  const GpuArray<std::uint32_t> finished(gpu, {0});
  for (const std::int64_t rows : {0, 1, 13, 4001}) {
    const std::vector<float> in = values(rows * width);
    std::vector<float> sums(static_cast<std::size_t>(rows) + 1), total(1);
    const GpuArray<float> from(gpu, in), gpu_sums(gpu, sums), gpu_total(gpu, total);
    for (int launch = 0; launch < 3; ++launch) {
      CpuLauncher(1).finished_rows(
          rows, TotalOfRows{in.data(), rows, width, sums.data(), total.data()}, nullptr);
      launch_finished_rows(gpu.stream(), rows,
                           TotalOfRows{from.data(), rows, width, gpu_sums.data(), gpu_total.data()},
                           finished.data());
    }
    CHECK(gpu_sums.read() == sums);
    CHECK(gpu_total.read() == total);
    CHECK(finished.read()[0] == 0);
  }
}

struct Size {
  std::int64_t rows, columns;
};

TEST_CASE("sums of columns on a GPU are bit-identical to the CPU" * doctest::skip(no_gpu())) {
  Gpu gpu;
  for (const Size size : {Size{1, 1}, {127, 15}, {129, 17}, {1000, 33}, {5, 300}, {40961, 3}}) {
    const std::vector<float> in = values(size.rows * size.columns);
    std::vector<Moments> partials(
        static_cast<std::size_t>(column_partials(size.rows, size.columns)));
    std::vector<Moments> out(static_cast<std::size_t>(size.columns));
    const GpuArray<float> from(gpu, in);
    const GpuArray<Moments> gpu_partials(gpu, partials), gpu_out(gpu, out);
    const GpuArray<std::uint32_t> finished(gpu, std::vector<std::uint32_t>(kColumnGroups));
    CpuLauncher(1).columns(size.rows, size.columns,
                           ColumnMoments{in.data(), size.columns, out.data()}, partials.data(),
                           nullptr);
    for (int launch = 0; launch < 2; ++launch) {
      launch_columns(gpu.stream(), size.rows, size.columns,
                     ColumnMoments{from.data(), size.columns, gpu_out.data()}, gpu_partials.data(),
                     finished.data());
    }
    CHECK(finished.read() == std::vector<std::uint32_t>(kColumnGroups));
    const std::vector<Moments> found = gpu_out.read();
    for (std::size_t c = 0; c < out.size(); ++c) {
      CHECK(found[c].sum == out[c].sum);
      CHECK(found[c].squares == out[c].squares);
    }
  }
}

}  // namespace
}  // namespace trainyard::test
