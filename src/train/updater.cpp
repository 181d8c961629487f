#include "train/updater.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/error.h"
#include "optim/gradient.h"

namespace trainyard {
namespace {

/// One value a chunk for a block whose entries cover `elements`.
std::size_t chunks_of(std::int64_t elements) {
  return static_cast<std::size_t>((elements + kChunk - 1) / kChunk);
}

/// One segment a parameter.
std::vector<Segment> make_segments(const Model& model, const Optimizer& optimizer) {
  std::vector<Segment> segments;
  for (const BlockEntry& entry : model.blocks().parameters) {
    const Node& node = model.planned_graph().nodes[entry.node];
    const ParameterSpec& spec = node.signature.parameters[entry.index];
    segments.push_back({.rate_multiplier = node.rate_multiplier,
                        .l2 = spec.l2,
                        .decay = optimizer.decay(spec.group),
                        .frozen = node.frozen ? 1 : 0});
  }
  return segments;
}

std::vector<std::int32_t> make_segment_of_chunk(const BlockLayout& layout) {
  std::vector<std::int32_t> segments;
  for (std::size_t i = 0; i < layout.parameters.size(); ++i) {
    segments.insert(segments.end(), chunks_of(layout.parameters[i].shape.elements()),
                    static_cast<std::int32_t>(i));
  }
  return segments;
}

std::vector<StatisticRule> make_statistic_rules(const Model& model) {
  std::vector<StatisticRule> rules;
  for (const BlockEntry& entry : model.blocks().statistics) {
    const StatisticSpec& spec =
        model.planned_graph().nodes[entry.node].signature.statistics[entry.index];
    rules.insert(rules.end(), chunks_of(entry.shape.elements()),
                 {.momentum = spec.momentum, .batch_scale = spec.batch_scale});
  }
  return rules;
}

template <class T>
DeviceArray<T> on_device(const Compute& compute, const std::vector<T>& values) {
  return DeviceArray<T>(compute.device, compute.queue, values);
}

template <class T>
DeviceArray<T> room_on_device(const Compute& compute, std::int64_t count) {
  return DeviceArray<T>(compute.device, static_cast<std::size_t>(count));
}

UpdateBlocks blocks_of(const ModelMemory& memory) {
  UpdateBlocks blocks{.type = memory.type(),
                      .weights = memory.weights(),
                      .gradients = memory.gradient_sum(),
                      .state = memory.state()};
  for (int slot = 0; slot < memory.slots(); ++slot) blocks.slots.push_back(memory.slot(slot));
  return blocks;
}

/// Sums of a rank's results: of the micro-steps, then those over shards, a row each.
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

/// `sums` are of `count` doubles each.
ShardBlocks result_blocks(double* results, std::int64_t count, double* sums) {
  return {.type = DType::f64,
          .elements = count,
          .values = results,
          .sums = reinterpret_cast<std::byte*>(sums),
          .stride = static_cast<std::size_t>(count) * sizeof(double)};
}

std::int64_t shards_of_rank(std::int64_t shards, std::int64_t ranks) {
  TY_CHECK(shards % ranks == 0, "the number of ranks divides that of shards");
  return std::max<std::int64_t>(shards / ranks, 1);
}

}  // namespace

Updater::Updater(Model& model, Communicator& communicator, const Optimizer& optimizer,
                 const Schedule* schedule, const ScheduleContext& context,
                 const UpdateOptions& options)
    : model_(model),
      communicator_(communicator),
      optimizer_(optimizer),
      schedule_(schedule),
      context_(context),
      options_(options),
      shards_(shards_of_rank(options.shards, communicator.size())),
      has_l2_(has_l2(make_segments(model, optimizer))),
      segments_(on_device(model.compute(), make_segments(model, optimizer))),
      segment_of_chunk_(on_device(model.compute(), make_segment_of_chunk(model.blocks()))),
      statistic_rules_(on_device(model.compute(), make_statistic_rules(model))),
      scratch_(room_on_device<double>(
          model.compute(), sum_scratch(static_cast<std::int64_t>(segment_of_chunk_.size())))),
      regularisation_(room_on_device<double>(model.compute(), 1)),
      rates_(room_on_device<RateWindow>(model.compute(), 1)),
      rows_(room_on_device<double>(model.compute(),
                                   windows() * options.results * model.programs().sizes.results)),
      result_sums_(room_on_device<double>(model.compute(), result_rows(shards_) * results_count())),
      gradient_shards_(model.compute().launches, gradient_blocks(model), shards_),
      result_shards_(
          model.compute().launches,
          result_blocks(batch_results(), results_count(), result_sums_.data() + results_count()),
          shards_),
      rank_sum_(model.compute(), communicator, rank_blocks(),
                {.transport = options.transport,
                 .buckets = overlapped_buckets(),
                 .in_tree = options.shards > 0}),
      blocks_(blocks_of(model.memory())) {
  const ModelMemory& memory = model.memory();
  TY_CHECK(memory.shards() == shards_, "the model's memory has blocks for the shards of its rank");
  result_sum_ = static_cast<double*>(result_shards_.total());
  if (options.shards > 0 && options.accumulate > 1) result_sum_ = result_sums_.data();
  blocks_.segments = segments_.data();
  blocks_.segment_of_chunk = segment_of_chunk_.data();
  blocks_.chunks = static_cast<std::int64_t>(segment_of_chunk_.size());
  const std::int64_t tail =
      model.blocks().parameter_elements * static_cast<std::int64_t>(size_of(memory.type()));
  statistics_ = {.type = memory.type(),
                 .running = memory.running(),
                 .batch = memory.gradient_sum() + tail,
                 .rules = statistic_rules_.data(),
                 .state = memory.state(),
                 .replicas = static_cast<double>(communicator.size() * passes()),
                 .chunks = static_cast<std::int64_t>(statistic_rules_.size())};
  pending_samples_.reserve(static_cast<std::size_t>(windows() * options.results));
  taken_rows_.resize(rows_.size());
  taken_.resize(static_cast<std::size_t>(windows() * options.results));
  if (windows() > 1) {
    for (Window& window : windows_) {
      Device& device = model.compute().device;
      window = {device.allocate_host(rows_.size() * sizeof(double) / 2), device.make_event()};
    }
  }
  start_at({.loss_scale = options.loss_scale.start});
}

RankBlocks Updater::rank_blocks() const {
  // With shards the sum over those of a micro-step, else that over the micro-steps.
  const ModelMemory& memory = model_.memory();
  const bool sharded = options_.shards > 0;
  return {.type = memory.type(),
          .gradients = sharded ? gradient_shards_.total() : memory.gradient_sum(),
          .parameters = model_.blocks().parameter_elements,
          .statistics = model_.blocks().statistic_elements,
          .results = static_cast<double*>(result_shards_.total()),
          .result_count = results_count()};
}

std::vector<GradientBucket> Updater::overlapped_buckets() const {
  // Gradients that are added to others first are complete at the end. Batch norms that sync use the
  // communicator on the model's queue, and all of its calls stay on one queue.
  const bool sooner = model_.compute().sums != nullptr && communicator_.size() > 1 &&
                      communicator_.recordable() && options_.accumulate == 1 &&
                      options_.shards == 0 && !syncs_batch_norms(model_.planned_graph());
  if (!sooner) return {};
  const DType type = options_.transport == DType::f32 ? model_.memory().type() : options_.transport;
  return insert_collectives(model_.train().plan(), model_.blocks(), size_of(type),
                            options_.buckets);
}

void Updater::start_at(const UpdatePosition& position) {
  Queue& queue = model_.compute().queue;
  StepState* const state = model_.memory().state();
  const auto write = [&](auto* field, const auto& value) {
    queue.copy_from_host(field, &value, sizeof value);
  };
  write(&state->tried, position.tried);
  write(&state->step, position.finished);
  write(&state->loss_scale, position.loss_scale);
  write(&state->good_steps, position.good_steps);
  tried_ = position.tried;
  rates_end_ = position.tried;
}

UpdatePosition Updater::position() const {
  StepState state;
  Queue& queue = model_.compute().queue;
  queue.copy_to_host(&state, model_.memory().state(), sizeof state);
  queue.wait();
  return {.tried = state.tried,
          .finished = state.step,
          .loss_scale = state.loss_scale,
          .good_steps = state.good_steps};
}

void Updater::write_rates() {
  RateWindow window{.first = tried_};
  for (std::int64_t i = 0; i < RateWindow::kRates; ++i) {
    window.rates[i] = schedule_ != nullptr ? schedule_->rate(tried_ + i, context_) : context_.base;
  }
  rates_.write(model_.compute().queue, std::span(&window, 1));
  rates_end_ = tried_ + RateWindow::kRates;
}

void Updater::prepare() {
  if (tried_ >= rates_end_) write_rates();
}

void Updater::begin() {
  model_.compute().launches.begin({.state = model_.memory().state(),
                                   .window = rates_.data(),
                                   .samples = static_cast<double>(samples())});
}

void Updater::accumulate(std::int64_t index) {
  const std::int64_t position = index % shards_;
  gradient_shards_.add(position);
  result_shards_.add(position);
  if (options_.shards == 0) add_micro_step(index);
}

void Updater::sum_over_ranks(std::int64_t index) {
  // Shards are summed within a micro-step first, and some of them are on other ranks.
  const bool complete = options_.shards > 0 ? ends_micro_step(index) : index == passes() - 1;
  if (complete) rank_sum_.finish();
}

void Updater::end_pass(std::int64_t index) {
  if (options_.shards > 0 && ends_micro_step(index)) add_micro_step(index / shards_);
  // Where it is not one row that all passes add to.
  if (result_sum_ != batch_results()) {
    model_.compute().queue.fill(batch_results(), std::byte{0},
                                static_cast<std::size_t>(results_count()) * sizeof(double));
  }
  if (index == passes() - 1) apply();
}

void Updater::add_micro_step(std::int64_t index) {
  if (options_.accumulate == 1) return;  // the sums are there already
  void* const gradients = gradient_shards_.total();
  void* const results = result_shards_.total();
  const UpdateLaunches& launches = model_.compute().launches;
  const bool first = index == 0;
  launches.accumulate(blocks_, gradients, model_.blocks().gradient_elements(), first);
  if (result_sum_ == results) return;
  launches.accumulate({.type = DType::f64, .gradients = result_sum_}, results, results_count(),
                      first);
}

void Updater::apply() {
  const ModelMemory& memory = model_.memory();
  const UpdateLaunches& launches = model_.compute().launches;
  if (result_sum_ != batch_results()) {
    model_.compute().queue.copy(batch_results(), result_sum_,
                                static_cast<std::size_t>(results_count()) * sizeof(double));
  }
  if (scales_loss()) launches.unscale(blocks_);
  if (has_l2_) launches.add_l2(blocks_);
  double* const norm = memory.results() + ResultRow::gradient_norm;
  launches.gradient_norm(blocks_, scratch_.span(), norm);
  launches.note_nonfinite(memory.state(), norm);
  launches.note_nonfinite(memory.state(), memory.results() + ResultRow::loss);
  if (options_.clip_norm > 0) launches.clip_gradients(blocks_, norm, options_.clip_norm);
  launches.update_running(statistics_);
  launches.update(blocks_, optimizer_.rule(), optimizer_.time_decay());
  launches.end({.state = memory.state(),
                .current = memory.results(),
                .rows = rows_.data(),
                .width = model_.programs().sizes.results,
                .capacity = windows() * options_.results,
                .scale = options_.loss_scale});
}

void Updater::finish() {
  ++tried_;
  // Every rank has loaded as many: training batches are full.
  pending_samples_.push_back(model_.take_samples() * communicator_.size());
  if (windows() > 1 && tried_ % options_.results == 0) send_window();
}

void Updater::send_window() {
  Window& window = windows_[static_cast<std::size_t>(tried_ / options_.results % 2)];
  const std::size_t first = row_of(tried_ - options_.results);
  const auto width = static_cast<std::size_t>(model_.programs().sizes.results);
  Queue& queue = model_.compute().queue;
  queue.copy_to_host(window.rows->data(), rows_.data() + first * width, window.rows->bytes());
  window.sent->record(queue);
}

bool Updater::full() const {
  if (windows() == 1) return pending() == options_.results;
  return tried_ % options_.results == 0 && pending() > options_.results;
}

std::size_t Updater::row_of(std::int64_t update) const {
  return static_cast<std::size_t>(update % (windows() * options_.results));
}

std::span<const UpdateResult> Updater::take_results() {
  rows_.read(model_.compute().queue, taken_rows_);
  return take(pending(), taken_rows_, 0);
}

std::span<const UpdateResult> Updater::take_oldest() {
  TY_CHECK(full(), "the oldest results are taken when there are enough");
  if (windows() == 1) return take_results();
  const std::int64_t end = tried_ - options_.results;
  const Window& window = windows_[static_cast<std::size_t>(end / options_.results % 2)];
  window.sent->wait();
  const auto* const rows = static_cast<const double*>(window.rows->data());
  return take(pending() - options_.results, {rows, window.rows->bytes() / sizeof(double)},
              row_of(end - options_.results));
}

std::span<const UpdateResult> Updater::take(std::int64_t count, std::span<const double> rows,
                                            std::size_t first_row) {
  const auto width = static_cast<std::size_t>(model_.programs().sizes.results);
  const std::int64_t first = tried_ - pending();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = rows.subspan((row_of(first + i) - first_row) * width, width);
    UpdateResult& result = taken_[static_cast<std::size_t>(i)];
    result.rate = row[ResultRow::rate];
    result.gradient_norm = with_plain_nan(row[ResultRow::gradient_norm]);
    result.loss_scale = row[ResultRow::loss_scale];
    result.finite = row[ResultRow::withheld] == 0;
    result.skipped = row[ResultRow::skipped] != 0;
    read_totals(row, pending_samples_[static_cast<std::size_t>(i)], result.totals);
  }
  pending_samples_.erase(pending_samples_.begin(), pending_samples_.begin() + count);
  return std::span<const UpdateResult>(taken_).first(static_cast<std::size_t>(count));
}

double Updater::regularisation_loss() {
  if (!has_l2_) return 0;
  const Compute& compute = model_.compute();
  compute.launches.regularisation_loss(blocks_, scratch_.span(), regularisation_.data());
  return regularisation_.read(compute.queue)[0];
}

}  // namespace trainyard
