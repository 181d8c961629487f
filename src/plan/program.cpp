#include "plan/program.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "compute/weight_packing.h"
#include "plan/work.h"
#include "tensor/dtype.h"

namespace trainyard {
namespace {

/// Calls f with the first element of each row along w.
template <class F>
void each_row(const Layout& layout, const F& f) {
  for (std::int64_t n = 0; n < layout.extent[0]; ++n) {
    for (std::int64_t c = 0; c < layout.extent[1]; ++c) {
      for (std::int64_t h = 0; h < layout.extent[2]; ++h) f(layout.offset(n, c, h, 0));
    }
  }
}

/// Checks only the tensor's own elements: between those of a slice there are others.
template <class T>
bool all_finite(Queue& queue, const TensorView& view) {
  std::vector<T> values(static_cast<std::size_t>(span_elements(view.layout)));
  queue.copy_to_host(values.data(), view.data, values.size() * sizeof(T));
  queue.wait();
  bool finite = true;
  each_row(view.layout, [&](std::int64_t row) {
    for (std::int64_t w = 0; w < view.layout.extent[3]; ++w) {
      const T value = values[static_cast<std::size_t>(row + w * view.layout.stride[3])];
      finite = finite && std::isfinite(static_cast<Arithmetic<T>>(value));
    }
  });
  return finite;
}

bool finite(Queue& queue, const TensorView& view) {
  if (view.data == nullptr || view.type == DType::i32) return true;
  return with_float_type(
      view.type, [&]<class T>(std::type_identity<T>) { return all_finite<T>(queue, view); });
}

bool any_nonfinite(Queue& queue, const std::vector<TensorView>& views) {
  return std::any_of(views.begin(), views.end(),
                     [&](const TensorView& view) { return !finite(queue, view); });
}

/// Which non-finite tensor a step wrote.
std::optional<std::string> nonfinite(Queue& queue, Pass pass, const StepTensors& tensors) {
  if (pass != Pass::backward_parameters) {
    if (any_nonfinite(queue, tensors.outputs)) return "output";
    if (any_nonfinite(queue, tensors.input_gradients)) return "input gradient";
  }
  const bool gradients = pass == Pass::backward_parameters || pass == Pass::backward_data;
  if (gradients && any_nonfinite(queue, tensors.parameter_gradients)) return "parameter gradient";
  return std::nullopt;
}

/// Gives an executor a tensor of its step.
void place(TensorRole role, const TensorView& view, StepTensors& tensors) {
  if (role == TensorRole::reserve) {
    tensors.reserve = view.data;
  } else if (role == TensorRole::workspace) {
    tensors.workspace = view.data;
  } else {
    static constexpr std::vector<TensorView> StepTensors::*kLists[] = {
        &StepTensors::inputs, &StepTensors::outputs, &StepTensors::output_gradients,
        &StepTensors::input_gradients, &StepTensors::parameter_gradients};
    (tensors.*kLists[static_cast<std::size_t>(role)]).push_back(view);
  }
}

}  // namespace

Program::Program(Plan plan, const BlockLayout& blocks, const ExecutorFactory& factory, int threads,
                 StatisticsSum* statistics_sum)
    : plan_(std::move(plan)),
      blocks_(blocks),
      backward_begin_(trainyard::backward_begin(plan_)),
      queues_(factory.queues()) {
  if (queues_ != nullptr) reached_ = queues_->device.make_event();
  std::vector<StepNeeds> needs;
  for (const PlanStep& step : plan_.steps) {
    make_executor(factory, step, threads, statistics_sum);
    const Executor& executor = *steps_.back().executor;
    needs.push_back({.workspace = executor.workspace_bytes(), .reserve = executor.reserve_bytes()});
  }
  complete(plan_, needs);
}

void Program::make_executor(const ExecutorFactory& factory, const PlanStep& step, int threads,
                            StatisticsSum* statistics_sum) {
  BoundStep bound;
  if (step.kind == PlanStep::Kind::op) {
    StepDescription description = description_of(plan_, step);
    description.threads = threads;
    description.statistics_sum = statistics_sum;
    bound.executor = factory.make(description);
  } else if (step.kind == PlanStep::Kind::unpack) {
    bound.executor = make_unpack(factory, step);
  } else {
    const PlanTensor& from = plan_.tensors[step.inputs[0]];
    const PlanTensor& to = plan_.tensors[step.outputs[0]];
    bound.executor =
        step.kind == PlanStep::Kind::accumulate
            ? factory.make_accumulate(to.layout, to.type, threads)
            : factory.make_reorder(from.layout, from.type, to.layout, to.type, threads);
  }
  if (step.form.on_side_queue()) bound.done = queues_->device.make_event();
  if (step.sibling) {
    Executor& first = *steps_[siblings_of(plan_, steps_.size()).first].executor;
    bound.done_by_sibling = first.add_sibling(*bound.executor);
  }
  steps_.push_back(std::move(bound));
}

ExecutorPtr Program::make_unpack(const ExecutorFactory& factory, const PlanStep& step) const {
  const WeightPacking* const packing = weight_packing_of(factory);
  TY_CHECK(packing != nullptr, "the device of this plan packs weights");
  std::vector<WeightShape> shapes;
  for (const TensorId id : step.inputs) shapes.push_back(*plan_.tensors[id].packed);
  return packing->make_unpack(shapes, plan_.target.storage);
}

TensorView Program::view_of(TensorId id) const {
  if (id == kNoTensor) return {};
  const PlanTensor& tensor = plan_.tensors[id];
  std::byte* data = nullptr;
  if (tensor.gradient_of) {
    const auto [node, index] = *tensor.gradient_of;
    const BlockEntry& entry = blocks_.parameters[blocks_.parameter_of_node[node][index]];
    data = gradients_ + entry.offset * size_of(tensor.type);
  } else {
    data = (plan_.tensors[plan_.root(id)].input ? inputs_ : transient_) + tensor.offset;
  }
  return {.data = data, .type = tensor.type, .layout = tensor.layout};
}

void Program::bind(const ModelMemory& memory, const WeightBlocks& weights, std::byte* transient,
                   std::uint64_t seed) {
  inputs_ = memory.inputs();
  gradients_ = memory.gradients();
  transient_ = transient;
  for (std::size_t index = 0; index < plan_.steps.size(); ++index) {
    const PlanStep& step = plan_.steps[index];
    StepTensors& tensors = steps_[index].tensors;
    tensors = {.batch = {.sample_index = memory.sample_index(),
                         .state = memory.state(),
                         .seed = seed,
                         .finished = memory.finished(step.form.queue)}};
    for (const TensorUse& use : tensors_of(step)) place(use.role, view_of(use.id), tensors);
    if (step.kind == PlanStep::Kind::op) bind_blocks(memory, weights, step, tensors);
    steps_[index].executor->bind(tensors);
  }
}

void Program::bind_blocks(const ModelMemory& memory, const WeightBlocks& weights,
                          const PlanStep& step, StepTensors& tensors) const {
  const auto view = [&](std::byte* block, const BlockEntry& entry, std::int64_t base) {
    return TensorView{.data = block + (base + entry.offset) * size_of(memory.type()),
                      .type = memory.type(),
                      .layout = plain_layout(entry.shape)};
  };
  const std::vector<std::int64_t>& parameters = blocks_.parameter_of_node[step.node];
  std::vector<TensorView>& gradients = tensors.parameter_gradients;
  gradients.resize(std::max(gradients.size(), parameters.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const BlockEntry& entry = blocks_.parameters[parameters[i]];
    tensors.parameters.push_back(view(weights.weights, entry, 0));
    if (gradients[i].data == nullptr) gradients[i] = view(memory.gradients(), entry, 0);
  }
  if (step.bias_of >= 0) {
    const std::int64_t bias = blocks_.parameter_of_node[step.bias_of][kBias];
    tensors.parameters.push_back(view(weights.weights, blocks_.parameters[bias], 0));
  }
  for (const auto& [index, shape, keeps_plain] : packed_parameters_of(plan_, step)) {
    const PackedEntry& entry = *blocks_.packed.find(parameters[index], shape);
    const TensorView packed = blocks_.packed.view(weights.packed, entry);
    if (keeps_plain) {
      tensors.parameters.push_back(packed);
    } else {
      tensors.parameters[index] = packed;
    }
  }
  for (const std::int64_t entry : blocks_.statistic_of_node[step.node]) {
    tensors.running.push_back(view(weights.running, blocks_.statistics[entry], 0));
    tensors.batch_statistics.push_back(
        view(memory.gradients(), blocks_.statistics[entry], blocks_.parameter_elements));
  }
}

void Program::run(std::size_t begin, std::size_t end) {
  const auto first = static_cast<std::int32_t>(begin);
  std::int32_t side = -1;  // the last one of the side queue that was begun
  for (std::size_t index = begin; index < end; ++index) {
    const std::int32_t awaited = plan_.steps[index].awaits;
    if (awaited >= first) steps_[awaited].done->wait_on(queues_->main);
    if (steps_[index].left_out) continue;
    if (plan_.steps[index].form.on_side_queue()) {
      run_on_side_queue(steps_[index]);
      side = static_cast<std::int32_t>(index);
    } else if (!steps_[index].done_by_sibling) {
      steps_[index].executor->run();
    }
  }
  if (side >= 0) steps_[side].done->wait_on(queues_->main);
}

std::vector<PackedGradient> Program::leave_packed() {
  std::vector<PackedGradient> left;
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    const PlanStep& step = plan_.steps[index];
    const auto touches = [&](const PlanStep& other) {
      return std::ranges::any_of(step.outputs,
                                 [&](TensorId id) { return plan_.touches(other, id); });
    };
    if (step.kind != PlanStep::Kind::unpack || !plan_.tensors[step.inputs[0]].kept) continue;
    if (std::ranges::count_if(plan_.steps, touches) > 1) continue;
    steps_[index].left_out = true;
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const auto [node, parameter] = *plan_.tensors[step.outputs[i]].gradient_of;
      left.push_back({.parameter = blocks_.parameter_of_node[node][parameter],
                      .shape = *plan_.tensors[step.inputs[i]].packed,
                      .packed = view_of(step.inputs[i])});
    }
  }
  return left;
}

void Program::run_on_side_queue(const BoundStep& step) {
  reached_->record(queues_->main);
  reached_->wait_on(queues_->side);
  step.executor->run();
  step.done->record(queues_->side);
}

std::optional<NonFinite> Program::run_checked(Queue& queue) {
  std::optional<NonFinite> first;
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    const PlanStep& step = plan_.steps[index];
    run(index, index + 1);
    if (first) continue;
    if (const auto what = nonfinite(queue, step.pass, steps_[index].tensors)) {
      const Node& node = plan_.node_of(step);
      first = {.step = index, .path = node.path, .what = *what, .where = node.where};
    }
  }
  return first;
}

void Program::run_timed(Queue& queue, std::vector<StepTime>& times) {
  using Clock = std::chrono::steady_clock;
  if (times.empty()) {
    for (std::size_t index = 0; index < steps_.size(); ++index) {
      const PlanStep& step = plan_.steps[index];
      times.push_back({.name = name_of(plan_, step),
                       .gflop = 1e-9 * flop_of(plan_, step),
                       .algorithm = steps_[index].executor->algorithm()});
    }
  }
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    const auto begin = Clock::now();
    run(index, index + 1);
    queue.wait();
    times[index].seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  }
}

TensorView Program::view(ValueId value) const {
  return view_of(plan_.values[plan_.laid_out.renamed[value]]);
}

}  // namespace trainyard
