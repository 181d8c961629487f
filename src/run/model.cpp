#include "run/model.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/key.h"
#include "ops/elementwise.h"
#include "ops/initializers.h"
#include "ops/metric_sum.h"
#include "run/memory_fit.h"
#include "tensor/float_types.h"

namespace trainyard {
namespace {

/// Writes floats, one after the other, as elements of a float type.
void store(DType type, std::span<const float> from, std::byte* to) {
  if (type == DType::f32) {
    std::memcpy(to, from.data(), from.size_bytes());
    return;
  }
  with_float_type(type, [&]<class T>(std::type_identity<T>) {
    std::transform(from.begin(), from.end(), reinterpret_cast<T*>(to),
                   [](float value) { return static_cast<T>(value); });
  });
}

/// Writes plain floats into a tensor of any layout and float type, zeros into its padding.
void store(const CpuLauncher& launcher, const Walk& walk, std::span<const float> from,
           const TensorView& to) {
  const TensorView plain{const_cast<float*>(from.data()), DType::f32,
                         plain_layout(shape_of(to.layout))};
  with_float_type(to.type, [&]<class T>(std::type_identity<T>) {
    map<T, float>(launcher, walk, Copy{}, plain, to);
  });
}

}  // namespace

Model::Model(const TrainingGraph& graph, Device& device, const ExecutorFactory& executors,
             const ModelOptions& options)
    : graph_(graph),
      launcher_(options.threads),
      programs_(make_programs(graph, executors, options)) {
  require_memory(programs_, device, graph, executors, options);
  memory_ = std::make_unique<ModelMemory>(device, blocks(), programs_.sizes);
  transient_ = device.allocate(programs_.transient_bytes());
  auto* transient = static_cast<std::byte*>(transient_->data());
  if (programs_.train) programs_.train->bind(*memory_, transient, options.seed);
  programs_.eval->bind(*memory_, transient, options.seed);
  const Layout input = eval().view(graph_.graph.inputs[0]).layout;
  input_walk_ = plan_walk(std::array{input, plain_layout(shape_of(input))});
}

void Model::initialize(std::uint64_t seed) {
  const std::size_t element = size_of(memory_->type());
  std::vector<float> values;
  for (const BlockEntry& entry : blocks().parameters) {
    values.assign(static_cast<std::size_t>(entry.shape.elements()), 0.0f);
    trainyard::initialize(planned_graph().nodes[entry.node].signature.parameters[entry.index], seed,
                          key_of(entry.name), values);
    store(memory_->type(), values, memory_->weights() + entry.offset * element);
  }
  for (const BlockEntry& entry : blocks().statistics) {
    const StatisticSpec& spec = planned_graph().nodes[entry.node].signature.statistics[entry.index];
    values.assign(static_cast<std::size_t>(entry.shape.elements()),
                  static_cast<float>(spec.initial));
    store(memory_->type(), values, memory_->running() + entry.offset * element);
  }
}

void Model::load(const Batch& batch) {
  const TensorView images = eval().view(graph_.graph.inputs[0]);
  const TensorView labels = eval().view(graph_.labels);
  if (same_memory(images.layout, plain_layout(shape_of(images.layout)))) {
    store(images.type, batch.images, static_cast<std::byte*>(images.data));
  } else {
    store(launcher_, input_walk_, batch.images, images);
  }
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
