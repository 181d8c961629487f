// Dropout with inverted scaling (Srivastava et al. 2014, in Keras's and Caffe's form).
#pragma once

#include <cstdint>
#include <string>

#include "base/philox.h"
#include "ops/elementwise.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// out = kept ? in / (1 - rate) : 0 for four neighbours in the logical order c, h, w of a sample.
/// The mask is a function of (seed, node, epoch, sample, position) alone: a key made of the first
/// three, and the sample's index with a quarter of the position as counter (DECISIONS 7). Forward
/// and backward draw it again instead of keeping it.
template <class T>
struct DropoutQuads {
  const T* in;
  T* out;
  Layout from, to;
  BatchContext batch;
  std::uint32_t node;
  std::uint64_t threshold;  // kept if the 32-bit draw is at least this
  T scale;

  [[nodiscard]] TY_HD static std::int64_t per_sample(const Layout& layout) {
    return (layout.extent[1] * layout.extent[2] * layout.extent[3] + 3) / 4;
  }
  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t quads = per_sample(from);
    const std::int64_t n = i / quads, quad = i % quads;
    const Random4 key = random4(batch.seed, RandomStream::layer,
                                static_cast<std::uint32_t>(batch.state->epoch), node, 0);
    const std::uint64_t sample = static_cast<std::uint64_t>(batch.sample_index[n]);
    const Random4 draw =
        philox(key.word[0], key.word[1], static_cast<std::uint32_t>(quad),
               static_cast<std::uint32_t>(quad >> 32), static_cast<std::uint32_t>(sample),
               static_cast<std::uint32_t>(sample >> 32));
    const std::int64_t width = from.extent[3], map = width * from.extent[2];
    const std::int64_t end = map * from.extent[1];
    for (std::int64_t lane = 0; lane < 4 && 4 * quad + lane < end; ++lane) {
      const std::int64_t at = 4 * quad + lane;
      const std::int64_t c = at / map, h = at % map / width, w = at % width;
      const T value = in[from.offset(n, c, h, w)] * scale;
      out[to.offset(n, c, h, w)] = draw.word[lane] >= threshold ? value : T(0);
    }
  }
};

struct DropoutAttributes {
  double rate = 0.5;  // share of zeros, in [0, 1)
};

/// Any shape to the same shape. forward_eval copies.
class DropoutOp final : public Op {
 public:
  static constexpr bool kElementwise = true;

  explicit DropoutOp(DropoutAttributes attributes) : attributes_(attributes) {}
  [[nodiscard]] const DropoutAttributes& values() const { return attributes_; }

  [[nodiscard]] std::string_view type() const override { return "dropout"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& in = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& out = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    if (step.pass == Pass::forward_eval) {
      map<T, T>(launcher, step.walk, Copy{}, in, out);
      return;
    }
    const DropoutQuads<T> quads{.in = in.as<T>(),
                                .out = out.as<T>(),
                                .from = in.layout,
                                .to = out.layout,
                                .batch = tensors.batch,
                                .node = step.node,
                                .threshold = threshold(),
                                .scale = static_cast<T>(1.0 / (1.0 - attributes_.rate))};
    launcher.each(in.layout.extent[0] * quads.per_sample(in.layout), quads);
    zero_padding<T>(launcher, out);
  }

 private:
  /// rate * 2^32, rounded.
  [[nodiscard]] std::uint64_t threshold() const;

  DropoutAttributes attributes_;
};

void declare(config::Fields& fields, DropoutAttributes& dropout);
[[nodiscard]] config::Kind<Op> dropout_kind();

}  // namespace trainyard
