#include "small_training.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/philox.h"
#include "config/load.h"
#include "device/device.h"
#include "graph/build.h"
#include "ops/loss.h"
#include "ranks/comm/communicator.h"
#include "tensor/dtype.h"
#include "train/train_step.h"

namespace trainyard::test {
namespace {

template <class Base>
std::unique_ptr<Base> make_member(std::span<const config::Kind<Base>> family,
                                  const std::string& name, const std::string& keys) {
  config::Diagnostics diagnostics;
  const config::Node node = config::parse_yaml(keys, name);
  for (const config::Kind<Base>& kind : family) {
    if (kind.name != name) continue;
    config::Fields fields(node, nullptr, name, config::Profile::keras2, diagnostics);
    std::unique_ptr<Base> member = kind.read(fields);
    diagnostics.raise();
    return member;
  }
  throw std::logic_error("no " + name);
}

/// Images in [-1, 1) or tokens, and labels, of one step, for all `replicas` of a graph together.
class NoiseBatch {
 public:
  NoiseBatch(const TrainingGraph& graph, int replicas, std::int64_t step)
      : images_(graph.images < 0 ? 0 : elements_of(graph, graph.images, replicas)),
        index_(static_cast<std::size_t>(graph.graph.values[graph.graph.inputs[0]].shape.n() *
                                        replicas)) {
    const auto key = static_cast<std::uint32_t>(step);
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const Random4 draw = random4(3, RandomStream::synthetic, key, 0, i);
      images_[i] = 2 * uniform01(draw.word[0]) - 1;
    }
    const std::int64_t classes = graph.graph.values[graph.graph.output].shape.c();
    for (const GraphField& field : graph.fields) {
      const bool tokens = field.value == graph.graph.inputs[0];
      std::vector<std::int32_t>& drawn =
          fields_.emplace_back(elements_of(graph, field.value, replicas));
      const std::int64_t below = tokens ? graph.graph.vocabulary : classes;
      for (std::size_t i = 0; i < drawn.size(); ++i) {
        const Random4 draw = random4(3, RandomStream::synthetic, key, tokens ? 2 : 1, i);
        drawn[i] = static_cast<std::int32_t>(draw.word[0] % static_cast<std::uint32_t>(below));
      }
    }
    std::iota(index_.begin(), index_.end(), step * std::ssize(index_));
  }
  std::vector<float>& images() { return images_; }
  /// The part of one replica; all are equal.
  [[nodiscard]] Batch share(int replica, int replicas) const {
    const auto cut = [&](const auto& values) {
      const std::size_t count = values.size() / static_cast<std::size_t>(replicas);
      return std::span(values).subspan(count * static_cast<std::size_t>(replica), count);
    };
    Batch batch{.images = cut(images_),
                .fields = {},
                .sample_index = cut(index_),
                .valid = static_cast<std::int64_t>(cut(index_).size())};
    for (const auto& field : fields_) batch.fields.push_back(std::as_bytes(cut(field)));
    return batch;
  }

 private:
  static std::size_t elements_of(const TrainingGraph& graph, ValueId value, int replicas) {
    return static_cast<std::size_t>(graph.graph.values[value].shape.elements() * replicas);
  }

  std::vector<float> images_;
  std::vector<std::vector<std::int32_t>> fields_;
  std::vector<std::int64_t> index_;
};

std::vector<double> elements(Queue& queue, const std::vector<BlockEntry>& entries,
                             const std::byte* block, DType type) {
  std::vector<double> values;
  for (const BlockEntry& entry : entries) {
    with_float_type(type, [&]<class T>(std::type_identity<T>) {
      std::vector<T> copy(static_cast<std::size_t>(entry.shape.elements()));
      queue.copy_to_host(copy.data(), reinterpret_cast<const T*>(block) + entry.offset,
                         copy.size() * sizeof(T));
      queue.wait();
      for (const T value : copy)
        values.push_back(static_cast<double>(static_cast<Arithmetic<T>>(value)));
    });
  }
  return values;
}

void note(Trained& trained, std::span<const StepResult> results) {
  for (const StepResult& result : results) {
    trained.finite.push_back(result.finite);
    trained.skipped.push_back(result.skipped);
    trained.loss_scale.push_back(result.loss_scale);
    trained.losses.push_back(result.totals.loss / static_cast<double>(result.totals.samples));
  }
}

/// Reads weights and statistics, and evaluates an unseen batch.
void finish(Trained& trained, Model& model, const Batch& unseen) {
  model.load(unseen);
  model.evaluate();
  trained.evaluation = model.take_totals();
  const ModelMemory& memory = model.memory();
  const auto read = [&](const std::vector<BlockEntry>& entries, const std::byte* block) {
    return elements(model.compute().queue, entries, block, memory.type());
  };
  trained.weights = read(model.blocks().parameters, memory.weights());
  trained.running = read(model.blocks().statistics, memory.running());
}

Trained train(const TrainingGraph& graph, const Target& target, const Compute& compute,
              const StepOptions& options, const Course& course, const Jitter& jitter) {
  Communicator& communicator = *course.communicator;
  const auto statistics_sum = make_statistics_sum(communicator, compute.queue);
  const auto sgd = make_member(optimizer_kinds(), "sgd",
                               "{lr: " + std::to_string(course.rate) + ", momentum: 0.9}");
  Model model(graph, compute,
              {.target = target, .seed = 11, .slots = 1, .statistics_sum = statistics_sum.get()});
  model.initialize(course.seed);
  TrainStep train_step(model, communicator, *sgd, nullptr, {.base = course.rate}, options);
  Trained trained;
  for (std::int64_t step = 0; step < course.steps; ++step) {
    NoiseBatch batch(graph, communicator.size(), step);
    if (jitter) jitter(batch.images());
    model.load(batch.share(communicator.rank(), communicator.size()));
    train_step.run();
    if (!train_step.results().full()) continue;
    note(trained, train_step.results().take_oldest());
    trained.left.push_back(train_step.results().pending());
  }
  note(trained, train_step.results().take_all());
  finish(trained, model,
         NoiseBatch(graph, communicator.size(), course.steps)
             .share(communicator.rank(), communicator.size()));
  return trained;
}

}  // namespace

TrainingGraph training_graph(const std::string& yaml, std::int64_t batch) {
  return training_graph(config::parse_yaml(yaml, "network"), batch);
}

TrainingGraph training_graph(const config::Node& network, std::int64_t batch) {
  return training_graph(network, batch, {}, false);
}

TrainingGraph training_graph(const config::Node& network, std::int64_t batch,
                             const std::vector<std::string>& heads, bool weighted, bool mixed) {
  Graph graph = build_graph(network, {.batch = batch});
  const Shape& output = graph.values[graph.output].shape;
  const bool single = output.rank() == 2 && output[1] == 1;
  const char* const loss = single ? "binary_cross_entropy" : "cross_entropy";
  Objectives objectives{.losses = {make_member(loss_kinds(), loss, "{}")},
                        .metrics = {make_member(metric_kinds(), "accuracy", "{}")},
                        .weighted = weighted,
                        .mixed = mixed};
  for (const std::string& keys : heads) {
    objectives.losses.push_back(make_member(loss_kinds(), "cross_entropy", keys));
  }
  if (output.rank() == 4) objectives.fields[0].shape = {output.w()};  // a label for each position
  return attach_objectives(std::move(graph), objectives);
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const std::string& keys) {
  return make_member(optimizer_kinds(), name, keys);
}

Trained train_ten_steps(const TrainingGraph& graph, const Target& target,
                        const ExecutorFactory& executors, const Jitter& jitter) {
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  const auto launches = make_cpu_update_launches(1);
  return train_ten_steps(graph, target, {*device, *queue, executors, *launches}, {}, jitter);
}

Trained train_ten_steps(const TrainingGraph& graph, const Target& target, const Compute& compute,
                        const StepOptions& options, const Jitter& jitter) {
  const auto alone = make_single_communicator();
  return train(graph, target, compute, options, {.communicator = alone.get()}, jitter);
}

Trained train_replica(const TrainingGraph& graph, const Target& target, const Compute& compute,
                      const Course& course) {
  const auto alone = make_single_communicator();
  Course joined = course;
  if (joined.communicator == nullptr) joined.communicator = alone.get();
  return train(graph, target, compute, {}, joined, nullptr);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace trainyard::test
