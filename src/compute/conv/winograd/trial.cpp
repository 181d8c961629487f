#include "compute/conv/winograd/trial.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/clock.h"
#include "base/round_up.h"

namespace trainyard::winograd {
namespace {

constexpr int kRounds = 4;                              // after one that is not counted
constexpr std::int64_t kProductsOfThread = 50'000'000;  // of a run: a millisecond
constexpr double kMargin = 0.95;                        // of the direct algorithm's time

/// Floats at a cache line.
class Floats {
 public:
  explicit Floats(std::size_t count) : values_(count + kLine, 0.0F) {}
  [[nodiscard]] float* data() {
    const auto at = reinterpret_cast<std::uintptr_t>(values_.data());
    return values_.data() + (round_up(at, kLine * sizeof(float)) - at) / sizeof(float);
  }

 private:
  static constexpr std::size_t kLine = 16;
  std::vector<float> values_;
};

/// The step with other images.
StepDescription with_images(StepDescription step, std::int64_t images) {
  for (std::vector<Layout>* list : {&step.inputs, &step.outputs}) {
    for (Layout& layout : *list) {
      Shape shape = shape_of(layout);
      layout = blocked_layout(Shape{images, shape.c(), shape.h(), shape.w()}, layout.block);
    }
  }
  return step;
}

/// An algorithm with memory to run in.
class Candidate {
 public:
  Candidate(ConvAlgorithm algorithm, const StepDescription& step, const MakeDirect& direct)
      : algorithm_(algorithm), executor_(make_algorithm(algorithm, step, direct)) {
    const bool forward = step.pass != Pass::backward_data;
    StepTensors tensors;
    const TensorView input = view(step.inputs[0]), output = view(step.outputs[0]);
    tensors.parameters = {view(plain_layout(Shape{weight_count(step)})),
                          view(plain_layout(Shape{shape_of(step.outputs[0]).c()}))};
    if (forward) {
      tensors.inputs = {input};
      tensors.outputs = {output};
    } else {
      tensors.input_gradients = {input};
      tensors.output_gradients = {output};
    }
    tensors.workspace = take(executor_->workspace_bytes() / sizeof(float) + 1);
    executor_->bind(tensors);
  }
  [[nodiscard]] ConvAlgorithm algorithm() const { return algorithm_; }
  [[nodiscard]] double seconds(const Clock& clock) {
    const double begin = clock.seconds();
    executor_->run();
    return clock.seconds() - begin;
  }

 private:
  static std::int64_t weight_count(const StepDescription& step) {
    return shape_of(step.inputs[0]).c() * shape_of(step.outputs[0]).c() * 9;
  }
  float* take(std::size_t count) { return memory_.emplace_back(count).data(); }
  TensorView view(const Layout& layout) {
    return {.data = take(static_cast<std::size_t>(span_elements(layout))), .layout = layout};
  }

  ConvAlgorithm algorithm_;
  std::unique_ptr<Executor> executor_;
  std::vector<Floats> memory_;
};

}  // namespace

TrialResult time_engines(const StepDescription& step, std::int64_t products_of_image,
                         std::span<const ConvAlgorithm> algorithms, const MakeDirect& direct) {
  const std::int64_t images =
      step.threads * std::max<std::int64_t>(1, kProductsOfThread / products_of_image);
  const StepDescription trial = with_images(step, images);
  std::vector<Candidate> candidates;
  for (const ConvAlgorithm algorithm : algorithms)
    candidates.emplace_back(algorithm, trial, direct);
  std::vector<double> best(candidates.size(), std::numeric_limits<double>::infinity());
  const SystemClock clock;
  for (int round = 0; round <= kRounds; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const double seconds = candidates[i].seconds(clock);
      if (round > 0) best[i] = std::min(best[i], seconds);
    }
  }
  const double to_beat = kMargin * best[0];
  TrialResult fastest{.algorithm = ConvAlgorithm::direct, .seconds = best[0]};
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (best[i] < std::min(to_beat, fastest.seconds)) {
      fastest = {.algorithm = candidates[i].algorithm(), .seconds = best[i]};
    }
  }
  return fastest;
}

}  // namespace trainyard::winograd
