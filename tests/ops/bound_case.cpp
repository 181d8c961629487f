#include "bound_case.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"

namespace trainyard::op_tests {
namespace {

std::vector<TensorView> views_of(const std::vector<TestTensor>& tensors) {
  std::vector<TensorView> views;
  for (const TestTensor& tensor : tensors) views.push_back(tensor.view());
  return views;
}

std::vector<TensorView> absent_of(const std::vector<TestTensor>& tensors) {
  std::vector<TensorView> views;
  for (const TestTensor& tensor : tensors) views.push_back(tensor.absent());
  return views;
}

std::vector<Values> read_all(const std::vector<TestTensor>& tensors) {
  std::vector<Values> values;
  for (const TestTensor& tensor : tensors) values.push_back(tensor.read());
  return values;
}

void write_all(std::vector<TestTensor>& tensors, const std::vector<Values>& values) {
  TY_CHECK(tensors.size() == values.size(), "a list of values a tensor");
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].write(values[i]);
}

void spoil_all(std::vector<TestTensor>& tensors) {
  for (TestTensor& tensor : tensors) tensor.buffer().spoil();
}

}  // namespace

BoundCase::BoundCase(const OpCase& op_case, const ExecutorFactory& factory,
                     const BindOptions& options)
    : case_(op_case), options_(options), contract_(op_case.op->contract()) {
  make_tensors();
  const std::int64_t batch = case_.inputs[0].n();
  for (std::int64_t n = 0; n < batch; ++n) sample_index_.push_back(1000 + 7 * n);
  state_ = {.step = 3, .epoch = 2, .rate = 0.1, .gradient_scale = 0.25, .valid = case_.valid};
  forward_ = make_pass(factory, Pass::forward_train);
  evaluate_ = make_pass(factory, Pass::forward_eval);
  reserve_ = GuardedBuffer(forward_.executor->reserve_bytes());
  bind(forward_, forward_tensors(outputs_));
  StepTensors evaluation = forward_tensors(evaluated_);
  evaluation.outputs[0] = in_place_evaluation() ? inputs_[0].view() : evaluated_[0].view();
  evaluation.reserve = nullptr;
  evaluation.batch_statistics = absent_of(statistics_);
  evaluation.running = views_of(running_);
  bind(evaluate_, std::move(evaluation));
  if (contract_.can(Can::recompute)) {
    recompute_ = make_pass(factory, Pass::recompute);
    bind(recompute_, forward_tensors(outputs_));
  }
  if (!case_.has_backward) return;
  backward_data_ = make_pass(factory, Pass::backward_data);
  bind(backward_data_, backward_tensors());
  if (parameters_.empty() || contract_.synced_backward) return;
  backward_parameters_ = make_pass(factory, Pass::backward_parameters);
  bind(backward_parameters_, backward_tensors());
}

Layout BoundCase::layout_of(const Shape& shape, std::int64_t block) const {
  if (shape.rank() != 4 || contract_.layouts == Contract::Layouts::plain) {
    return plain_layout(shape);
  }
  if (contract_.layouts == Contract::Layouts::rows) return row_layout(shape);
  if (options_.layouts.channels_last) return channels_last_layout(shape, 8);
  return block == 0 ? plain_layout(shape) : blocked_layout(shape, block);
}

Layout BoundCase::output_layout_of(const Shape& shape) const {
  constexpr std::int64_t kOthers = 16;  // channels before and after a slice
  const std::int64_t block = options_.layouts.output_block;
  if (!options_.layouts.sliced) return layout_of(shape, block);
  return channel_slice(layout_of(shape.with(1, shape.c() + 2 * kOthers), block), kOthers,
                       shape.c());
}

void BoundCase::make_tensors() {
  const Signature& signature = case_.signature;
  const DType arithmetic = arithmetic_of(options_.type);
  const DType output_type = contract_.arithmetic_outputs ? arithmetic : options_.type;
  for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
    const Layout layout = layout_of(case_.inputs[i], options_.layouts.input_block);
    const DType type = case_.types[i] == DType::i32 ? DType::i32
                       : case_.is_mixed(i)          ? DType::f32
                                                    : options_.type;
    inputs_.emplace_back(layout, type);
    input_gradients_.emplace_back(layout, options_.type);
  }
  for (const Shape& shape : signature.outputs) {
    const Layout layout = output_layout_of(shape);
    outputs_.emplace_back(layout, output_type);
    evaluated_.emplace_back(layout, output_type);
    output_gradients_.emplace_back(layout, output_type);
  }
  for (const ParameterSpec& parameter : signature.parameters) {
    parameters_.emplace_back(plain_layout(parameter.shape), arithmetic);
    parameter_gradients_.emplace_back(plain_layout(parameter.shape), arithmetic);
  }
  for (const StatisticSpec& statistic : signature.statistics) {
    running_.emplace_back(plain_layout(statistic.shape), arithmetic);
    statistics_.emplace_back(plain_layout(statistic.shape), arithmetic);
  }
}

StepDescription BoundCase::description(Pass pass) const {
  StepDescription step{.op = case_.op.get(),
                       .pass = pass,
                       .storage = options_.type,
                       .signature = case_.signature,
                       .inputs = {},
                       .outputs = {},
                       .needs_input_gradient = {},
                       .node = 5,
                       .threads = options_.threads,
                       .statistics_sum = options_.statistics_sum};
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    step.inputs.push_back(inputs_[i].view().layout);
    if (pass == Pass::backward_data) step.needs_input_gradient.push_back(needs_gradient(i));
  }
  for (const TestTensor& output : outputs_) step.outputs.push_back(output.view().layout);
  return step;
}

BoundCase::BoundPass BoundCase::make_pass(const ExecutorFactory& factory, Pass pass) const {
  BoundPass made;
  made.executor = factory.make(description(pass));
  made.workspace = GuardedBuffer(made.executor->workspace_bytes());
  return made;
}

void BoundCase::bind(BoundPass& pass, StepTensors tensors) {
  tensors.workspace = pass.workspace.data();
  tensors.batch = {.sample_index = sample_index_.data(), .state = &state_, .seed = 1234567};
  pass.executor->bind(tensors);
}

bool BoundCase::needs_gradient(std::size_t input) const {
  if (!case_.has_gradient(input)) return false;
  return options_.needs_gradients.empty() || options_.needs_gradients[input];
}

bool BoundCase::in_place_evaluation() const {
  return options_.in_place && contract_.in_place_forward && !options_.layouts.sliced;
}

/// As the planner does: not if backward still reads the input.
bool BoundCase::in_place_forward() const {
  return in_place_evaluation() && !contract_.backward_reads_inputs &&
         !contract_.backward_reads_first_input;
}

bool BoundCase::in_place_backward() const {
  return options_.in_place && contract_.in_place_backward && !options_.layouts.sliced &&
         needs_gradient(static_cast<std::size_t>(contract_.in_place_gradient));
}

StepTensors BoundCase::forward_tensors(std::vector<TestTensor>& outputs) const {
  StepTensors tensors;
  tensors.inputs = views_of(inputs_);
  tensors.outputs = views_of(outputs);
  if (in_place_forward()) tensors.outputs[0] = inputs_[0].view();
  tensors.parameters = views_of(parameters_);
  tensors.batch_statistics = views_of(statistics_);
  tensors.running = case_.reads_running ? views_of(running_) : absent_of(running_);
  tensors.reserve = reserve_.data();
  return tensors;
}

/// As the planner does: tensors that the op traits do not name are absent.
StepTensors BoundCase::backward_tensors() const {
  StepTensors tensors;
  tensors.inputs.resize(inputs_.size());
  if (contract_.backward_reads_inputs) tensors.inputs = views_of(inputs_);
  if (contract_.backward_reads_first_input) tensors.inputs[0] = inputs_[0].view();
  tensors.outputs.resize(outputs_.size());
  if (contract_.backward_reads_outputs) tensors.outputs = views_of(outputs_);
  if (contract_.backward_reads_outputs && in_place_forward()) {
    tensors.outputs[0] = inputs_[0].view();
  }
  tensors.output_gradients = views_of(output_gradients_);
  if (case_.is_loss) tensors.output_gradients = absent_of(output_gradients_);
  const bool shared = contract_.shared_gradient || contract_.alias_gradient;
  TensorView sole;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    TensorView gradient = needs_gradient(i) ? input_gradients_[i].view() : TensorView{};
    const bool in_place = static_cast<int>(i) == contract_.in_place_gradient;
    if (in_place && in_place_backward()) gradient = output_gradients_[0].view();
    if (shared && needs_gradient(i)) gradient = sole.data != nullptr ? sole : (sole = gradient);
    tensors.input_gradients.push_back(gradient);
  }
  tensors.parameters = views_of(parameters_);
  tensors.parameter_gradients = views_of(parameter_gradients_);
  tensors.batch_statistics = views_of(statistics_);
  tensors.running = absent_of(running_);
  tensors.reserve = reserve_.data();
  return tensors;
}

void BoundCase::load(const CaseValues& values) {
  values_ = values;
  restore_inputs();
  write_all(parameters_, values.parameters);
  write_all(running_, values.running);
}

void BoundCase::restore_inputs() {
  write_all(inputs_, values_.inputs);
  write_all(output_gradients_, values_.output_gradients);
}

void BoundCase::run(BoundPass& pass, const std::vector<const TestTensor*>& read_alone) {
  pass.workspace.spoil();
  std::vector<Bytes> before;
  for (const TestTensor* tensor : read_alone) before.push_back(tensor->buffer().snapshot());
  const std::vector<Bytes> gaps = gaps_of_outputs();
  pass.executor->run();
  CHECK_MESSAGE(gaps_of_outputs() == gaps, case_.name, ": wrote outside its slice");
  for (std::size_t i = 0; i < read_alone.size(); ++i) {
    CHECK_MESSAGE(read_alone[i]->buffer().snapshot() == before[i], case_.name,
                  ": a tensor that is only read has changed");
  }
  CHECK_MESSAGE(pass.workspace.guards_hold(), case_.name, ": wrote outside its workspace");
  check_guards();
}

std::vector<Bytes> BoundCase::gaps_of_outputs() const {
  std::vector<Bytes> gaps;
  for (const auto* tensors : {&outputs_, &evaluated_, &output_gradients_}) {
    for (const TestTensor& tensor : *tensors) gaps.push_back(tensor.gaps());
  }
  return gaps;
}

void BoundCase::check_guards() const {
  for (const auto* tensors :
       {&inputs_, &outputs_, &evaluated_, &output_gradients_, &input_gradients_, &parameters_,
        &parameter_gradients_, &running_, &statistics_}) {
    for (const TestTensor& tensor : *tensors) {
      CHECK_MESSAGE(tensor.buffer().guards_hold(), case_.name, ": wrote outside a tensor");
    }
  }
  CHECK_MESSAGE(reserve_.guards_hold(), case_.name, ": wrote outside its reserve");
}

void BoundCase::check_padding(const std::vector<TestTensor>& written) const {
  for (const TestTensor& tensor : written) {
    CHECK_MESSAGE(tensor.padding_is_zero(), case_.name, ": padding is not zero");
  }
}

void BoundCase::forward() {
  if (in_place_forward()) restore_inputs();
  spoil_all(outputs_);
  spoil_all(statistics_);
  reserve_.spoil();
  std::vector<const TestTensor*> read_alone;
  for (const TestTensor& tensor : inputs_) read_alone.push_back(&tensor);
  if (in_place_forward()) read_alone.erase(read_alone.begin());
  for (const TestTensor& tensor : parameters_) read_alone.push_back(&tensor);
  run(forward_, read_alone);
  check_padding(in_place_forward() ? inputs_ : outputs_);
}

void BoundCase::recompute() {
  if (!recompute_.executor) return;
  const std::vector<Values> before = read_all(outputs_);
  spoil_all(outputs_);
  std::vector<const TestTensor*> read_alone;
  for (const auto* tensors : {&inputs_, &parameters_, &statistics_}) {
    for (const TestTensor& tensor : *tensors) read_alone.push_back(&tensor);
  }
  run(recompute_, read_alone);
  check_padding(outputs_);
  CHECK_MESSAGE(read_all(outputs_) == before, case_.name, ": other outputs when recomputed");
}

void BoundCase::evaluate() {
  if (in_place_evaluation()) restore_inputs();
  spoil_all(evaluated_);
  std::vector<const TestTensor*> read_alone;
  for (const TestTensor& tensor : inputs_) read_alone.push_back(&tensor);
  if (in_place_evaluation()) read_alone.erase(read_alone.begin());
  for (const TestTensor& tensor : running_) read_alone.push_back(&tensor);
  run(evaluate_, read_alone);
  check_padding(in_place_evaluation() ? inputs_ : evaluated_);
  if (!in_place_evaluation()) return;
  evaluated_[0].write(inputs_[0].read());
  restore_inputs();
}

void BoundCase::backward() {
  spoil_all(input_gradients_);
  spoil_all(parameter_gradients_);
  std::vector<const TestTensor*> read_alone;
  for (const TestTensor& tensor : inputs_) read_alone.push_back(&tensor);
  for (const TestTensor& tensor : statistics_) read_alone.push_back(&tensor);
  if (!in_place_backward()) read_alone.push_back(&output_gradients_[0]);
  if (backward_parameters_.executor) run(backward_parameters_, read_alone);
  run(backward_data_, read_alone);
  std::vector<std::size_t> written;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const TensorView view = backward_tensors().input_gradients[i];
    if (view.data == input_gradients_[i].view().data) {
      CHECK_MESSAGE(input_gradients_[i].padding_is_zero(), case_.name,
                    ": padding of a gradient is not zero");
    }
  }
}

CaseResults BoundCase::results() const {
  CaseResults results;
  results.outputs = read_all(outputs_);
  if (in_place_forward()) results.outputs[0] = inputs_[0].read();
  results.statistics = read_all(statistics_);
  results.evaluated = read_all(evaluated_);
  results.parameter_gradients = read_all(parameter_gradients_);
  if (!case_.has_backward) return results;
  const StepTensors tensors = backward_tensors();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const void* data = tensors.input_gradients[i].data;
    if (data == nullptr) {
      results.input_gradients.emplace_back();
    } else if (data == output_gradients_[0].view().data) {
      results.input_gradients.push_back(output_gradients_[0].read());
    } else {
      const auto owner =
          std::find_if(input_gradients_.begin(), input_gradients_.end(),
                       [&](const TestTensor& tensor) { return tensor.view().data == data; });
      results.input_gradients.push_back(owner->read());
    }
  }
  return results;
}

}  // namespace trainyard::op_tests
