// A learned vector for each token (Keras's Embedding).
#pragma once

#include <cstdint>
#include <string>

#include "base/half.h"
#include "base/math.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// y[position] = weight[token]; NaN for a token that is none. A row is a position.
template <class T>
struct EmbeddingRows {
  const std::int32_t* tokens;   // [positions]
  const Arithmetic<T>* weight;  // [vocabulary, units]
  T* y;                         // [positions, units]
  std::int64_t vocabulary, units;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t position) const {
    const std::int64_t token = tokens[position];
    const bool known = token >= 0 && token < vocabulary;
    const Arithmetic<T>* const vector = weight + (known ? token : 0) * units;
    T* const out = y + position * units;
    team.each(units, [&](std::int64_t c) {
      out[c] = static_cast<T>(known ? vector[c] : math::kNotANumber<Arithmetic<T>>);
    });
  }
};

/// Where each token occurs: a counting sort of the positions by their tokens, in which those of one
/// token keep their order. A row sorts the positions of one range of tokens, one after the other,
/// so the result does not depend on how rows run: launcher.rows(kRanges, OccurrenceSort{...}).
struct OccurrenceSort {
  static constexpr std::int64_t kRanges = 64;

  const std::int32_t* tokens;  // [positions]
  std::int64_t positions, vocabulary;
  std::int32_t* order;  // [positions], those of tokens outside the vocabulary left out
  std::int32_t* ends;   // [vocabulary]: token v occurs at order[ends[v - 1]] up to order[ends[v]]

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t range) const {
    const std::int64_t first = range * vocabulary / kRanges;
    const std::int64_t last = (range + 1) * vocabulary / kRanges;
    const std::int32_t before =
        team.template sum<std::int32_t>(positions, [&](std::int64_t p) -> std::int32_t {
          return tokens[p] >= 0 && tokens[p] < first ? 1 : 0;
        });
    team.once([&] { sort(first, last, before); });
  }

 private:
  TY_HD void sort(std::int64_t first, std::int64_t last, std::int32_t before) const {
    for (std::int64_t v = first; v < last; ++v) ends[v] = 0;
    for (std::int64_t p = 0; p < positions; ++p) {
      if (tokens[p] >= first && tokens[p] < last) ++ends[tokens[p]];
    }
    std::int32_t begin = before;
    for (std::int64_t v = first; v < last; ++v) {
      const std::int32_t count = ends[v];
      ends[v] = begin;
      begin += count;
    }
    for (std::int64_t p = 0; p < positions; ++p) {
      if (tokens[p] >= first && tokens[p] < last) {
        order[ends[tokens[p]]++] = static_cast<std::int32_t>(p);
      }
    }
  }
};

/// dweight[v] = the sum of dy over the positions of token v, in their order; 0 if there are none. A
/// row is a token.
template <class T>
struct EmbeddingGradient {
  using A = Arithmetic<T>;
  static constexpr std::int64_t kTogether = 8;  // loads that do not wait for each other

  const T* dy;                // [positions, units]
  const std::int32_t* order;  // of OccurrenceSort
  const std::int32_t* ends;
  A* dweight;  // [vocabulary, units]
  std::int64_t units;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t token) const {
    A* const out = dweight + token * units;
    std::int64_t k = token == 0 ? 0 : ends[token - 1];
    const std::int64_t end = ends[token];
    team.each(units, [&](std::int64_t c) { out[c] = A(0); });
    for (; k + kTogether <= end; k += kTogether) add<kTogether>(team, k, out);
    for (; k < end; ++k) add<1>(team, k, out);
  }

 private:
  template <std::int64_t Count, class Team>
  TY_HD void add(const Team& team, std::int64_t first, A* out) const {
    const T* rows[Count];
    for (std::int64_t i = 0; i < Count; ++i) rows[i] = dy + order[first + i] * units;
    team.each(units, [&](std::int64_t c) {
      A sum = out[c];
      for (std::int64_t i = 0; i < Count; ++i) sum += static_cast<A>(rows[i][c]);
      out[c] = sum;
    });
  }
};

struct EmbeddingAttributes {
  std::int64_t units = 0;
  std::int64_t vocabulary = 1;
  Initializer init;
  double l2 = 0;
  bool mask_zero = false;  // token 0 is padding, which later layers leave out
};

/// Tokens i32 [n, t] to the sequence [n, units, 1, t]. Parameter: weight [vocabulary, units]. Its
/// gradient is dense: tokens that do not occur have 0, so momentum and Adam move them too.
class EmbeddingOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  explicit EmbeddingOp(EmbeddingAttributes attributes) : attributes_(attributes) {}
  [[nodiscard]] const EmbeddingAttributes& values() const { return attributes_; }

  [[nodiscard]] std::string_view type() const override { return "embedding"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.backward_reads_inputs = true,
            .synced_backward = true,
            .vocabulary = attributes_.vocabulary,
            .masks_zero = attributes_.mask_zero,
            .keeps_steps = true,
            .layouts = Contract::Layouts::rows};
  }
  [[nodiscard]] std::string attributes() const override;

  /// The order and the ends of OccurrenceSort.
  template <class T>
  [[nodiscard]] std::size_t workspace_bytes(const FunctorStep& step) const {
    return step.backward() ? sort_bytes(shape_of(step.inputs[0])) : 0;
  }

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const std::int64_t units = attributes_.units, vocabulary = attributes_.vocabulary;
    const std::int64_t positions = shape_of(step.inputs[0]).elements();
    const auto* const tokens = tensors.inputs[0].as<const std::int32_t>();
    if (!step.backward()) {
      return launcher.rows(positions,
                           EmbeddingRows<T>{tokens, tensors.parameters[0].as<const A>(),
                                            tensors.outputs[0].as<T>(), vocabulary, units});
    }
    auto* const order = static_cast<std::int32_t*>(tensors.workspace);
    std::int32_t* const ends = order + positions;
    launcher.rows(OccurrenceSort::kRanges,
                  OccurrenceSort{tokens, positions, vocabulary, order, ends});
    launcher.rows(vocabulary,
                  EmbeddingGradient<T>{tensors.output_gradients[0].as<const T>(), order, ends,
                                       tensors.parameter_gradients[0].as<A>(), units});
  }

 private:
  [[nodiscard]] std::size_t sort_bytes(const Shape& tokens) const;

  EmbeddingAttributes attributes_;
};

void declare(config::Fields& fields, EmbeddingAttributes& embedding);
[[nodiscard]] config::Kind<Op> embedding_kind();

}  // namespace trainyard
