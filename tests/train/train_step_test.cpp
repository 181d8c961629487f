// The parts of a training step.
#include "train/train_step.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "every_op.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::int64_t kBatch = 2;

/// A small network with a step of its own.
class Training {
 public:
  explicit Training(const StepOptions& options = {}, const Target& target = reference())
      : model_(training_graph(kSmallNetwork, kBatch), {*device_, *queue_, *executors_, *launches_},
               {.target = target, .slots = 1, .accumulates = options.accumulate > 1}),
        step_(model_, *alone_, *sgd_, nullptr, {.base = 0.01}, options) {
    model_.initialize(3);
    std::iota(index_.begin(), index_.end(), 0);
  }
  static Target reference() { return reference_target(Precision::fp32); }

  const Batch& next() {
    for (float& value : images_) value = std::sin(static_cast<float>(drawn_++));
    batch_ = {.images = images_,
              .fields = {std::as_bytes(std::span(labels_))},
              .sample_index = index_,
              .valid = kBatch};
    return batch_;
  }
  [[nodiscard]] TrainStep& step() { return step_; }
  [[nodiscard]] TrainStep::NextBatch batches() {
    return [this]() -> const Batch& { return next(); };
  }
  /// Gradients of the parameters, without what batch norms write behind them in the forward pass.
  [[nodiscard]] std::vector<float> gradients() const {
    return copy(model_.memory().gradients(), model_.blocks().parameter_elements);
  }
  [[nodiscard]] std::vector<float> weights() const {
    return copy(model_.memory().weights(), model_.blocks().parameter_elements);
  }

 private:
  static std::vector<float> copy(const std::byte* from, std::int64_t elements) {
    std::vector<float> values(static_cast<std::size_t>(elements));
    std::memcpy(values.data(), from, values.size() * sizeof(float));
    return values;
  }

  std::unique_ptr<Device> device_ = make_cpu_device();
  std::unique_ptr<Queue> queue_ = device_->make_queue();
  std::unique_ptr<ExecutorFactory> executors_ = make_reference_executors();
  std::unique_ptr<UpdateLaunches> launches_ = make_cpu_update_launches(1);
  std::unique_ptr<Communicator> alone_ = make_single_communicator();
  std::unique_ptr<Optimizer> sgd_ = make_optimizer("sgd", "{lr: 0.01, momentum: 0.9}");
  Model model_;
  TrainStep step_;
  std::int64_t drawn_ = 0;
  std::vector<float> images_ = std::vector<float>(kBatch * 3 * 9 * 7);
  std::vector<std::int32_t> labels_{1, 3};
  std::vector<std::int64_t> index_ = std::vector<std::int64_t>(kBatch);
  Batch batch_;
};

double loss_of(TrainStep& step) {
  const Totals totals = step.results().take_all().back().totals;
  return totals.loss / static_cast<double>(totals.samples);
}

}  // namespace

TEST_CASE("forward computes no gradient, backward computes all, and update alone changes weights") {
  Training training;
  TrainStep& step = training.step();
  const std::vector<float> before = training.gradients(), weights = training.weights();
  step.prepare();
  step.load(training.batches());
  step.forward();
  CHECK(training.gradients() == before);
  step.backward();
  const std::vector<float> gradients = training.gradients();
  CHECK(gradients != before);
  step.reduce(0);
  CHECK(training.gradients() == gradients);
  CHECK(training.weights() == weights);
  step.update();
  CHECK(training.weights() != weights);
  CHECK(step.results().pending() == 0);
  step.report();
  CHECK(step.results().pending() == 1);
  CHECK(loss_of(step) > 0);
}

TEST_CASE("a step is its parts in their order, and a checked step is the same") {
  for (const std::int64_t accumulate : {1, 3}) {
    CAPTURE(accumulate);
    const StepOptions options{.accumulate = accumulate};
    Training whole(options), parts(options), checked(options);
    for (int steps = 0; steps < 3; ++steps) {
      whole.step().run(whole.batches());
      parts.step().prepare();
      for (std::int64_t pass = 0; pass < accumulate; ++pass) {
        parts.step().load(parts.batches());
        parts.step().forward();
        parts.step().backward();
        parts.step().reduce(pass);
      }
      parts.step().update();
      parts.step().report();
      int judged = 0;
      checked.step().run_checked(checked.batches(), [&](const auto& found) {
        CHECK_FALSE(found.has_value());
        ++judged;
      });
      CHECK(judged == accumulate);
      const double loss = loss_of(whole.step());
      CHECK(loss_of(parts.step()) == loss);
      CHECK(loss_of(checked.step()) == loss);
    }
    CHECK(parts.weights() == whole.weights());
    CHECK(checked.weights() == whole.weights());
  }
}

TEST_CASE("a step that is recorded again goes on with the same bytes") {
  Training kept, again;
  for (int steps = 0; steps < 4; ++steps) {
    kept.step().run(kept.batches());
    again.step().record_again();
    again.step().run(again.batches());
    CHECK(loss_of(again.step()) == loss_of(kept.step()));
  }
  CHECK(again.weights() == kept.weights());
}

TEST_CASE("without batches of its own a step trains on the one that is loaded") {
  Training once, twice;
  once.step().load(once.batches());
  once.step().run();
  twice.step().run(twice.batches());
  CHECK(once.weights() == twice.weights());
  once.step().run();
  CHECK(once.weights() != twice.weights());
}

TEST_CASE("the forward pass of every plan is before the backward pass") {
  for (const char* network : {kSmallNetwork, kEveryOp, kEverySequenceOp}) {
    for (const Target& target :
         {reference_target(Precision::fp32), cuda_target(Precision::bf16), cpu_target(true)}) {
      const ModelPlans plans = make_plans_without_device(training_graph(network, kBatch), target);
      const auto is_forward = [](const PlanStep& step) {
        return step.pass == Pass::forward_train || step.pass == Pass::forward_eval;
      };
      const auto& train = plans.train->steps;
      const auto begin = train.begin() + static_cast<std::ptrdiff_t>(backward_begin(*plans.train));
      CHECK(begin > train.begin());
      CHECK(begin < train.end());
      CHECK(std::all_of(train.begin(), begin, is_forward));
      CHECK(std::none_of(begin, train.end(), is_forward));
      CHECK(backward_begin(plans.eval) == plans.eval.steps.size());
    }
  }
}
