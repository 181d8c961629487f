// The executor of pooling from its functors (pool.h), for any launcher.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "compute/elementwise/map.h"
#include "compute/executor.h"
#include "compute/pool/pool.h"

namespace trainyard {

/// Both passes of both kinds of pooling. The taps of a maximum are stored in the reserve.
template <class T, class Launcher>
class PoolRows final : public Executor {
 public:
  PoolRows(const StepDescription& step, const Launcher& launcher)
      : launcher_(launcher),
        pass_(step.pass),
        attributes_(op_as<PoolOp>(step).values()),
        maps_(maps_of(step)),
        packs_(in_packs(maps_.input) && in_packs(maps_.output) &&
               maps_.input.padded_channels == maps_.output.padded_channels),
        small_taps_(maps_.h.size * maps_.w.size <= 256) {
    maps_.packs = static_cast<std::uint32_t>(packs_ ? maps_.input.padded_channels / kPack<T>
                                                    : maps_.input.extent[1]);
    const std::int64_t largest = std::max(calls(maps_.h.input, maps_.w.input), output_calls());
    TY_CHECK(largest <= std::numeric_limits<std::uint32_t>::max(),
             "a pooling's elements are counted in 32 bits");
  }
  [[nodiscard]] std::size_t reserve_bytes() const override {
    if (!is_max() || pass_ == Pass::forward_eval) return 0;
    const std::size_t tap = small_taps_ ? sizeof(std::uint8_t) : sizeof(std::int32_t);
    return static_cast<std::size_t>(output_calls()) * (packs_ ? kPack<T> : 1) * tap;
  }
  /// Room for the partial sums of whole maps.
  [[nodiscard]] std::size_t workspace_bytes() const override {
    if (!is_map_mean()) return 0;
    const std::int64_t columns = maps_.input.extent[0] * maps_.input.padded_channels;
    return static_cast<std::size_t>(column_partials(pixels(), columns)) * sizeof(double);
  }
  void bind(const StepTensors& tensors) override {
    partials_ = static_cast<double*>(tensors.workspace);
    finished_ = tensors.batch.finished;
    const bool backward = pass_ == Pass::backward_data;
    input_ = backward ? tensors.input_gradients[0] : tensors.inputs[0];
    output_ = backward ? tensors.output_gradients[0] : tensors.outputs[0];
    taps_ = pass_ == Pass::forward_eval ? nullptr : tensors.reserve;
  }
  void run() override {
    if (is_map_mean()) return sum_maps();
    if (packs_) return run_packs<kPack<T>>();
    run_packs<1>();
    zero_padding<T>(launcher_, pass_ == Pass::backward_data ? input_ : output_);
  }

 private:
  static PoolMaps maps_of(const StepDescription& step) {
    const Layout &input = step.inputs[0], &output = step.outputs[0];
    return {pool_axes(op_as<PoolOp>(step), shape_of(input)), input, output, 1};
  }
  static bool in_packs(const Layout& layout) {
    const auto whole = [](std::int64_t stride) { return stride % kPack<T> == 0; };
    const bool pixels = layout.extent[2] * layout.extent[3] == 1 ||
                        (whole(layout.stride[2]) && whole(layout.stride[3]));
    return layout.block == 1 && layout.stride[1] == 1 && whole(layout.padded_channels) &&
           whole(layout.stride[0]) && pixels;
  }
  [[nodiscard]] bool is_max() const { return attributes_.kind == PoolAttributes::Kind::max; }
  [[nodiscard]] std::int64_t calls(std::int64_t height, std::int64_t width) const {
    return maps_.input.extent[0] * height * width * maps_.packs;
  }
  [[nodiscard]] std::int64_t output_calls() const { return calls(maps_.h.output, maps_.w.output); }
  [[nodiscard]] std::int64_t pixels() const { return maps_.h.input * maps_.w.input; }
  /// True for the output of an average over whole maps.
  [[nodiscard]] bool is_map_mean() const {
    const auto whole = [](const PoolAxis& axis) {
      return axis.output == 1 && axis.size == axis.input && axis.before == 0;
    };
    return packs_ && !is_max() && pass_ != Pass::backward_data && whole(maps_.h) && whole(maps_.w);
  }
  void sum_maps() const {
    launcher_.columns(pixels(), maps_.input.extent[0] * maps_.input.padded_channels,
                      MapMeans<T, kPack<T>>{ChannelRows(maps_.input), maps_.output,
                                            input_.template as<T>(), output_.template as<T>()},
                      partials_, finished_);
  }
  template <int P>
  void run_packs() const {
    if (!is_max()) return average<P>();
    small_taps_ ? maximum<P, std::uint8_t>() : maximum<P, std::int32_t>();
  }
  template <int P, class Tap>
  void maximum() const {
    T* const x = input_.as<T>();
    T* const y = output_.as<T>();
    Tap* const taps = static_cast<Tap*>(taps_);
    if (pass_ == Pass::backward_data) {
      launcher_.each(calls(maps_.h.input, maps_.w.input),
                     MaxPoolGradient<T, P, Tap>{maps_, y, taps, x});
    } else {
      launcher_.each(output_calls(), MaxPoolWindow<T, P, Tap>{maps_, x, y, taps});
    }
  }
  template <int P>
  void average() const {
    T* const x = input_.as<T>();
    T* const y = output_.as<T>();
    if (pass_ == Pass::backward_data) {
      launcher_.each(calls(maps_.h.input, maps_.w.input),
                     AveragePoolGradient<T, P>{maps_, y, x, attributes_.count_pad});
    } else {
      launcher_.each(output_calls(), AveragePoolWindow<T, P>{maps_, x, y, attributes_.count_pad});
    }
  }

  Launcher launcher_;
  Pass pass_;
  PoolAttributes attributes_;
  PoolMaps maps_;
  bool packs_;
  bool small_taps_;
  TensorView input_, output_;  // or their gradients
  void* taps_ = nullptr;
  double* partials_ = nullptr;
  std::uint32_t* finished_ = nullptr;
};

}  // namespace trainyard
