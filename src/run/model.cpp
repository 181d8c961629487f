#include "run/model.h"

#include <algorithm>
#include <cstring>

#include "base/key.h"
#include "ops/initializers.h"
#include "ops/metric_sum.h"
#include "plan/fuse.h"

namespace trainyard {
namespace {

PlanRequest request_of(const TrainingGraph& graph, bool train) {
  PlanRequest request{.train = train, .loss = graph.loss, .kept = graph.metrics};
  request.kept.push_back(graph.loss);
  if (graph.graph.output >= 0) request.kept.push_back(graph.graph.output);
  return request;
}

/// Writes floats as the arithmetic type of the memory.
template <class T>
void store(std::span<const float> from, std::byte* to) {
  std::copy(from.begin(), from.end(), reinterpret_cast<T*>(to));
}

void store(DType type, std::span<const float> from, std::byte* to) {
  type == DType::f64 ? store<double>(from, to) : store<float>(from, to);
}

}  // namespace

TrainingGraph attach_loss(Graph network, std::shared_ptr<const Op> loss,
                          std::span<const std::shared_ptr<const Op>> metrics) {
  TrainingGraph result{.graph = std::move(network)};
  Graph& graph = result.graph;
  const std::int64_t batch = graph.values[graph.inputs[0]].shape.n();
  result.labels = static_cast<ValueId>(graph.values.size());
  graph.values.push_back({.shape = Shape{batch}, .type = DType::i32});
  graph.inputs.push_back(result.labels);
  const auto attach = [&](const std::shared_ptr<const Op>& op, const std::string& path) {
    Node node{.path = path, .op = op, .inputs = {graph.output, result.labels}};
    return graph.nodes[append_node(graph, std::move(node))].outputs[0];
  };
  result.loss = attach(loss, "loss");
  for (const auto& metric : metrics) {
    result.metrics.push_back(attach(metric, std::string(metric->type())));
  }
  return result;
}

Model::Model(const TrainingGraph& graph, Device& device, const ExecutorFactory& executors,
             const ModelOptions& options)
    : graph_(graph), launcher_(options.threads) {
  const Graph fused = options.target.fuse ? fuse(graph.graph) : graph.graph;
  planned_ = assign_layouts(fused, options.target);
  blocks_ = lay_out_blocks(planned_.graph);
  const auto make = [&](bool train) {
    return std::make_unique<Program>(make_plan(fused, options.target, request_of(graph, train)),
                                     blocks_, executors, options.threads);
  };
  if (options.train) train_ = make(true);
  eval_ = make(false);
  memory_ = std::make_unique<ModelMemory>(
      device, blocks_,
      ModelMemory::Sizes{.type = options.target.type,
                         .slots = options.slots,
                         .input_bytes = eval_->plan().input_bytes,
                         .batch = graph.graph.values[graph.graph.inputs[0]].shape.n(),
                         .accumulates = options.accumulates});
  const std::size_t train_bytes = train_ ? train_->plan().transient_bytes : 0;
  transient_ = device.allocate(std::max(train_bytes, eval_->plan().transient_bytes));
  auto* transient = static_cast<std::byte*>(transient_->data());
  if (train_) train_->bind(*memory_, transient, options.seed);
  eval_->bind(*memory_, transient, options.seed);
}

void Model::initialize(std::uint64_t seed) {
  const std::size_t element = size_of(memory_->type());
  std::vector<float> values;
  for (const BlockEntry& entry : blocks_.parameters) {
    values.assign(static_cast<std::size_t>(entry.shape.elements()), 0.0f);
    trainyard::initialize(planned_.graph.nodes[entry.node].signature.parameters[entry.index], seed,
                          key_of(entry.name), values);
    store(memory_->type(), values, memory_->weights() + entry.offset * element);
  }
  for (const BlockEntry& entry : blocks_.statistics) {
    const StatisticSpec& spec = planned_.graph.nodes[entry.node].signature.statistics[entry.index];
    values.assign(static_cast<std::size_t>(entry.shape.elements()),
                  static_cast<float>(spec.initial));
    store(memory_->type(), values, memory_->running() + entry.offset * element);
  }
}

void Model::load(const Batch& batch) {
  const TensorView images = eval_->view(graph_.graph.inputs[0]);
  const TensorView labels = eval_->view(graph_.labels);
  store(memory_->type(), batch.images, static_cast<std::byte*>(images.data));
  std::memcpy(labels.data, batch.labels.data(), batch.labels.size_bytes());
  std::copy(batch.sample_index.begin(), batch.sample_index.end(), memory_->sample_index());
  memory_->state()->valid = batch.valid;
}

double Model::sum_of_valid(const TensorView& values) const {
  double total = 0;
  const std::int64_t samples = memory_->batch();
  if (values.type == DType::f64) {
    launcher_.rows(1, MetricSum<double>{values.as<double>(), samples, memory_->state(), &total});
  } else {
    launcher_.rows(1, MetricSum<float>{values.as<float>(), samples, memory_->state(), &total});
  }
  return total;
}

void Model::add_totals(const Program& program, Totals& totals) const {
  totals.loss += sum_of_valid(program.view(graph_.loss));
  totals.metrics.resize(graph_.metrics.size());
  for (std::size_t i = 0; i < graph_.metrics.size(); ++i) {
    totals.metrics[i] += sum_of_valid(program.view(graph_.metrics[i]));
  }
  totals.samples += memory_->state()->valid;
}

}  // namespace trainyard
