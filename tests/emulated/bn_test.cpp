// Batch norm's functors over shapes of many blocks: the CUDA launcher's kernels on the host
// (grid.h) give the CPU launcher's bits, and sums in f32 lose nothing beside those in double.
#include "exec/functor/bn.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "../kernels/launchers.h"
#include "kernels/cuda_launch.cuh"

namespace trainyard {
namespace {

/// Values around `mean`, spread over [-spread, spread).
template <class T>
std::vector<T> maps(std::int64_t count, double mean, double spread) {
  std::vector<T> list;
  for (const float value : test::values(count)) {
    list.push_back(static_cast<T>(static_cast<Arithmetic<T>>(mean + spread * value)));
  }
  return list;
}

/// One batch norm over [rows, channels], and all that it writes.
template <class T>
class Norm {
 public:
  using A = Arithmetic<T>;

  Norm(std::int64_t rows, std::int64_t channels, double mean, double spread)
      : rows_(channels_last_layout({rows, channels, 1, 1}, kPack<T>)),
        x_(maps<T>(rows * rows_.padded, mean, spread)),
        z_(maps<T>(rows * rows_.padded, 0, spread)),
        dy_(maps<T>(rows * rows_.padded, 0.1, 1)),
        y_(x_.size()),
        dx_(x_.size()),
        kept_(x_.size()),
        constants_(static_cast<std::size_t>(5 * rows_.padded)),
        statistics_(static_cast<std::size_t>(4 * channels)),
        partials_(static_cast<std::size_t>(column_partials(rows, rows_.padded))),
        finished_(kColumnGroups) {
    for (std::int64_t row = 0; row < rows; ++row) {  // padding is zero
      for (std::int64_t c = channels; c < rows_.padded; ++c) {
        for (auto* map : {&x_, &z_, &dy_})
          (*map)[static_cast<std::size_t>(row * rows_.padded + c)] = T{};
      }
    }
  }

  template <int P, bool kResidual, class Launcher>
  void run(const Launcher& launcher) {
    const auto factors = ChannelFactors<A>::at(constants_.data(), rows_.padded);
    const double count = static_cast<double>(rows_.count);
    A* const statistics = statistics_.data();
    const SettleMoments<A> moments{statistics,
                                   statistics + rows_.channels,
                                   {nullptr, nullptr, A(1e-3), rows_.channels, factors},
                                   count,
                                   count,
                                   nullptr};
    launcher.columns(rows_.count, rows_.padded, BatchMoments<T, P>{rows_, x_.data(), moments},
                     partials_.data(), finished_.data());
    launcher.each(bn_calls<P>(rows_), NormaliseRows<T, P, true, kResidual>{
                                          rows_, rows_, x_.data(), z_.data(), y_.data(), factors});
    SettleGradients<A> settle{};
    settle.variance = statistics + rows_.channels;
    settle.eps = A(1e-3);
    settle.gamma_gradient = statistics + 2 * rows_.channels;
    settle.beta_gradient = statistics + 3 * rows_.channels;
    settle.channels = rows_.channels;
    settle.factors = GradientFactors<A>::at(constants_.data() + 3 * rows_.padded, rows_.padded);
    settle.all = count;
    GradientRows<T> tensors{rows_, rows_, x_.data(), dy_.data(), factors};
    constexpr ReluCut kCut = kResidual ? ReluCut::kept : ReluCut::by_input;
    launcher.columns(rows_.count, rows_.padded,
                     GradientSums<T, P, kCut>{tensors, {y_.data(), kept_.data()}, settle},
                     partials_.data(), finished_.data());
    if (kResidual) tensors.dy = kept_.data();
    launcher.each(bn_calls<P>(rows_),
                  InputGradientRows<T, P, !kResidual, false>{tensors, settle.factors, dx_.data()});
    if constexpr (!kResidual) {
      launcher.each(bn_calls<P>(rows_),
                    InputGradientRows<T, P, true, true>{tensors, settle.factors, dx_.data()});
    }
    CHECK(finished_ == std::vector<std::uint32_t>(kColumnGroups));
  }

  bool operator==(const Norm& other) const {
    const auto same = [](const auto& one, const auto& two) {
      return std::memcmp(one.data(), two.data(), one.size() * sizeof one[0]) == 0;
    };
    return same(y_, other.y_) && same(dx_, other.dx_) && same(kept_, other.kept_) &&
           same(constants_, other.constants_) && same(statistics_, other.statistics_);
  }

  void check_moments() const {
    for (std::int64_t c = 0; c < rows_.channels; ++c) {
      double mean = 0, variance = 0;
      for (std::int64_t row = 0; row < rows_.count; ++row) mean += at(row, c);
      mean /= static_cast<double>(rows_.count);
      for (std::int64_t row = 0; row < rows_.count; ++row) {
        variance += (at(row, c) - mean) * (at(row, c) - mean);
      }
      variance /= static_cast<double>(rows_.count);
      // The mean is rounded once more; the strips' roundings are of the size of the spread.
      CHECK(std::abs(statistics_[static_cast<std::size_t>(c)] - mean) <=
            0x1p-23 * std::abs(mean) + 0x1p-24 * std::sqrt(variance));
      CHECK(std::abs(statistics_[static_cast<std::size_t>(rows_.channels + c)] - variance) <=
            0x1p-21 * variance);
    }
  }

 private:
  [[nodiscard]] double at(std::int64_t row, std::int64_t c) const {
    return static_cast<double>(
        static_cast<A>(x_[static_cast<std::size_t>(row * rows_.padded + c)]));
  }

  ChannelRows rows_;
  std::vector<T> x_, z_, dy_, y_, dx_, kept_;
  std::vector<A> constants_, statistics_;
  std::vector<PairSum> partials_;
  std::vector<std::uint32_t> finished_;
};

template <class T, int P, bool kResidual>
void check_alike(std::int64_t rows, std::int64_t channels) {
  CAPTURE(rows);
  CAPTURE(channels);
  const Norm<T> start(rows, channels, 0.5, 2);
  Norm<T> expected = start;
  expected.template run<P, kResidual>(CpuLauncher(2));
  Norm<T> narrow = start;
  narrow.template run<P, kResidual>(CpuLauncher(1, Vectors::narrow));
  CHECK(narrow == expected);
  for (const emulated::Conduct& conduct : emulated::kConducts) {
    emulated::set_conduct(conduct);
    Norm<T> found = start;
    found.template run<P, kResidual>(CudaLauncher(nullptr));
    CHECK(found == expected);
  }
  emulated::set_conduct({});
}

TEST_CASE_TEMPLATE("batch norm of many blocks is bit-identical to the CPU's", T, float, BFloat16,
                   Float16, double) {
  for (const std::int64_t rows : {1, 129, 3000}) {
    for (const std::int64_t channels : {3, 20, 72}) {
      check_alike<T, kPack<T>, false>(rows, channels);
      check_alike<T, kPack<T>, true>(rows, channels);
      check_alike<T, 1, false>(rows, channels);
      check_alike<T, 1, true>(rows, channels);
    }
  }
}

TEST_CASE_TEMPLATE("sums in f32 lose nothing beside a large mean", T, float, BFloat16) {
  // The spread is a few units of the mean's last place: nothing of a sum of squares around zero
  // would be left.
  const double unit = sizeof(T) == 4 ? 0x1p-23 : 0x1p-7;
  for (const double mean : {0.0, 1.0, -1000.0}) {
    for (const std::int64_t rows : {100, 70'000}) {
      CAPTURE(mean);
      CAPTURE(rows);
      Norm<T> norm(rows, 9, mean, mean == 0 ? 1 : 64 * unit * std::abs(mean));
      norm.template run<kPack<T>, false>(CpuLauncher(2));
      norm.check_moments();
    }
  }
}

}  // namespace
}  // namespace trainyard
