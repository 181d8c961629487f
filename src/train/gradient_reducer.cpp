#include "train/gradient_reducer.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace trainyard {
namespace {

/// Sums of a rank's results: one row for the micro-batches, then those of the shards.
std::int64_t result_rows(std::int64_t shards) {
  return 1 + std::countr_zero(static_cast<std::uint64_t>(shards));
}

ShardBlocks gradient_blocks(const Model& model) {
  const ModelMemory& memory = model.memory();
  return {.type = memory.type(),
          .elements = model.blocks().gradient_elements(),
          .values = memory.gradients(),
          .sums = memory.shard_sums(),
          .stride = memory.shard_sum_stride()};
}

/// `sums` have `count` doubles each.
ShardBlocks result_blocks(double* results, std::int64_t count, double* sums) {
  return {.type = DType::f64,
          .elements = count,
          .values = results,
          .sums = reinterpret_cast<std::byte*>(sums),
          .stride = static_cast<std::size_t>(count) * sizeof(double)};
}

std::int64_t shards_of_rank(std::int64_t shards, std::int64_t ranks) {
  TY_CHECK(shards % ranks == 0, "the number of ranks must divide the number of shards");
  return std::max<std::int64_t>(shards / ranks, 1);
}

/// The place among the results of the number of samples that count.
std::optional<std::int64_t> counted_at(const Model& model, const ReducerOptions& options) {
  const auto weights = weight_sums(model.graph());
  if (!weights || options.accumulate == 1) return std::nullopt;
  return 1 + *weights + 1;  // the loss comes first
}

/// Gradients of samples that do not count are 0 whatever the other ranks have, statistics are not.
bool counts_over_ranks(const Model& model, const Communicator& communicator,
                       const ReducerOptions& options) {
  return counted_at(model, options) && options.shards == 0 && communicator.size() > 1 &&
         model.blocks().statistic_elements > 0;
}

}  // namespace

GradientReducer::GradientReducer(Model& model, Communicator& communicator,
                                 const ReducerOptions& options)
    : model_(model),
      communicator_(communicator),
      options_(options),
      shards_(shards_of_rank(options.shards, communicator.size())),
      counted_at_(counted_at(model, options)),
      of_step_(model.compute().device, model.compute().queue,
               std::vector<MicroBatches>{
                   {.replicas = static_cast<double>(communicator.size() * passes())}}),
      counted_(model.compute().device, counts_over_ranks(model, communicator, options) ? 1 : 0),
      result_sums_(model.compute().device,
                   static_cast<std::size_t>(result_rows(shards_) * result_count())),
      gradient_sum_{.type = model.memory().type(),
                    .gradients = model.memory().gradient_sum(),
                    .of_step = counted_at_ ? of_step_.data() : nullptr},
      gradient_shards_(model.compute().launches, gradient_blocks(model), shards_),
      result_shards_(
          model.compute().launches,
          result_blocks(batch_results(), result_count(), result_sums_.data() + result_count()),
          shards_),
      rank_sum_(model.compute(), communicator, rank_blocks(),
                {.transport = options.transport,
                 .buckets = overlapped_buckets(),
                 .in_tree = options.shards > 0}) {
  TY_CHECK(model.memory().shards() == shards_,
           "the model's memory must have blocks for the shards of its rank");
  result_sum_ = static_cast<double*>(result_shards_.total());
  if (options.shards > 0 && options.accumulate > 1) result_sum_ = result_sums_.data();
}

double* GradientReducer::batch_results() const {
  return model_.memory().results() + ResultRow::loss;
}
std::int64_t GradientReducer::result_count() const {
  return model_.programs().sizes.results - ResultRow::loss;
}
std::size_t GradientReducer::result_bytes() const {
  return static_cast<std::size_t>(result_count()) * sizeof(double);
}

RankBlocks GradientReducer::rank_blocks() const {
  // With shards the sum over the shards of a micro-batch, else the sum over the micro-batches.
  const ModelMemory& memory = model_.memory();
  const bool sharded = options_.shards > 0;
  return {.type = memory.type(),
          .gradients = sharded ? gradient_shards_.total() : memory.gradient_sum(),
          .parameters = model_.blocks().parameter_elements,
          .statistics = model_.blocks().statistic_elements,
          .results = static_cast<double*>(result_shards_.total()),
          .result_count = result_count()};
}

std::vector<GradientBucket> GradientReducer::overlapped_buckets() const {
  // Gradients that are first added to others are complete only at the end. Sync batch norms use the
  // communicator on the model's queue, and all its calls must stay on one queue.
  const bool overlaps = model_.compute().sums != nullptr && communicator_.size() > 1 &&
                        communicator_.recordable() && options_.accumulate == 1 &&
                        options_.shards == 0 && !syncs_batch_norms(model_.planned_graph());
  if (!overlaps) return {};
  const DType type = options_.transport == DType::f32 ? model_.memory().type() : options_.transport;
  const Plan& plan = model_.train().plan();
  if (!options_.buckets) return cut_gradient_buckets(plan, model_.blocks(), size_of(type));
  return cut_gradient_buckets(plan, model_.blocks(), size_of(type), *options_.buckets);
}

void GradientReducer::reduce(std::int64_t pass) {
  const std::int64_t shard = pass % shards_;
  const bool last = pass == passes() - 1;
  gradient_shards_.add(shard);
  result_shards_.add(shard);
  if (options_.shards == 0) {
    if (counted_.size() > 0) count_over_ranks();
    add_micro_batch(pass);
    if (last) rank_sum_.finish();
  } else if (shard == shards_ - 1) {
    // Shards are summed within a micro-batch first, and some of them are on other ranks.
    rank_sum_.finish();
    add_micro_batch(pass / shards_);
  }
  move_results(last);
}

void GradientReducer::count_over_ranks() {
  Queue& queue = model_.compute().queue;
  queue.copy(counted_.data(), batch_results() + *counted_at_, sizeof(double));
  communicator_.all_reduce_sum(queue, counted_.data(), 1, DType::f64);
}

void GradientReducer::move_results(bool last) {
  if (result_sum_ == batch_results()) return;  // all passes add to this one row
  Queue& queue = model_.compute().queue;
  queue.fill(batch_results(), std::byte{0}, result_bytes());
  if (last) queue.copy(batch_results(), result_sum_, result_bytes());
}

void GradientReducer::add_micro_batch(std::int64_t index) {
  if (options_.accumulate == 1) return;  // already in the sums
  void* const gradients = gradient_shards_.total();
  void* const results = result_shards_.total();
  const UpdateLaunches& launches = model_.compute().launches;
  const bool first = index == 0;
  if (result_sum_ != results) {
    launches.accumulate({.type = DType::f64, .gradients = result_sum_}, results, result_count(),
                        first);
  }
  if (counted_at_) {
    launches.judge({.of_step = of_step_.data(),
                    .samples = counted(),
                    .replicas = static_cast<double>(communicator_.size() * shards_),
                    .first = first});
  }
  launches.accumulate(gradient_sum_, gradients, model_.blocks().gradient_elements(), first);
}

double* GradientReducer::counted() const {
  return counted_.size() > 0 ? counted_.data() : result_sum_ + *counted_at_;
}

}  // namespace trainyard
