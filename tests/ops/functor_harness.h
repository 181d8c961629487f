// Tensors of any layout with guards around them, and one call to run a functor op on them.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/philox.h"
#include "compute/elementwise/functor.h"
#include "launcher/launch.h"
#include "ops/op.h"

namespace trainyard::test {

/// A layout, and the offset of its first element in its memory (slices begin late).
struct StoredLayout {
  std::string name;
  Layout layout;
  std::int64_t first = 0;
};

/// Plain, blocked, channels-last and channel-slice layouts of one shape [n, c, h, w].
inline std::vector<StoredLayout> stored_layouts(const Shape& shape) {
  const Shape wide = shape.with(1, shape.c() + 24);
  const Layout plain = plain_layout(wide), blocked = blocked_layout(wide, 8);
  const Layout last = channels_last_layout(wide, 1);
  return {{"plain", plain_layout(shape)},
          {"blocked by 16", blocked_layout(shape, 16)},
          {"blocked by 8", blocked_layout(shape, 8)},
          {"channels last", channels_last_layout(shape, 1)},
          {"channels last, padded", channels_last_layout(shape, 8)},
          {"slice of plain", channel_slice(plain, 8, shape.c()), plain.offset(0, 8, 0, 0)},
          {"slice of blocked", channel_slice(blocked, 8, shape.c()), blocked.offset(0, 8, 0, 0)},
          {"slice of channels last", channel_slice(last, 8, shape.c()), last.offset(0, 8, 0, 0)}};
}

/// A tensor in its own memory. Guards and the rest of a sliced tensor hold kGuard; its elements and
/// padding begin as NaN (0 for integers).
template <class T>
class Tensor {
 public:
  static constexpr T kGuard = T(97);

  explicit Tensor(const StoredLayout& stored) : stored_(stored) {
    const auto around = static_cast<std::size_t>(stored.first + kMargin);
    memory_.assign(around + static_cast<std::size_t>(span_elements(stored.layout)) + kMargin,
                   kGuard);
    each_owned([&](T& value) { value = std::numeric_limits<T>::quiet_NaN(); });
  }
  /// Filled as an op would leave it: elements from `list` in n, c, h, w order, padding zero.
  Tensor(const StoredLayout& stored, const std::vector<double>& list) : Tensor(stored) {
    each_owned([&](T& value) { value = T(0); });
    std::size_t next = 0;
    each_element([&](T& value) { value = static_cast<T>(list[next++ % list.size()]); });
  }

  [[nodiscard]] TensorView view() { return {first(), DTypeOf<T>::value, stored_.layout}; }
  /// The elements in n, c, h, w order.
  [[nodiscard]] std::vector<T> elements() {
    std::vector<T> list;
    each_element([&](T& value) { list.push_back(value); });
    return list;
  }
  /// True if padding is zero and nothing outside the tensor was written.
  [[nodiscard]] bool is_clean() {
    std::vector<T> copy = memory_;
    each_element([&](T& value) { value = T(0); });
    bool clean = true;
    each_owned([&](T& value) {
      clean = clean && value == T(0);
      value = kGuard;
    });
    for (const T value : memory_) clean = clean && value == kGuard;
    memory_ = copy;
    return clean;
  }

 private:
  static constexpr std::int64_t kMargin = 64;

  T* first() { return memory_.data() + kMargin + stored_.first; }
  template <class F>
  void each_channel(std::int64_t channels, const F& f) {
    const Layout& layout = stored_.layout;
    for (std::int64_t n = 0; n < layout.extent[0]; ++n)
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t h = 0; h < layout.extent[2]; ++h)
          for (std::int64_t w = 0; w < layout.extent[3]; ++w) f(first()[layout.offset(n, c, h, w)]);
  }
  template <class F>
  void each_element(const F& f) {
    each_channel(stored_.layout.extent[1], f);
  }
  /// Elements and padding.
  template <class F>
  void each_owned(const F& f) {
    each_channel(stored_.layout.padded_channels, f);
  }

  StoredLayout stored_;
  std::vector<T> memory_;
};

/// `count` values in [-range, range).
inline std::vector<double> draws(std::int64_t count, double range) {
  std::vector<double> list;
  for (std::int64_t i = 0; i < count; ++i) {
    const Random4 draw = random4(11, RandomStream::synthetic, 0, 0, static_cast<std::uint64_t>(i));
    list.push_back(range * (2.0 * uniform01(draw.word[0]) - 1));
  }
  return list;
}

/// A GPU's threads, one after the other: packs of neighbours, and rows by a team of many threads.
class ThreadLauncher : public CpuLauncher {
 public:
  struct Team : CpuTeam {
    static constexpr bool kSerial = false;
  };
  static constexpr bool kPacks = true;

  ThreadLauncher() : CpuLauncher(1) {}
  template <class F>
  void rows(std::int64_t n, const F& f) const {
    for (std::int64_t row = 0; row < n; ++row) f(Team{}, row);
  }
};

/// Runs one pass of a functor op.
inline void run(const Op& op, Pass pass, DType type, const StepTensors& tensors, int threads = 1,
                std::uint32_t node = 0) {
  StepDescription step{.op = &op, .pass = pass, .storage = type, .node = node, .threads = threads};
  const auto layouts = [](const auto& values, const auto& gradients) {
    std::vector<Layout> list;
    for (const TensorView& view : values.empty() ? gradients : values) list.push_back(view.layout);
    return list;
  };
  step.inputs = layouts(tensors.inputs, tensors.input_gradients);
  step.outputs = layouts(tensors.outputs, tensors.output_gradients);
  const std::unique_ptr<Executor> executor = make_functor_executor(step);
  REQUIRE(executor != nullptr);
  executor->bind(tensors);
  executor->run();
}

}  // namespace trainyard::test
