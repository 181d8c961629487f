#include "rank_training.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "../ranks/thread_ranks.h"
#include "base/parallel.h"
#include "config/load.h"
#include "data/augment/crops.h"
#include "data/augment/flip.h"
#include "data/augment/preprocess.h"
#include "data/sets/synthetic.h"
#include "ranks/comm/communicator.h"
#include "train/evaluator.h"
#include "train/train_step.h"

namespace trainyard::test {
namespace {

std::unique_ptr<Dataset> make_set(Split split, std::int64_t size) {
  SyntheticOptions options;
  options.shape = {3, 9, 7};
  options.classes = 4;
  options.size = size;
  options.split = split;
  options.learnable = true;
  return open_synthetic(options, 3);
}

Pipeline make_pipeline(const Shape& image, bool bare) {
  if (bare) return Pipeline(image, {}, {});
  std::vector<std::shared_ptr<const Augmentation>> augment;
  augment.push_back(std::make_unique<PadCrop>(PadCropOptions{.pad = 1}));
  augment.push_back(std::make_unique<Flip>(Flip::Axis::horizontal, 0.5));
  std::vector<std::shared_ptr<const Preprocess>> preprocess;
  preprocess.push_back(std::make_unique<Scale>(1.0 / 128));
  return Pipeline(image, std::move(augment), std::move(preprocess));
}

/// The pipeline, which mixes now if the training does.
const Pipeline& mixing(Pipeline& pipeline, const RankTraining& training) {
  pipeline.mix_with(training.mix);
  return pipeline;
}

std::int64_t own_shards(const StepOptions& options, const Communicator& ranks) {
  return std::max<std::int64_t>(options.shards / ranks.size(), 1);
}

TrainingGraph graph_of(const RankTraining& training) {
  TrainingGraph graph =
      training_graph(config::parse_yaml(training.network, "network"), training.batch,
                     training.heads, training.weights.has_value(), training.mix.has_value());
  for (Node& node : graph.graph.nodes) node.frozen = node.path == training.frozen;
  return graph;
}

FeederOptions feeding(const RankTraining& training, const Communicator& ranks) {
  return {.batch = training.batch,
          .seed = training.seed,
          .shuffle = training.set == nullptr,
          .workers = 1,
          .fields = field_names(graph_of(training)),
          .weights = training.weights,
          .rank = ranks.rank(),
          .ranks = ranks.size(),
          .shards = own_shards(training.options, ranks)};
}

std::vector<std::byte> bytes_of(Queue& queue, const std::byte* from, std::int64_t elements,
                                DType type) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements) * size_of(type));
  if (!bytes.empty()) queue.copy_to_host(bytes.data(), from, bytes.size());
  queue.wait();
  return bytes;
}

/// The CPU as a device, on which ranks sum synchronously.
class Processor final : public RankDevice {
 public:
  Processor(const ExecutorFactory& executors, Communicator& ranks)
      : executors_(executors), ranks_(ranks) {}
  [[nodiscard]] Compute compute() override { return {*device_, *queue_, executors_, *launches_}; }
  [[nodiscard]] Communicator& ranks() override { return ranks_; }

 private:
  const ExecutorFactory& executors_;
  Communicator& ranks_;
  std::unique_ptr<Device> device_ = make_cpu_device();
  std::unique_ptr<Queue> queue_ = device_->make_queue();
  std::unique_ptr<UpdateLaunches> launches_ = make_cpu_update_launches(1);
};

/// One rank with all its own objects.
class Rank {
 public:
  Rank(const RankTraining& training, Communicator& ranks)
      : training_(training),
        ranks_(ranks),
        executors_(training.onednn ? make_cpu_executors() : make_reference_executors()),
        device_(training.device(*executors_, ranks)),
        own_set_(make_set(Split::train, 150)),
        set_(training.set != nullptr ? *training.set : *own_set_),
        pipeline_(make_pipeline(set_.image_shape(), training.set != nullptr)),
        feeder_(set_, mixing(pipeline_, training), feeding(training, ranks)),
        model_(graph_of(training), device_->compute(),
               {.target = training.target,
                .seed = training.seed,
                .slots = static_cast<int>(optimizer_->slots.size()),
                .average = training.average,
                .accumulates = training.options.accumulate > 1,
                .shards = own_shards(training.options, ranks),
                .statistics_sum = statistics_sum_.get()}),
        step_(model_, device_->ranks(), *optimizer_, nullptr, {.base = optimizer_->rate},
              training.options) {
    model_.initialize(training.seed);
  }

  TrainedRank run() {
    TrainedRank result;
    for (std::int64_t update = 0; update < training_.updates; ++update) {
      begin_epoch_if_due(update);
      step_.run([this]() -> const Batch& { return feeder_.next(); });
      const auto taken = step_.results().take_all();
      result.updates.insert(result.updates.end(), taken.begin(), taken.end());
    }
    read_memory(result);
    evaluate_into(result);
    return result;
  }

 private:
  void begin_epoch_if_due(std::int64_t update) {
    const std::int64_t updates = feeder_.batches_per_epoch() / step_.passes();
    if (update % updates != 0) return;
    feeder_.start(static_cast<std::uint32_t>(update / updates));
    model_.set_epoch(update / updates);
  }
  void read_memory(TrainedRank& result) {
    const ModelMemory& memory = model_.memory();
    const BlockLayout& blocks = model_.blocks();
    const DType type = memory.type();
    Queue& queue = model_.compute().queue;
    result.weights = bytes_of(queue, memory.weights(), blocks.parameter_elements, type);
    result.slots = bytes_of(queue, memory.slot(0), blocks.parameter_elements, type);
    result.running = bytes_of(queue, memory.running(), blocks.statistic_elements, type);
    if (!memory.averages()) return;
    const WeightBlocks averaged = memory.averaged();
    result.averaged = bytes_of(queue, averaged.weights, blocks.parameter_elements, type);
    const auto running = bytes_of(queue, averaged.running, blocks.statistic_elements, type);
    result.averaged.insert(result.averaged.end(), running.begin(), running.end());
  }
  void evaluate_into(TrainedRank& result) {
    if (training_.set != nullptr) return;
    const auto set = make_set(Split::test, 37);
    Feeder feeder(*set, pipeline_,
                  {.batch = training_.batch,
                   .shuffle = false,
                   .train = false,
                   .fields = field_names(graph_of(training_)),
                   .weights = training_.weights,
                   .rank = ranks_.rank(),
                   .ranks = ranks_.size()});
    result.evaluation = Evaluator(model_, feeder, ranks_).run();
  }

  const RankTraining& training_;
  Communicator& ranks_;
  std::unique_ptr<ExecutorFactory> executors_;
  std::unique_ptr<RankDevice> device_;
  std::unique_ptr<StatisticsSum> statistics_sum_ =
      make_statistics_sum(device_->ranks(), device_->compute().queue);
  std::unique_ptr<Optimizer> optimizer_ =
      make_optimizer(training_.optimizer, training_.optimizer_keys);
  std::unique_ptr<Dataset> own_set_;
  const Dataset& set_;
  Pipeline pipeline_;
  Feeder feeder_;
  Model model_;
  TrainStep step_;
};

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

std::vector<double> row_of(const Totals& totals) {
  std::vector<double> row{totals.loss, static_cast<double>(totals.samples)};
  row.insert(row.end(), totals.metrics.begin(), totals.metrics.end());
  return row;
}

}  // namespace

std::vector<double> TrainedRank::numbers() const {
  std::vector<double> all;
  for (const StepResult& update : updates) {
    all.insert(all.end(), {update.rate, update.gradient_norm, update.loss_scale});
    const std::vector<double> sums = row_of(update.totals);
    all.insert(all.end(), sums.begin(), sums.end());
  }
  return all;
}

std::unique_ptr<RankDevice> make_processor(const ExecutorFactory& executors, Communicator& ranks) {
  return std::make_unique<Processor>(executors, ranks);
}

std::vector<TrainedRank> train_on_ranks(int ranks, const RankTraining& training) {
  std::vector<TrainedRank> results(static_cast<std::size_t>(ranks));
  const testing::Outcomes outcomes =
      testing::run_gloo(testing::StoreKind::memory, ranks, [&](Communicator& communicator) {
        set_threads(1);
        results[static_cast<std::size_t>(communicator.rank())] = Rank(training, communicator).run();
      });
  for (const std::string& outcome : outcomes) {
    if (!outcome.empty()) throw std::runtime_error(outcome);
  }
  return results;
}

std::string differences(const TrainedRank& a, const TrainedRank& b) {
  std::string list;
  const auto compare = [&](bool same, const char* what) {
    if (!same) list += (list.empty() ? "" : ", ") + std::string(what);
  };
  compare(same_bytes(a.weights, b.weights), "weights");
  compare(same_bytes(a.slots, b.slots), "optimizer state");
  compare(same_bytes(a.running, b.running), "running statistics");
  compare(same_bytes(a.averaged, b.averaged), "average");
  compare(same_bytes(a.numbers(), b.numbers()), "updates");
  compare(same_bytes(row_of(a.evaluation), row_of(b.evaluation)), "evaluation");
  return list;
}

}  // namespace trainyard::test
