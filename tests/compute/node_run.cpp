#include "node_run.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/philox.h"
#include "tensor/dtype.h"

namespace trainyard::test {
namespace {

constexpr std::size_t kGuard = 256;
constexpr std::byte kGuardByte{0xA5};

Layout layout_of(const Shape& shape, std::int64_t block) {
  return block > 1 && shape.rank() == 4 ? blocked_layout(shape, block) : plain_layout(shape);
}

/// A tensor in guarded memory, as a slice of a wider one if the case says so.
template <class T>
struct GuardedTensor {
  Layout layout;
  Layout whole;
  std::int64_t base = 0;
  GuardedMemory memory;

  GuardedTensor(const Layout& wider, const Layout& slice, std::int64_t offset)
      : layout(slice),
        whole(wider),
        base(offset),
        memory(static_cast<std::size_t>(span_elements(wider)) * sizeof(T)) {}
  explicit GuardedTensor(const Layout& dense) : GuardedTensor(dense, dense, 0) {}

  [[nodiscard]] T* data() { return reinterpret_cast<T*>(memory.data()) + base; }
  [[nodiscard]] TensorView view() {
    return {.data = data(), .type = DTypeOf<T>::value, .layout = layout};
  }
  void set(const std::vector<double>& values) {
    std::memset(memory.data(), 0, static_cast<std::size_t>(span_elements(whole)) * sizeof(T));
    std::size_t next = 0;
    each([&](std::int64_t at) {
      data()[at] = static_cast<T>(static_cast<Arithmetic<T>>(values[next++]));
    });
  }
  [[nodiscard]] std::vector<double> get() {
    std::vector<double> values;
    each([&](std::int64_t at) { values.push_back(static_cast<double>(data()[at])); });
    return values;
  }
  [[nodiscard]] bool padding_zero() {
    bool zero = true;
    for (std::int64_t c = layout.extent[1]; c < layout.padded_channels; ++c) {
      for (std::int64_t n = 0; n < layout.extent[0]; ++n) {
        zero = zero && data()[layout.offset(n, c, layout.extent[2] - 1, 0)] == static_cast<T>(0.0f);
      }
    }
    return zero;
  }

 private:
  template <class F>
  void each(const F& f) const {
    for (std::int64_t n = 0; n < layout.extent[0]; ++n)
      for (std::int64_t c = 0; c < layout.extent[1]; ++c)
        for (std::int64_t h = 0; h < layout.extent[2]; ++h)
          for (std::int64_t w = 0; w < layout.extent[3]; ++w) f(layout.offset(n, c, h, w));
  }
};

template <class T>
GuardedTensor<T> make_tensor(const Shape& shape, std::int64_t block, const NodeCase& node,
                             bool is_input) {
  const bool dense = node.slice_extra == 0 || (node.slice_output_only && is_input);
  if (dense || shape.rank() < 4) return GuardedTensor<T>(layout_of(shape, block));
  const Layout whole = layout_of(shape.with(1, shape.c() + node.slice_extra), block);
  return {whole, channel_slice(whole, node.slice_first, shape.c()),
          whole.offset(0, node.slice_first, 0, 0)};
}

/// All tensors of one node.
template <class T>
struct Bench {
  Bench(const ExecutorFactory& executors, const NodeCase& the_case)
      : factory(executors),
        node(the_case),
        signature(node.op->infer(std::span(&node.input, 1))),
        input(make_tensor<T>(node.input, node.input_block, node, true)),
        output(make_tensor<T>(signature.outputs[0], node.output_block, node, false)),
        output_gradient(make_tensor<T>(signature.outputs[0], node.output_block, node, false)),
        input_gradient(make_tensor<T>(node.input, node.input_block, node, true)) {
    for (const ParameterSpec& spec : signature.parameters) {
      parameters.emplace_back(plain_layout(spec.shape));
      parameter_gradients.emplace_back(plain_layout(spec.shape));
    }
    for (const StatisticSpec& spec : signature.statistics) {
      running.emplace_back(plain_layout(spec.shape));
      batch_statistics.emplace_back(plain_layout(spec.shape));
    }
  }

  std::unique_ptr<Executor> make(Pass pass) const {
    StepDescription step;
    step.op = node.op.get();
    step.pass = pass;
    step.storage = DTypeOf<T>::value;
    step.signature = signature;
    step.inputs = {input.layout};
    step.outputs = {output.layout};
    step.needs_input_gradient = {node.needs_input_gradient};
    step.form.adds_gradient = node.adds_gradient && pass == Pass::backward_data;
    step.form.relu = node.relu && (pass == Pass::forward_train || pass == Pass::forward_eval);
    step.threads = node.threads;
    return factory.make(step);
  }

  StepTensors tensors() {
    StepTensors all;
    all.inputs = {input.view()};
    all.outputs = {output.view()};
    all.output_gradients = {output_gradient.view()};
    all.input_gradients = {node.in_place_backward ? output_gradient.view() : input_gradient.view()};
    if (!node.needs_input_gradient) all.input_gradients[0].data = nullptr;
    for (auto& tensor : parameters) all.parameters.push_back(tensor.view());
    for (auto& tensor : parameter_gradients) all.parameter_gradients.push_back(tensor.view());
    for (auto& tensor : running) all.running.push_back(tensor.view());
    for (auto& tensor : batch_statistics) all.batch_statistics.push_back(tensor.view());
    return all;
  }

  const ExecutorFactory& factory;
  const NodeCase& node;
  Signature signature;
  GuardedTensor<T> input, output, output_gradient, input_gradient;
  std::vector<GuardedTensor<Arithmetic<T>>> parameters, parameter_gradients, running,
      batch_statistics;
};

/// Runs one pass; true if nothing was written outside workspace and reserve.
template <class T>
bool run_pass(Bench<T>& bench, Pass pass, GuardedMemory& reserve, NodeResults& results) {
  const std::unique_ptr<Executor> executor = bench.make(pass);
  GuardedMemory workspace(executor->workspace_bytes());
  StepTensors tensors = bench.tensors();
  tensors.reserve = reserve.data();
  tensors.workspace = workspace.data();
  executor->bind(tensors);
  const std::int64_t before = counted_allocations();
  executor->run();
  results.allocations += counted_allocations() - before;
  return workspace.intact() && reserve.intact();
}

template <class T>
void set_values(Bench<T>& bench, double poison) {
  std::vector<double> values = random_values(bench.node.input.elements(), 1);
  if (poison != 0) values.at(3) = poison;
  bench.input.set(values);
  bench.output_gradient.set(random_values(bench.signature.outputs[0].elements(), 2));
  if (bench.node.adds_gradient) bench.input_gradient.set(added_to(bench.node));
  std::uint32_t stream = 3;
  for (auto& tensor : bench.parameters) {
    tensor.set(random_values(shape_of(tensor.layout).elements(), stream++));
  }
  for (auto& tensor : bench.running) {
    std::vector<double> statistic = random_values(shape_of(tensor.layout).elements(), stream++);
    for (double& value : statistic) value = value * value + 0.5;  // a variance is positive
    for (double& value : statistic) value = static_cast<float>(value);
    tensor.set(statistic);
  }
}

template <class T>
bool intact(Bench<T>& bench) {
  bool all = bench.input.memory.intact() && bench.output.memory.intact() &&
             bench.output_gradient.memory.intact() && bench.input_gradient.memory.intact();
  for (auto& tensor : bench.parameter_gradients) all = all && tensor.memory.intact();
  for (auto& tensor : bench.batch_statistics) all = all && tensor.memory.intact();
  return all;
}

template <class T>
void run_backward(Bench<T>& bench, GuardedMemory& reserve, NodeResults& results) {
  const bool joined = bench.node.op->contract().synced_backward;
  bool guards = true;
  if (!joined && !bench.parameters.empty()) {
    guards = run_pass(bench, Pass::backward_parameters, reserve, results);
  }
  if (joined || bench.node.needs_input_gradient) {
    guards = run_pass(bench, Pass::backward_data, reserve, results) && guards;
  }
  for (auto& tensor : bench.parameter_gradients)
    results.parameter_gradients.push_back(tensor.get());
  results.guards_intact = results.guards_intact && guards;
  if (!bench.node.needs_input_gradient) return;
  auto& gradient = bench.node.in_place_backward ? bench.output_gradient : bench.input_gradient;
  results.input_gradient = gradient.get();
  results.padding_zero = results.padding_zero && gradient.padding_zero();
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes)
    : bytes_(bytes), first_(0), storage_(bytes + 2 * kGuard + 64, kGuardByte) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage_.data()) + kGuard;
  first_ = kGuard + (64 - address % 64) % 64;
  fill_with_nan();
}

void GuardedMemory::fill_with_nan() { std::memset(data(), 0xFF, bytes_); }

bool GuardedMemory::intact() const {
  for (std::size_t i = 0; i < storage_.size(); ++i) {
    const bool inside = i >= first_ && i < first_ + bytes_;
    if (!inside && storage_[i] != kGuardByte) return false;
  }
  return true;
}

std::vector<double> random_values(std::int64_t count, std::uint32_t stream) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const Random4 random = random4(7, RandomStream::synthetic, stream, 0, i);
    values.push_back(static_cast<float>(uniform01(random.word[0]) * 2 - 1));
  }
  return values;
}

std::vector<double> added_to(const NodeCase& node) {
  return random_values(node.input.elements(), 100);
}

template <class T>
NodeResults run_node(const ExecutorFactory& factory, const NodeCase& node, double poison) {
  Bench<T> bench(factory, node);
  set_values(bench, poison);
  NodeResults results;
  GuardedMemory none(0);
  results.guards_intact = run_pass(bench, Pass::forward_eval, none, results);
  results.eval = bench.output.get();
  bench.output.memory.fill_with_nan();
  GuardedMemory reserve(bench.make(Pass::forward_train)->reserve_bytes());
  results.guards_intact =
      run_pass(bench, Pass::forward_train, reserve, results) && results.guards_intact;
  results.train = bench.output.get();
  results.padding_zero = bench.output.padding_zero();
  for (auto& tensor : bench.batch_statistics) results.batch_statistics.push_back(tensor.get());
  run_backward(bench, reserve, results);
  results.guards_intact = results.guards_intact && intact(bench);
  return results;
}

template <class T>
NodeResults repeated_run(const ExecutorFactory& factory, const NodeCase& node) {
  NodeResults first = run_node<T>(factory, node);
  first.allocations = 0;  // oneDNN initialises itself in its first run
  NodeResults results = run_node<T>(factory, node);
  CHECK(results == first);
  CHECK(results.guards_intact);
  CHECK(results.padding_zero);
  CHECK(results.allocations == 0);
  return results;
}

bool relu_cuts_alone(const ExecutorFactory& factory, const NodeCase& node) {
  const auto forward = [&](bool relu) {
    NodeCase one = node;
    one.relu = relu;
    const NodeResults results = run_node<float>(factory, one, std::nan(""));
    std::vector<double> values = results.train;
    values.insert(values.end(), results.eval.begin(), results.eval.end());
    return values;
  };
  const std::vector<double> before = forward(false), after = forward(true);
  std::size_t cut = 0, unknown = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    cut += before[i] < 0 ? 1 : 0;
    unknown += std::isnan(before[i]) ? 1 : 0;
    const double expected = before[i] < 0 ? 0 : before[i];
    if (after[i] != expected && !(std::isnan(after[i]) && std::isnan(expected))) return false;
  }
  return cut > 0 && unknown > 0;
}

double tolerance(std::int64_t terms) { return 32 * static_cast<double>(terms) / (1 << 24); }

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

template NodeResults run_node<float>(const ExecutorFactory&, const NodeCase&, double);
template NodeResults run_node<BFloat16>(const ExecutorFactory&, const NodeCase&, double);
template NodeResults run_node<double>(const ExecutorFactory&, const NodeCase&, double);
template NodeResults repeated_run<float>(const ExecutorFactory&, const NodeCase&);
template NodeResults repeated_run<BFloat16>(const ExecutorFactory&, const NodeCase&);

}  // namespace trainyard::test
