// Batch norm's functors over shapes of many blocks: the CUDA launcher's kernels on the host
// (grid.h) give the CPU launcher's bits, and sums in f32 lose nothing beside those in double.
#include "compute/norm/bn.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "../launcher/launchers.h"
#include "launcher/cuda_launch.cuh"

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

  /// With sums that columns() finishes.
  template <int P, bool kResidual, class Launcher>
  void run(const Launcher& launcher) {
    const auto sum = [&](const auto& f) {
      launcher.columns(rows_.count, rows_.padded, f, partials_.data(), finished_.data());
    };
    const auto each = [&](const auto& f) { launcher.each(f.calls().all(), f); };
    sum(moments<P>());
    each(normalise<P, kResidual>());
    sum(gradient_sums<P, kResidual>());
    each(input_gradient<P, kResidual, false>());
    if constexpr (!kResidual) each(input_gradient<P, false, true>());
    CHECK(finished_ == std::vector<std::uint32_t>(kColumnGroups));
  }

  /// Runs several norms, each of which has siblings in all launches.
  template <class Launcher>
  static void run_siblings(const Launcher& launcher, std::vector<Norm>& norms) {
    std::vector<std::uint32_t> finished(kMostSiblings * kColumnGroups);
    const auto sum = [&](const auto& f_of) {
      using F = decltype(f_of(norms[0]));
      launcher.columns(calls(norms,
                             [&](Norm& norm) {
                               return norm.sums(column_grid<F>(norm.rows_.count, norm.rows_.padded),
                                                f_of(norm));
                             }),
                       finished.data());
    };
    const auto each = [&](const auto& f_of) {
      launcher.each(calls(norms, [&](Norm& norm) {
        const auto f = f_of(norm);
        return EachCall<std::decay_t<decltype(f)>>{f.calls().all(), f};
      }));
    };
    sum(moments_of);
    each(normalise_of<false>);
    sum(gradient_sums_of<false>);
    each(input_gradient_of<false, false>);
    each(input_gradient_of<false, true>);
    CHECK(finished == std::vector<std::uint32_t>(kMostSiblings * kColumnGroups));
  }

  /// The same with sums that are left and finished by those that read them.
  template <bool kResidual>
  static void run_settled(const CudaLauncher& launcher, std::vector<Norm>& norms) {
    const auto both = [&](const auto& sums_of, const auto& settle_of, const auto& rows_of) {
      launcher.columns(
          calls(norms, [&](Norm& norm) { return norm.sums(norm.left(), sums_of(norm)); }), nullptr);
      launcher.settled(calls(norms, [&](Norm& norm) {
        using Call = SettledCall<decltype(settle_of(norm)), decltype(rows_of(norm))>;
        return Call{norm.left(), norm.partials_.data(), settle_of(norm), rows_of(norm)};
      }));
    };
    const auto settle_of = [](Norm& norm) { return norm.settle_gradients(); };
    both(moments_of, moments_of, normalise_of<kResidual>);
    both(gradient_sums_of<kResidual>, settle_of, input_gradient_of<kResidual, false>);
    if constexpr (!kResidual)
      both(gradient_sums_of<false>, settle_of, input_gradient_of<false, true>);
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
      // The mean is rounded once more; the groups' roundings are of the size of the spread.
      CHECK(std::abs(statistics_[static_cast<std::size_t>(c)] - mean) <=
            0x1p-23 * std::abs(mean) + 0x1p-24 * std::sqrt(variance));
      CHECK(std::abs(statistics_[static_cast<std::size_t>(rows_.channels + c)] - variance) <=
            0x1p-21 * variance);
    }
  }

 private:
  template <int P>
  auto moments() {
    const double count = static_cast<double>(rows_.count);
    A* const statistics = statistics_.data();
    return BatchMoments<T, P>{rows_,
                              x_.data(),
                              {statistics,
                               statistics + rows_.channels,
                               {nullptr, nullptr, A(1e-3), rows_.channels, factors()},
                               count,
                               count,
                               nullptr}};
  }
  template <int P, bool kResidual>
  auto normalise() {
    return NormaliseRows<T, P, true, kResidual>{rows_,     rows_,     x_.data(),
                                                z_.data(), y_.data(), factors()};
  }
  template <int P, bool kResidual>
  auto gradient_sums() {
    using F = GradientSums<T, P, kResidual ? ReluCut::kept : ReluCut::by_input>;
    return F{rows(dy_), {y_.data(), kept_.data()}, settle_gradients()};
  }
  SettleGradients<A> settle_gradients() {
    SettleGradients<A> settle{};
    settle.variance = statistics_.data() + rows_.channels;
    settle.eps = A(1e-3);
    settle.gamma_gradient = statistics_.data() + 2 * rows_.channels;
    settle.beta_gradient = statistics_.data() + 3 * rows_.channels;
    settle.channels = rows_.channels;
    settle.factors = gradient_factors();
    settle.all = static_cast<double>(rows_.count);
    return settle;
  }
  template <int P, bool kResidual, bool kAdds>
  auto input_gradient() {
    using F = InputGradientRows<T, P, !kResidual, kAdds>;
    return F{rows(kResidual ? kept_ : dy_), gradient_factors(), dx_.data()};
  }

  // Moments of a norm in packs.
  static auto moments_of(Norm& norm) { return norm.template moments<kPack<T>>(); }
  template <bool kResidual>
  static auto normalise_of(Norm& norm) {
    return norm.template normalise<kPack<T>, kResidual>();
  }
  template <bool kResidual>
  static auto gradient_sums_of(Norm& norm) {
    return norm.template gradient_sums<kPack<T>, kResidual>();
  }
  template <bool kResidual, bool kAdds>
  static auto input_gradient_of(Norm& norm) {
    return norm.template input_gradient<kPack<T>, kResidual, kAdds>();
  }
  template <class CallOf>
  static auto calls(std::vector<Norm>& norms, const CallOf& call_of) {
    Siblings<decltype(call_of(norms[0]))> list;
    for (Norm& norm : norms) list.add(call_of(norm));
    return list;
  }
  template <class F>
  ColumnsCall<F> sums(const ColumnGrid& grid, const F& f) {
    return {grid, f, partials_.data()};
  }
  [[nodiscard]] ColumnGrid left() const {
    return left_grid<BatchMoments<T, kPack<T>>>(rows_.count, rows_.padded);
  }
  ChannelFactors<A> factors() { return ChannelFactors<A>::at(constants_.data(), rows_.padded); }
  GradientFactors<A> gradient_factors() {
    return GradientFactors<A>::at(constants_.data() + 3 * rows_.padded, rows_.padded);
  }
  GradientRows<T> rows(const std::vector<T>& dy) {
    return {rows_, rows_, x_.data(), dy.data(), factors()};
  }
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
    if constexpr (P > 1) {
      std::vector<Norm<T>> settled{start};
      Norm<T>::template run_settled<kResidual>(CudaLauncher(nullptr), settled);
      CHECK(settled[0] == expected);
    }
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

TEST_CASE_TEMPLATE("batch norms in one launch have the bits of launches of their own", T, float,
                   BFloat16, Float16) {
  // One block to many, some of them not whole, in one chunk or several.
  const std::vector<std::int64_t> channels{20, 72, 8, 40};
  for (std::size_t count = 1; count <= channels.size(); ++count) {
    for (const std::int64_t rows : {1, 129, 3000}) {
      CAPTURE(count);
      CAPTURE(rows);
      std::vector<Norm<T>> start;
      for (std::size_t i = 0; i < count; ++i) start.emplace_back(rows, channels[i], 0.5 + i, 2);
      std::vector<Norm<T>> expected = start;
      for (Norm<T>& norm : expected) norm.template run<kPack<T>, false>(CudaLauncher(nullptr));
      std::vector<Norm<T>> serial = start;
      Norm<T>::run_siblings(CpuLauncher(2), serial);
      CHECK(serial == expected);
      for (const emulated::Conduct& conduct : emulated::kConducts) {
        emulated::set_conduct(conduct);
        std::vector<Norm<T>> found = start;
        Norm<T>::run_siblings(CudaLauncher(nullptr), found);
        CHECK(found == expected);
        std::vector<Norm<T>> settled = start;
        Norm<T>::template run_settled<false>(CudaLauncher(nullptr), settled);
        CHECK(settled == expected);
      }
      emulated::set_conduct({});
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
