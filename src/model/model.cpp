#include "model/model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/key.h"
#include "base/offset_allocator.h"
#include "exec/weight_packing.h"
#include "model/memory_fit.h"
#include "ops/initializers.h"

namespace trainyard {
namespace {

/// Writes floats, one after the other, as elements of the blocks' type.
void store(Queue& queue, DType type, std::span<const float> from, std::byte* to) {
  if (type == DType::f32) return queue.copy_from_host(to, from.data(), from.size_bytes());
  const std::vector<double> wide(from.begin(), from.end());
  queue.copy_from_host(to, wide.data(), wide.size() * sizeof(double));
}

}  // namespace

void Totals::add(const Totals& other) {
  loss += other.loss;
  metrics.resize(other.metrics.size());
  for (std::size_t i = 0; i < metrics.size(); ++i) metrics[i] += other.metrics[i];
  samples += other.samples;
}

double with_plain_nan(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

void read_totals(std::span<const double> row, std::int64_t samples, Totals& totals) {
  totals.loss = with_plain_nan(row[ResultRow::loss]);
  totals.metrics.assign(row.begin() + ResultRow::loss + 1, row.end());
  totals.samples = samples;
}

Model::Model(const TrainingGraph& graph, const Compute& compute, const ModelOptions& options)
    : graph_(graph),
      compute_(compute),
      average_(options.average),
      programs_(make_programs(graph, compute.executors, options)),
      evaluations_{evaluation_of(EvaluatedSplit::training),
                   evaluation_of(EvaluatedSplit::validation)} {
  require_memory(programs_, compute.device, graph, compute.executors, options);
  memory_ = std::make_unique<ModelMemory>(compute.device, compute.queue, blocks(), programs_.sizes);
  transient_ = compute.device.allocate(programs_.transient_bytes());
  auto* transient = static_cast<std::byte*>(transient_->data());
  if (programs_.train) {
    programs_.train->bind(*memory_, memory_->trained(), transient, options.seed);
    train_results_ = std::make_unique<BatchResults>(compute_, graph_, *memory_, train());
  }
  programs_.eval->bind(*memory_, judged_weights(), transient, options.seed);
  eval_results_ = std::make_unique<BatchResults>(compute_, graph_, *memory_, eval());
  make_pack();
  parts_.reserve(graph_.fields.size() + 4);  // the most of set_parts()
  make_upload();
  if (options.kept_outputs > 0) {
    output_rows_ =
        std::make_unique<OutputRows>(compute_, *memory_, eval().view(graph_.graph.output),
                                     options.kept_outputs, options.threads);
  }
  if (programs_.sizes.staging_bytes == 0) return;
  const TensorView images = eval().view(graph_.images);
  const TensorView staged{memory_->staging(), DType::f32, plain_layout(shape_of(images.layout))};
  reorder_images_ = compute.executors.make_reorder(staged.layout, staged.type, images.layout,
                                                   images.type, options.threads);
  reorder_images_->bind({.inputs = {staged}, .outputs = {images}});
}

RepeatedWork Model::evaluation_of(EvaluatedSplit split) {
  return {compute_.device, compute_.queue, [this, split] {
            place_images(split == EvaluatedSplit::training ? train_images_ : eval_images_);
            eval().run();
            add_results(eval());
            if (output_rows_ && split == EvaluatedSplit::validation) output_rows_->store();
          }};
}

void Model::initialize(std::uint64_t seed) {
  const std::size_t element = size_of(memory_->type());
  std::vector<float> values;
  for (const BlockEntry& entry : blocks().parameters) {
    values.assign(static_cast<std::size_t>(entry.shape.elements()), 0.0f);
    trainyard::initialize(planned_graph().nodes[entry.node].signature.parameters[entry.index], seed,
                          key_of(entry.name), values);
    store(compute_.queue, memory_->type(), values, memory_->weights() + entry.offset * element);
  }
  for (const BlockEntry& entry : blocks().statistics) {
    const StatisticSpec& spec = planned_graph().nodes[entry.node].signature.statistics[entry.index];
    values.assign(static_cast<std::size_t>(entry.shape.elements()),
                  static_cast<float>(spec.initial));
    store(compute_.queue, memory_->type(), values, memory_->running() + entry.offset * element);
  }
  publish_weights(WeightChange::load);
}

void Model::publish_weights(WeightChange change) {
  if (average_ && change != WeightChange::average) follow_average(change == WeightChange::load);
  if (pack_) pack_->run();
}

void Model::follow_average(bool restart) {
  const WeightBlocks averaged = memory_->averaged();
  compute_.launches.average(
      {.type = memory_->type(),
       .weights = {averaged.weights, memory_->weights(), blocks().parameter_elements / kChunk},
       .running = {averaged.running, memory_->running(), blocks().statistic_elements / kChunk},
       .state = memory_->state(),
       .rule = average_->rule,
       .restart = restart});
}

void Model::make_pack() {
  const PackedLayout& packed = blocks().packed;
  if (packed.entries.empty()) return;
  std::vector<WeightBlocks> copies{memory_->trained()};
  if (memory_->packs_average()) copies.push_back(memory_->averaged());
  std::vector<WeightShape> shapes;
  StepTensors tensors;
  for (const WeightBlocks& copy : copies) {
    for (const PackedEntry& entry : packed.entries) {
      const BlockEntry& parameter = blocks().parameters[entry.parameter];
      shapes.push_back(entry.shape);
      tensors.inputs.push_back({.data = copy.weights + parameter.offset * size_of(memory_->type()),
                                .type = memory_->type(),
                                .layout = plain_layout(parameter.shape)});
      tensors.outputs.push_back(packed.view(copy.packed, entry));
    }
  }
  pack_ = weight_packing_of(compute_.executors)->make_pack(shapes, packed.type);
  pack_->bind(tensors);
}

void Model::set_epoch(std::int64_t epoch) {
  if (epoch == epoch_) return;
  epoch_ = epoch;
  compute_.queue.copy_from_host(&memory_->state()->epoch, &epoch, sizeof epoch);
}

void Model::set_valid(std::int64_t valid) {
  if (valid == valid_) return;
  valid_ = valid;
  compute_.queue.copy_from_host(&memory_->state()->valid, &valid, sizeof valid);
}

void Model::make_upload() {
  if (compute_.copies == nullptr) return;
  const auto batch = static_cast<std::size_t>(memory_->batch());
  OffsetAllocator parts;
  if (spatial_) {
    parts.take(spatial_->size() * sizeof(SpatialStep));
    parts.take(colours_->size() * sizeof(ColourStep));
    parts.take(train_images_->incoming().size());
  } else if (graph_.images >= 0) {
    const Shape& image = graph_.graph.values[graph_.images].shape;
    parts.take(static_cast<std::size_t>(image.elements()) * sizeof(float));
  }
  for (const GraphField& field : graph_.fields) {
    const Value& value = graph_.graph.values[field.value];
    parts.take(static_cast<std::size_t>(value.shape.elements()) * size_of(value.type));
  }
  parts.take(batch * sizeof(std::int64_t));
  upload_ = std::make_unique<BatchUpload>(compute_.device, compute_.queue, *compute_.copies,
                                          parts.used());
}

void Model::set_parts(const Batch& batch) {
  TY_CHECK(batch.fields.size() == graph_.fields.size(), "a batch has the fields of the graph");
  parts_.clear();
  for (std::size_t i = 0; i < graph_.fields.size(); ++i) {
    parts_.push_back({eval().view(graph_.fields[i].value).data, batch.fields[i].data(),
                      batch.fields[i].size_bytes()});
  }
  parts_.push_back(
      {memory_->sample_index(), batch.sample_index.data(), batch.sample_index.size_bytes()});
  if (graph_.images < 0) return;
  if (train_images_ == nullptr) {
    void* const images = reorder_images_ ? memory_->staging() : eval().view(graph_.images).data;
    parts_.push_back({images, batch.images.data(), batch.images.size_bytes()});
  } else {
    parts_.push_back({spatial_->data(), batch.spatial.data(), batch.spatial.size_bytes()});
    parts_.push_back(
        {train_images_->incoming().data(), batch.bytes.data(), batch.bytes.size_bytes()});
    parts_.push_back({colours_->data(), batch.colours.data(), batch.colours.size_bytes()});
  }
}

void Model::load(const Batch& batch) {
  set_parts(batch);
  if (upload_) {
    upload_->put(parts_);
  } else {
    for (const Upload& part : parts_) {
      if (part.bytes > 0) compute_.queue.copy_from_host(part.to, part.from, part.bytes);
    }
  }
  set_valid(batch.valid);
  samples_ += batch.valid;
}

void Model::feed_from(const DeviceImages& train, const DeviceImages& eval,
                      const Pipeline& pipeline) {
  TY_CHECK(train.incoming().data() == eval.incoming().data(),
           "all images of batches arrive in one buffer");
  train_images_ = &train;
  eval_images_ = &eval;
  const auto of_batch = [&](std::int64_t steps) {
    return static_cast<std::size_t>(memory_->batch() * steps);
  };
  spatial_ = std::make_unique<DeviceArray<SpatialStep>>(compute_.device,
                                                        of_batch(pipeline.spatial_steps()));
  colours_ =
      std::make_unique<DeviceArray<ColourStep>>(compute_.device, of_batch(pipeline.colour_steps()));
  make_upload();
}

void Model::place_images(const DeviceImages* images) {
  if (images != nullptr) {
    images->gather(memory_->sample_index(), spatial_->data(), colours_->data(),
                   eval().view(graph_.images));
  } else if (reorder_images_) {
    reorder_images_->run();
  }
}

void Model::move_results(double* row) {
  const std::size_t bytes = static_cast<std::size_t>(programs_.sizes.results) * sizeof(double);
  compute_.queue.copy(row, memory_->results(), bytes);
  compute_.queue.fill(memory_->results(), std::byte{0}, bytes);
}

Totals Model::take_totals() {
  std::vector<double> row(static_cast<std::size_t>(programs_.sizes.results));
  Queue& queue = compute_.queue;
  queue.copy_to_host(row.data(), memory_->results(), row.size() * sizeof(double));
  queue.fill(memory_->results(), std::byte{0}, row.size() * sizeof(double));
  queue.wait();
  Totals totals;
  read_totals(row, take_samples(), totals);
  return totals;
}

}  // namespace trainyard
