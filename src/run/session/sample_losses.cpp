#include "run/session/sample_losses.h"

#include <algorithm>

#include "base/error.h"
#include "compute/elementwise/functor.h"
#include "run/config/losses.h"

namespace trainyard {

std::optional<SplitTargets> split_targets(const RunConfig& run, const Dataset& set) {
  const auto losses = losses_of(run);
  const auto loss =
      std::ranges::find_if(losses, [](const auto& one) { return one->values().output.empty(); });
  if (loss == losses.end()) return std::nullopt;
  const std::vector<SampleField> fields = set.fields();
  const auto field = std::ranges::find(fields, (*loss)->values().target, &SampleField::name);
  if (field == fields.end()) return std::nullopt;
  SplitTargets targets{.loss = *loss, .field = *field};
  const auto width = static_cast<std::size_t>(field->shape.elements());
  if (field->type == DType::i32) {
    if (width != 1) return std::nullopt;
    for (std::int64_t i = 0; i < set.size(); ++i) targets.labels.push_back(set.label(i));
    return targets;
  }
  targets.numbers.resize(static_cast<std::size_t>(set.size()) * width);
  const auto index = static_cast<std::size_t>(field - fields.begin());
  for (std::int64_t i = 0; i < set.size(); ++i) {
    float* const row = targets.numbers.data() + static_cast<std::size_t>(i) * width;
    set.read_field(index, i, reinterpret_cast<std::byte*>(row));
  }
  return targets;
}

std::vector<float> sample_losses(const SplitTargets& targets, std::span<const float> outputs,
                                 std::int64_t samples) {
  SplitTargets of = targets;  // views are of memory that may change
  std::vector<float> rows(outputs.begin(), outputs.end());
  std::vector<float> losses(static_cast<std::size_t>(samples));
  const Shape values{samples, std::ssize(rows) / samples};
  const bool of_labels = of.numbers.empty();
  TY_CHECK(of_labels ? std::ssize(of.labels) == samples : of.numbers.size() == rows.size(),
           "a target for each row of outputs");
  const StepState state{.valid = samples};
  StepTensors tensors{
      .inputs = {{rows.data(), DType::f32, plain_layout(values)},
                 of_labels ? TensorView{of.labels.data(), DType::i32, plain_layout({samples})}
                           : TensorView{of.numbers.data(), DType::f32, plain_layout(values)}},
      .outputs = {{losses.data(), DType::f32, plain_layout({samples})}}};
  tensors.batch.state = &state;
  StepDescription step{.op = of.loss.get(), .pass = Pass::forward_eval};
  for (const TensorView& view : tensors.inputs) step.inputs.push_back(view.layout);
  step.outputs = {tensors.outputs[0].layout};
  const ExecutorPtr executor = make_functor_executor(step);
  executor->bind(tensors);
  executor->run();
  return losses;
}

}  // namespace trainyard
