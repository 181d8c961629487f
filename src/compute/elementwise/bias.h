// The bias of convolutions and dense layers as functors over rows of channels, for cases in which
// the library does not add it. And the backward step of a ReLU behind such a layer: the ReLU's
// gradient and the sums of it that are the bias's gradient, in one pass. Its gain is that of
// plan/relus.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "base/half.h"
#include "compute/channel_rows.h"
#include "compute/elementwise/map.h"
#include "compute/executor.h"
#include "launcher/columns.h"
#include "ops/activation.h"

namespace trainyard {

/// y += bias, in place, and with kRelu y = max(y, 0). One call does P channels of a row; padding is
/// unchanged.
template <class T, int P, bool kRelu>
struct AddBiasRows {
  using A = Arithmetic<T>;
  ChannelRows rows;
  T* y;
  const A* bias;  // [channels]

  TY_HD void operator()(std::int64_t i) const {
    const std::uint32_t packs = static_cast<std::uint32_t>((rows.channels + P - 1) / P);
    const std::uint32_t row = static_cast<std::uint32_t>(i) / packs;
    const std::int64_t c = (static_cast<std::uint32_t>(i) - row * packs) * P;
    T* const at = y + rows.offset(row) + c * rows.channel_stride;
    Pack<T, P> value = load_pack<T, P>(at);
    TY_UNROLL
    for (int k = 0; k < P; ++k) {
      if (P > 1 && c + k >= rows.channels) break;
      const A sum = static_cast<A>(value.value[k]) + bias[c + k];
      value.value[k] = static_cast<T>(kRelu ? Relu{}.value(sum) : sum);
    }
    store_pack<T, P>(at, value);
  }
};

/// Launches AddBiasRows, in packs if the layout has whole ones.
template <class T, class Launcher>
void add_bias_rows(const Launcher& launcher, const ChannelRows& rows, T* y,
                   const Arithmetic<T>* bias, bool relu) {
  const auto launch = [&]<int P, bool kRelu>() {
    launcher.each(rows.count * ((rows.channels + P - 1) / P),
                  AddBiasRows<T, P, kRelu>{rows, y, bias});
  };
  if (rows.packs(kPack<T>)) {
    relu ? launch.template operator()<kPack<T>, true>()
         : launch.template operator()<kPack<T>, false>();
  } else {
    relu ? launch.template operator()<1, true>() : launch.template operator()<1, false>();
  }
}

/// bias_gradient[c] = sum of dy over the rows: in the arithmetic type within a strip of at most 32
/// rows, then in double. A column is a channel.
template <class T, int P>
struct BiasGradientRows {
  using A = Arithmetic<T>;
  using Sum = double;
  static constexpr int kColumns = P;
  static constexpr std::int64_t kStripRows = 32;
  static constexpr int kLoads = 8;  // loads of a thread in flight
  ChannelRows rows;
  const T* dy;
  A* gradient;  // [channels]

  TY_HD void add(std::int64_t begin, std::int64_t end, std::int64_t c, std::int64_t count,
                 double* sums) const {
    for (std::int64_t k = 0; k < count; k += P) add_pack(begin, end, c + k, sums + k);
  }
  TY_HD void finish(std::int64_t c, double sum) const {
    if (c < rows.channels) gradient[c] = static_cast<A>(sum);
  }

 private:
  TY_HD void add_pack(std::int64_t begin, std::int64_t end, std::int64_t c, double* sums) const {
    A total[P] = {};
    add_staged<kLoads>(
        begin, end, [&](std::int64_t row) { return rows.template row<P, P>(dy, row, c); },
        [&](std::int64_t, const RowPacks<T, P, P>& values) {
          TY_UNROLL
          for (int k = 0; k < P; ++k) total[k] += static_cast<A>(values[k]);
        });
    TY_UNROLL
    for (int k = 0; k < P; ++k) sums[k] += static_cast<double>(total[k]);
  }
};

/// Launches BiasGradientRows, in packs if the layout has whole ones.
template <class T, class Launcher>
void sum_bias_gradient(const Launcher& launcher, const ChannelRows& rows, const T* dy,
                       Arithmetic<T>* gradient, double* partials, std::uint32_t* finished) {
  if (rows.packs(kPack<T>)) {
    launcher.columns(rows.count, rows.padded, BiasGradientRows<T, kPack<T>>{rows, dy, gradient},
                     partials, finished);
  } else {
    launcher.columns(rows.count, rows.channels, BiasGradientRows<T, 1>{rows, dy, gradient},
                     partials, finished);
  }
}
/// Partial sums that it needs.
inline std::int64_t bias_partials(const ChannelRows& rows) {
  return column_partials(rows.count, rows.padded);
}

/// dx = dy where y > 0, else 0; dx may be dy. bias_gradient[c] = sum of dx over the rows, in the
/// order of BiasGradientRows. A column is a channel, those of the padding included.
template <class T, int P>
struct ReluBiasRows {
  using A = Arithmetic<T>;
  using Sum = double;
  static constexpr int kColumns = P;
  static constexpr std::int64_t kStripRows = BiasGradientRows<T, P>::kStripRows;
  static constexpr int kLoads = 4;  // loads of each tensor, of a thread, in flight
  ChannelRows rows;
  const T* y;
  const T* dy;
  T* dx;
  A* gradient;  // [channels]

  TY_HD void add(std::int64_t begin, std::int64_t end, std::int64_t c, std::int64_t count,
                 double* sums) const {
    for (std::int64_t k = 0; k < count; k += P) add_pack(begin, end, c + k, sums + k);
  }
  TY_HD void finish(std::int64_t c, double sum) const {
    if (c < rows.channels) gradient[c] = static_cast<A>(sum);
  }

 private:
  struct Loaded {
    RowPacks<T, P, P> y, dy;
  };

  TY_HD void add_pack(std::int64_t begin, std::int64_t end, std::int64_t c, double* sums) const {
    A total[P] = {};
    const auto load = [&](std::int64_t row) {
      return Loaded{rows.template row<P, P>(y, row, c), rows.template row<P, P>(dy, row, c)};
    };
    add_staged<kLoads>(begin, end, load, [&](std::int64_t row, const Loaded& loaded) {
      RowPacks<T, P, P> out;
      TY_UNROLL
      for (int k = 0; k < P; ++k) {
        const A open = Relu{}.gradient(static_cast<A>(loaded.dy[k]), static_cast<A>(loaded.y[k]));
        out.set(k, static_cast<T>(open));
        total[k] += open;
      }
      rows.template store_row<P, P>(dx, row, c, out);
    });
    TY_UNROLL
    for (int k = 0; k < P; ++k) sums[k] += static_cast<double>(total[k]);
  }
};

template <class T, class Launcher>
class ReluBias final : public Executor {
 public:
  ReluBias(const StepDescription& step, const Launcher& launcher)
      : launcher_(launcher), rows_(step.inputs[0]) {
    TY_CHECK(same_memory(step.inputs[0], step.outputs[0]), "an absorbed ReLU keeps the layout");
  }
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(bias_partials(rows_)) * sizeof(double);
  }
  void bind(const StepTensors& tensors) override { tensors_ = tensors; }
  void run() override { rows_.packs(kPack<T>) ? launch<kPack<T>>() : launch<1>(); }

 private:
  template <int P>
  void launch() const {
    launcher_.columns(
        rows_.count, rows_.padded,
        ReluBiasRows<T, P>{rows_, tensors_.outputs[0].template as<T>(),
                           tensors_.output_gradients[0].template as<T>(),
                           tensors_.input_gradients[0].template as<T>(),
                           tensors_.parameter_gradients[0].template as<Arithmetic<T>>()},
        static_cast<double*>(tensors_.workspace), tensors_.batch.finished);
  }

  Launcher launcher_;
  ChannelRows rows_;
  StepTensors tensors_;
};

/// The executor of a step with StepForm::sums_layer_bias() on a launcher.
template <class Launcher>
[[nodiscard]] ExecutorPtr make_relu_bias_on(const Launcher& launcher, const StepDescription& step) {
  return
      typename Launcher::Floats{}(step.storage, [&]<class T>(std::type_identity<T>) -> ExecutorPtr {
        return std::make_unique<ReluBias<T, Launcher>>(step, launcher);
      });
}

}  // namespace trainyard
