// Kernels that note when they run, on the host (grid.h): every form of launch notes the first
// block's begin and the last one's end, and computes the same bits as without.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "../launcher/functors.h"
#include "../launcher/launchers.h"
#include "launcher/cuda_launch.cuh"

namespace trainyard {
namespace {

using test::values;

static_assert(kTimesNodes);

/// What every form of launch writes, one after the other.
std::vector<float> run_all_forms(const auto& launcher) {
  constexpr std::int64_t kRows = 300, kWidth = 17;
  const std::vector<float> in = values(kRows * kWidth);
  std::vector<float> out(in.size()), sums(kRows), maxima(kRows), total(1);
  std::vector<test::Moments> moments(kWidth),
      partials(static_cast<std::size_t>(column_partials(kRows, kWidth)));
  std::vector<std::uint32_t> finished(kColumnGroups);
  launcher.each(kRows * kWidth, test::Wave{in.data(), out.data()});
  launcher.rows(kRows, test::RowSums{in.data(), kWidth, sums.data(), maxima.data()});
  launcher.finished_rows(kRows,
                         test::TotalOfRows{in.data(), kRows, kWidth, sums.data(), total.data()},
                         finished.data());
  launcher.columns(kRows, kWidth, test::ColumnMoments{in.data(), kWidth, moments.data()},
                   partials.data(), finished.data());
  for (const auto* more : {&sums, &maxima, &total})
    out.insert(out.end(), more->begin(), more->end());
  for (const test::Moments& moment : moments) out.push_back(moment.sum + moment.squares);
  return out;
}

TEST_CASE("launches note begin and end in their own span, in order, and compute the same") {
  const std::vector<float> expected = run_all_forms(CpuLauncher(1));
  std::vector<NodeSpan> spans(8, kNoSpan);
  std::vector<NodeSpans::Launch> launches;
  std::vector<float> out;
  const int stream = 0;
  {
    NodeSpans collecting(spans.data(), spans.size());
    out = run_all_forms(CudaLauncher(reinterpret_cast<cudaStream_t>(const_cast<int*>(&stream))));
    launches = collecting.take();
  }
  REQUIRE(out.size() == expected.size());
  CHECK(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0);
  REQUIRE(launches.size() == 4);
  const char* const functors[] = {"Wave", "RowSums", "TotalOfRows", "ColumnMoments"};
  unsigned long long before = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    CAPTURE(i);
    CHECK(launches[i].functor == functors[i]);
    CHECK(launches[i].stream == &stream);
    CHECK(spans[i].begin > before);
    // A launch of several blocks: each reads the timer twice.
    CHECK(spans[i].end > spans[i].begin + 1);
    before = spans[i].end;
  }
  CHECK(spans[4].begin == kNoSpan.begin);
  CHECK(spans[4].end == kNoSpan.end);
}

/// Elements of two lists, by one launch.
struct Doubled {
  static constexpr bool kSiblings = true;
  float* values;
  TY_HD void operator()(std::int64_t i) const { values[i] *= 2; }
};

TEST_CASE("siblings have one span, with their functor's name") {
  std::vector<float> one(300, 1.0F), two(5, 2.0F);
  Siblings<EachCall<Doubled>> calls;
  calls.add({300, {one.data()}});
  calls.add({5, {two.data()}});
  std::vector<NodeSpan> spans(2, kNoSpan);
  {
    NodeSpans collecting(spans.data(), spans.size());
    CudaLauncher(nullptr).each(calls);
    const std::vector<NodeSpans::Launch> launches = collecting.take();
    REQUIRE(launches.size() == 1);
    CHECK(launches[0].functor == "Doubled");
  }
  CHECK(spans[0].end > spans[0].begin);
  CHECK(one == std::vector<float>(300, 2.0F));
  CHECK(two == std::vector<float>(5, 4.0F));
}

TEST_CASE("launches beyond the spans, and those of no measurement, have none") {
  std::vector<NodeSpan> spans(2, kNoSpan);
  {
    NodeSpans collecting(spans.data(), 1);
    static_cast<void>(run_all_forms(CudaLauncher(nullptr)));
    CHECK(collecting.take().size() == 1);
  }
  CHECK(spans[0].end > spans[0].begin);
  CHECK(spans[1].end == 0);
  CHECK(NodeSpans::of_launch("Wave", nullptr) == nullptr);
}

}  // namespace
}  // namespace trainyard
