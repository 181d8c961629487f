#include "model/model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/hash.h"
#include "base/philox.h"
#include "compute/weight_packing.h"
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
      threads_(options.threads),
      average_(options.average),
      programs_(make_programs(graph, compute.executors, options)),
      evaluations_{evaluation_of(EvaluatedSplit::training),
                   evaluation_of(EvaluatedSplit::validation)} {
  if (!eval().plan().target.can(Can::merge_launches)) compute_.batches = nullptr;
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
  make_batch_memory();
  make_reorders(options.threads);
  if (options.kept_outputs > 0) {
    output_rows_ =
        std::make_unique<OutputRows>(compute_, *memory_, eval().view(graph_.graph.output),
                                     options.kept_outputs, options.threads);
  }
}

RepeatedWork Model::evaluation_of(EvaluatedSplit split) {
  return {compute_.device, compute_.queue, [this, split] {
            take_batch(split);
            eval().forward();
            add_results(eval());
            if (output_rows_ && split == EvaluatedSplit::validation) output_rows_->store();
          }};
}

void Model::initialize(std::uint64_t seed, const FillFromData& fill) {
  const std::size_t element = size_of(memory_->type());
  std::vector<float> values;
  for (const BlockEntry& entry : blocks().parameters) {
    values.assign(static_cast<std::size_t>(entry.shape.elements()), 0.0f);
    const ParameterSpec& spec = planned_graph().nodes[entry.node].signature.parameters[entry.index];
    if (fill && spec.initializer.kind == Initializer::Kind::whitening) {
      fill(spec, values);
    } else {
      trainyard::initialize(spec, seed, key_of(entry.name), values);
    }
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

void Model::publish_weights(WeightChange change, const RateWindow* pulls) {
  if (average_ && change != WeightChange::average) {
    follow_average(change == WeightChange::load, average_->looks_ahead ? pulls : nullptr);
  }
  if (pack_) pack_->run();
}

void Model::follow_average(bool restart, const RateWindow* pulls) {
  const WeightBlocks averaged = memory_->averaged();
  const bool statistics = restart || average_->statistics;
  const std::int64_t running = statistics ? blocks().statistic_elements / kChunk : 0;
  compute_.launches.average(
      {.type = memory_->type(),
       .weights = {averaged.weights, memory_->weights(), blocks().parameter_elements / kChunk},
       .running = {averaged.running, memory_->running(), running},
       .state = memory_->state(),
       .rule = average_->rule,
       .restart = restart,
       .pulls = pulls});
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

std::vector<BatchPart> Model::memory_of_parts() {
  std::vector<BatchPart> parts;
  for (const GraphField& field : graph_.fields) {
    const Value& value = graph_.graph.values[field.value];
    parts.push_back(
        {.home = static_cast<std::byte*>(eval().view(field.value).data),
         .bytes = static_cast<std::size_t>(value.shape.elements()) * size_of(value.type)});
  }
  parts.push_back({.home = reinterpret_cast<std::byte*>(memory_->sample_index()),
                   .bytes = static_cast<std::size_t>(memory_->batch()) * sizeof(std::int64_t)});
  if (graph_.images >= 0) add_image_parts(parts);
  return parts;
}

void Model::add_image_parts(std::vector<BatchPart>& parts) {
  TY_CHECK(eval().view(graph_.images).data < parts.front().home,
           "the network's input is the first: images are not among what is copied home");
  const auto add = [&](void* home, std::size_t bytes, bool in_place = true) {
    parts.push_back({.home = static_cast<std::byte*>(home), .bytes = bytes, .in_place = in_place});
  };
  if (train_images_ != nullptr) {
    add(spatial_->data(), spatial_->size() * sizeof(SpatialTransform));
    add(colours_->data(), colours_->size() * sizeof(ColourTransform));
    add(mixes_->data(), mixes_->size() * sizeof(PairMix));
    return add(train_images_->incoming().data(), train_images_->incoming().size());
  }
  const Shape& image = graph_.graph.values[graph_.images].shape;
  const auto bytes = static_cast<std::size_t>(image.elements()) * sizeof(float);
  if (programs_.sizes.staging_bytes > 0) return add(memory_->staging(), bytes);
  add(eval().view(graph_.images).data, bytes, false);
}

void Model::make_batch_memory() {
  const std::vector<BatchPart> parts = memory_of_parts();
  parts_.resize(parts.size());
  batch_memory_ = std::make_unique<BatchMemory>(compute_, parts);
}

std::byte* Model::image_part(std::size_t index) const {
  return batch_memory_->data(graph_.fields.size() + 1 + index, batch_slot());
}

void Model::make_reorders(int threads) {
  if (programs_.sizes.staging_bytes == 0 || compute_.batches != nullptr) return;
  const TensorView images = eval().view(graph_.images);
  const Layout plain = plain_layout(shape_of(images.layout));
  for (std::size_t slot = 0; slot < batch_memory_->slots(); ++slot) {
    const TensorView from{batch_memory_->data(graph_.fields.size() + 1, slot), DType::f32, plain};
    reorder_images_.push_back(
        compute_.executors.make_reorder(plain, DType::f32, images.layout, images.type, threads));
    reorder_images_.back()->bind({.inputs = {from}, .outputs = {images}});
  }
}

void Model::set_parts(const Batch& batch) {
  TY_CHECK(batch.fields.size() == graph_.fields.size(), "a batch has the fields of the graph");
  auto part = std::ranges::copy(batch.fields, parts_.begin()).out;
  *part++ = std::as_bytes(batch.sample_index);
  if (graph_.images < 0) return;
  if (train_images_ == nullptr) {
    *part = std::as_bytes(batch.images);
  } else {
    *part++ = std::as_bytes(batch.spatial);
    *part++ = std::as_bytes(batch.colours);
    *part++ = std::as_bytes(batch.mixes);
    *part = std::as_bytes(batch.bytes);
  }
}

void Model::load(const Batch& batch) {
  set_parts(batch);
  batch_memory_->put(parts_);
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
  spatial_ = std::make_unique<DeviceArray<SpatialTransform>>(
      compute_.device, of_batch(pipeline.spatial_transforms()));
  colours_ = std::make_unique<DeviceArray<ColourTransform>>(compute_.device,
                                                            of_batch(pipeline.colour_transforms()));
  mixes_ = std::make_unique<DeviceArray<PairMix>>(compute_.device,
                                                  pipeline.mixing() ? of_batch(1) / 2 : 0);
  reorder_images_.clear();
  make_batch_memory();
}

void Model::take_batch(EvaluatedSplit split) {
  const DeviceImages* const images =
      split == EvaluatedSplit::training ? train_images_ : eval_images_;
  if (images != nullptr) {
    // The launch that reads the samples' indices is the one that brings them home.
    const std::byte* const index = batch_memory_->data(graph_.fields.size(), batch_slot());
    images->gather(
        {.sample_index = reinterpret_cast<const std::int64_t*>(index),
         .spatial = reinterpret_cast<const SpatialTransform*>(image_part(0)),
         .colours = reinterpret_cast<const ColourTransform*>(image_part(1)),
         .mixes = mixes_->size() == 0 ? nullptr : reinterpret_cast<const PairMix*>(image_part(2)),
         .bytes = reinterpret_cast<const std::uint8_t*>(image_part(3)),
         .words = batch_memory_->words()},
        eval().view(graph_.images));
  } else if (compute_.batches != nullptr && programs_.sizes.staging_bytes > 0) {
    compute_.batches->place(reinterpret_cast<const float*>(image_part(0)), nullptr,
                            eval().view(graph_.images), batch_memory_->words());
  } else {
    batch_memory_->take();
    if (!reorder_images_.empty()) reorder_images_[batch_slot()]->run();
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

std::string model_hash(const Model& model, std::vector<std::byte>& copy) {
  const ModelMemory& memory = model.memory();
  const BlockLayout& blocks = model.blocks();
  Queue& queue = model.compute().queue;
  Hash128 hash;
  const auto add = [&](const std::byte* from, std::int64_t elements) {
    copy.resize(static_cast<std::size_t>(elements) * size_of(memory.type()));
    if (copy.empty()) return;
    queue.copy_to_host(copy.data(), from, copy.size());
    queue.wait();
    hash.update(copy);
  };
  add(memory.weights(), blocks.parameter_elements);
  for (int slot = 0; slot < memory.slots(); ++slot) {
    add(memory.slot(slot), blocks.parameter_elements);
  }
  add(memory.running(), blocks.statistic_elements);
  if (memory.averages()) {
    add(memory.averaged().weights, blocks.parameter_elements);
    add(memory.averaged().running, blocks.statistic_elements);
  }
  return hash.hex();
}

}  // namespace trainyard
