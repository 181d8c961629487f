#include "data/feed/feeder.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/error.h"
#include "data/feed/batch_fields.h"

namespace trainyard {
namespace {

std::int64_t global_batch(const FeederOptions& options) {
  return options.batch * options.shards * options.ranks;
}

/// Samples of the set that are fed.
std::int64_t sample_count(const Dataset& set, const FeederOptions& options) {
  return options.samples > 0 ? std::min(options.samples, set.size()) : set.size();
}

std::int64_t batches_of(std::int64_t size, const FeederOptions& options) {
  const std::int64_t global = global_batch(options);
  return options.train ? size / global * options.shards : (size + global - 1) / global;
}

/// A batch has both samples of a pair.
void check_mixing(const Pipeline& pipeline, const FeederOptions& options) {
  if (!options.train || !pipeline.mixing() || options.batch % 2 == 0) return;
  throw Error(ErrorKind::config,
              "'mix' mixes pairs of samples, but each rank or shard has a batch of " +
                  std::to_string(options.batch) + "; make it even");
}

void check_options(const Dataset& set, const FeederOptions& options) {
  TY_CHECK(options.batch >= 1 && options.prefetch >= 1 && options.workers >= 0,
           "a feeder's batch, prefetch or workers");
  TY_CHECK(options.rank >= 0 && options.rank < options.ranks, "a feeder's rank");
  TY_CHECK(options.shards >= 1 && (options.train || options.shards == 1), "a feeder's shards");
  TY_CHECK(options.samples == 0 || !options.train, "training takes every sample");
  TY_CHECK(!options.sampler || (options.train && options.shuffle), "a sampler is of training");
  const std::int64_t global = global_batch(options);
  if (!options.train || set.size() >= global) return;
  throw Error(ErrorKind::config, "the training split has " + std::to_string(set.size()) +
                                     " samples, fewer than one global batch of " +
                                     std::to_string(global) +
                                     "; lower the batch or raise the split's limit");
}

}  // namespace

/// Memory of one batch and its state.
struct Feeder::Slot {
  std::vector<float> images;
  std::vector<std::uint8_t> bytes;
  std::vector<std::vector<std::byte>> fields;
  std::vector<float> weights;
  std::vector<std::int32_t> labels, mask;  // fields of one sample, for its weights
  std::vector<std::int64_t> sample_index;
  std::vector<SpatialTransform> spatial;
  std::vector<ColourTransform> colours;
  std::vector<PairMix> mixes;
  MixedBatch mixed;          // mix of these
  std::int64_t ready = -1;   // the number of the batch that is here; -1: none
  std::exception_ptr error;  // or why it could not be made
  Batch batch;
};

struct Feeder::State {
  State(const Dataset& data, const Pipeline& prepared, FeederOptions given);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void allocate(Slot& slot) const;
  void allocate_mixed(Slot& slot) const;
  /// Makes batch `number` of the epoch in its slot. Reads only what start() has set.
  void make_batch(std::int64_t number, Slot& slot, ImageScratch& scratch) const;
  void fill_sample(std::int64_t position, std::int64_t i, Slot& slot, ImageScratch& scratch) const;
  void fill_image(const SampleKey& key, ImageScratch& scratch, float* out) const;
  void fill_steps(const SampleKey& key, SpatialTransform* spatial, ColourTransform* colours) const;
  void fill_field(const BatchField& field, std::int64_t index, std::byte* out) const;
  void fill_fields(std::int64_t index, std::int64_t i, Slot& slot) const;
  void fill_weights(std::int64_t index, std::int64_t i, Slot& slot) const;
  void mix(std::int64_t first, Slot& slot) const;
  void make_or_fail(std::int64_t number, Slot& slot, ImageScratch& scratch) const;
  void work(const std::stop_token& stop, ImageScratch& scratch);
  void quiesce(std::unique_lock<std::mutex>& lock);
  const Batch& next();
  [[nodiscard]] Slot& slot_of(std::int64_t number) {
    return slots[static_cast<std::size_t>(number) % slots.size()];
  }

  const Dataset& set;
  const Pipeline& pipeline;
  const FeederOptions options;
  const std::int64_t samples;         // samples of the set that are fed
  const std::int64_t batches;         // batches of an epoch
  const std::int64_t image_elements;  // elements of an image made by the host
  const std::int64_t set_elements;    // elements of an image of the set
  const std::vector<BatchField> fields;
  const std::optional<BatchField> own_weights, mask;
  const std::int64_t labels;          // labels of a sample
  std::vector<ImageScratch> scratch;  // one per worker (one for the caller without workers)
  std::vector<Slot> slots;

  // Set by start() while no worker is busy.
  EpochOrder order;
  std::uint32_t epoch = 0;

  // Under the mutex.
  std::mutex mutex;
  std::condition_variable_any wake_workers;  // a batch may be claimed, or the feeder ends
  std::condition_variable wake_caller;       // a batch is ready, or a worker has become idle
  std::int64_t claimed = 0;                  // next batch to be made
  std::int64_t consumed = 0;  // next batch that next() returns; slots of earlier ones are free
  int busy = 0;               // workers inside make_batch

  double waited = 0;                  // seconds; the caller's
  std::vector<std::jthread> workers;  // last: they end before the other members are destroyed
};

Feeder::State::State(const Dataset& data, const Pipeline& prepared, FeederOptions given)
    : set(data),
      pipeline(prepared),
      options(given),
      samples(sample_count(data, given)),
      batches(batches_of(samples, given)),
      image_elements(prepared.output_shape().elements()),
      set_elements(data.image_shape().elements()),
      fields(find_fields(data, given.fields)),
      own_weights(find_own_weights(data, given.weights)),
      mask(find_mask(data, given.weights)),
      labels(labels_of_sample(data)) {
  slots.resize(options.workers == 0 ? 1 : static_cast<std::size_t>(options.prefetch) + 1);
  for (Slot& slot : slots) allocate(slot);
  scratch.resize(static_cast<std::size_t>(std::max(1, options.workers)));
  claimed = consumed = batches;  // nothing to do before start()
  for (int i = 0; i < options.workers; ++i) {
    ImageScratch& own = scratch[static_cast<std::size_t>(i)];
    workers.emplace_back([this, &own](const std::stop_token& stop) { work(stop, own); });
  }
}

Feeder::State::~State() {
  for (std::jthread& worker : workers) worker.request_stop();
  workers.clear();  // joins while the mutex still exists
}

void Feeder::State::allocate(Slot& slot) const {
  const auto sized = [this](auto& part, std::int64_t a_sample) {
    part.resize(static_cast<std::size_t>(options.batch * a_sample));
  };
  const bool made = options.images == BatchImages::made;
  sized(slot.images, made ? image_elements : 0);
  sized(slot.bytes, options.images == BatchImages::bytes ? set_elements : 0);
  sized(slot.spatial, made ? 0 : pipeline.spatial_transforms());
  sized(slot.colours, made ? 0 : pipeline.colour_transforms());
  slot.fields.resize(fields.size());
  for (std::size_t field = 0; field < fields.size(); ++field) {
    sized(slot.fields[field], static_cast<std::int64_t>(fields[field].bytes));
  }
  sized(slot.weights, options.weights ? labels : 0);
  slot.labels.resize(static_cast<std::size_t>(labels));
  slot.mask.assign(mask ? mask->bytes / sizeof(std::int32_t) : slot.labels.size(), 1);
  TY_CHECK(slot.mask.size() == slot.labels.size(), "a label for each step of a mask");
  sized(slot.sample_index, 1);
  if (pipeline.mixing()) allocate_mixed(slot);
  slot.batch = {.images = slot.images,
                .fields = {slot.fields.begin(), slot.fields.end()},
                .sample_index = slot.sample_index,
                .bytes = slot.bytes,
                .spatial = slot.spatial,
                .colours = slot.colours,
                .mixes = slot.mixes};
  if (options.weights) slot.batch.fields.push_back(std::as_bytes(std::span(slot.weights)));
}

void Feeder::State::allocate_mixed(Slot& slot) const {
  const auto pairs = static_cast<std::size_t>(options.batch / 2);
  slot.mixes.resize(options.images == BatchImages::made ? 0 : pairs);
  const auto field = [&](const char* name) {
    const auto found = std::ranges::find(options.fields, name);
    TY_CHECK(found != options.fields.end() && labels == 1, "a field of batches that are mixed");
    return slot.fields[static_cast<std::size_t>(found - options.fields.begin())].data();
  };
  const auto samples_of_batch = static_cast<std::size_t>(options.batch);
  slot.mixed = {.images = slot.images,
                .mixes = slot.mixes,
                .labels = {reinterpret_cast<std::int32_t*>(field(kLabelField)), samples_of_batch},
                .weights = slot.weights,
                .targets = {reinterpret_cast<MixedTarget*>(field(kMixField)), samples_of_batch}};
}

void Feeder::State::fill_sample(std::int64_t position, std::int64_t i, Slot& slot,
                                ImageScratch& own_scratch) const {
  const bool real = position < samples;
  const std::int64_t drawn = real ? order[position] : 0, index = index_of_drawn(drawn);
  slot.sample_index[static_cast<std::size_t>(i)] = drawn;
  fill_fields(index, i, slot);
  const SampleKey key{options.seed, epoch, drawn};
  if (options.images == BatchImages::made) {
    fill_image(key, own_scratch, slot.images.data() + i * image_elements);
  } else {
    fill_steps(key, slot.spatial.data() + i * pipeline.spatial_transforms(),
               slot.colours.data() + i * pipeline.colour_transforms());
  }
  if (options.images == BatchImages::bytes) {
    set.read_bytes(index, slot.bytes.data() + i * set_elements);
  }
  if (real) slot.batch.valid = i + 1;
}

void Feeder::State::fill_field(const BatchField& field, std::int64_t index, std::byte* out) const {
  if (field.mask) return field.mask->read(set, index, out);
  if (field.mixed) {
    constexpr MixedTarget kUnmixed;
    std::memcpy(out, &kUnmixed, sizeof kUnmixed);
    return;
  }
  set.read_field(field.index, index, out);
}

void Feeder::State::fill_fields(std::int64_t index, std::int64_t i, Slot& slot) const {
  const auto sample = static_cast<std::size_t>(i);
  for (std::size_t field = 0; field < fields.size(); ++field) {
    fill_field(fields[field], index, slot.fields[field].data() + sample * fields[field].bytes);
  }
  if (options.weights) fill_weights(index, i, slot);
}

/// One weight for each label. The label is the first field of a set.
void Feeder::State::fill_weights(std::int64_t index, std::int64_t i, Slot& slot) const {
  float own = 1;
  if (own_weights) {
    set.read_field(own_weights->index, index, reinterpret_cast<std::byte*>(&own));
    require_weight(own, options.weights->field, index);
  }
  if (labels == 1) {
    slot.labels[0] = set.label(index);
  } else {
    set.read_field(0, index, reinterpret_cast<std::byte*>(slot.labels.data()));
  }
  if (mask) fill_field(*mask, index, reinterpret_cast<std::byte*>(slot.mask.data()));
  float* const weights = slot.weights.data() + i * labels;
  for (std::size_t k = 0; k < slot.labels.size(); ++k) {
    weights[k] = slot.mask[k] == 0 ? 0 : options.weights->weight(slot.labels[k], own);
  }
}

void Feeder::State::fill_image(const SampleKey& key, ImageScratch& own_scratch, float* out) const {
  if (options.train) {
    pipeline.fill_train(set, key, own_scratch, out);
  } else {
    pipeline.fill_eval(set, key.index, own_scratch, out);
  }
}

void Feeder::State::fill_steps(const SampleKey& key, SpatialTransform* spatial,
                               ColourTransform* colours) const {
  if (options.train) {
    pipeline.train_steps(key, set.sample_shape(index_of_drawn(key.index)), spatial);
    pipeline.train_colours(key, colours);
  } else {
    pipeline.eval_steps(set.sample_shape(key.index), spatial);
    pipeline.eval_colours(colours);
  }
}

void Feeder::State::make_batch(std::int64_t number, Slot& slot, ImageScratch& own_scratch) const {
  const std::int64_t slice = number / options.shards * options.ranks + options.rank;
  const std::int64_t shard = slice * options.shards + number % options.shards;
  const std::int64_t first = shard * options.batch;
  slot.batch.valid = 0;
  for (std::int64_t i = 0; i < options.batch; ++i) fill_sample(first + i, i, slot, own_scratch);
  if (options.images == BatchImages::made) {
    pipeline.whiten(options.batch, own_scratch, slot.images.data());
  }
  if (options.train && pipeline.mixing()) mix(first, slot);
}

/// Mixes the pairs of a batch, whose first sample is at position `first` of the epoch's order.
void Feeder::State::mix(std::int64_t first, Slot& slot) const {
  for (std::int64_t pair = 0; pair < options.batch / 2; ++pair) {
    const PairKey key{options.seed, epoch, first / 2 + pair};
    const PairMix drawn = mix_of_pair(*pipeline.mixing(), key, pipeline.output_shape());
    mix_pair(drawn, pipeline.output_shape(), pair, slot.mixed);
  }
}

/// Errors stay with the batch that they affect, so that next() throws for the same batch for any
/// number of workers.
void Feeder::State::make_or_fail(std::int64_t number, Slot& slot, ImageScratch& own_scratch) const {
  slot.error = nullptr;
  try {
    make_batch(number, slot, own_scratch);
  } catch (...) {
    slot.error = std::current_exception();
  }
}

void Feeder::State::work(const std::stop_token& stop, ImageScratch& own_scratch) {
  std::unique_lock lock(mutex);
  const auto may_claim = [this] {
    // The caller holds one slot of prefetch + 1, so up to prefetch batches may be ready ahead of
    // it.
    return claimed < batches && claimed < consumed + options.prefetch;
  };
  while (wake_workers.wait(lock, stop, may_claim)) {
    const std::int64_t number = claimed++;
    ++busy;
    Slot& slot = slot_of(number);
    slot.ready = -1;
    lock.unlock();
    make_or_fail(number, slot, own_scratch);
    lock.lock();
    slot.ready = number;
    --busy;
    wake_caller.notify_all();
  }
}

/// Keeps workers from claiming batches and waits for those in progress.
void Feeder::State::quiesce(std::unique_lock<std::mutex>& lock) {
  claimed = batches;
  wake_caller.wait(lock, [this] { return busy == 0; });
}

const Batch& Feeder::State::next() {
  TY_CHECK(consumed < batches, "next() after the last batch of an epoch, or before start()");
  const auto begin = std::chrono::steady_clock::now();
  Slot& slot = slot_of(consumed);
  if (options.workers == 0) {
    make_or_fail(consumed, slot, scratch.front());
  } else {
    std::unique_lock lock(mutex);
    wake_caller.wait(lock, [&] { return slot.ready == consumed; });
  }
  waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (slot.error) std::rethrow_exception(slot.error);
  {
    const std::lock_guard lock(mutex);
    ++consumed;
  }
  wake_workers.notify_all();
  return slot.batch;
}

Feeder::Feeder(const Dataset& set, const Pipeline& pipeline, FeederOptions options) {
  check_options(set, options);
  check_mixing(pipeline, options);
  state_ = std::make_unique<State>(set, pipeline, options);
}
Feeder::~Feeder() = default;

const FeederOptions& Feeder::options() const { return state_->options; }
std::int64_t Feeder::batches_per_epoch() const { return state_->batches; }

void Feeder::start(std::uint32_t epoch, std::int64_t first_batch) {
  TY_CHECK(first_batch >= 0 && first_batch <= state_->batches, "start() beyond an epoch's batches");
  {
    std::unique_lock lock(state_->mutex);
    state_->quiesce(lock);
    state_->order = order_of_epoch({.seed = state_->options.seed,
                                    .epoch = epoch,
                                    .size = state_->set.size(),
                                    .block = state_->set.block(),
                                    .shuffle = state_->options.shuffle,
                                    .repeats = state_->options.repeats},
                                   state_->options.sampler.get());
    state_->epoch = epoch;
    for (Slot& slot : state_->slots) slot.ready = -1;
    state_->claimed = state_->consumed = first_batch;
    state_->waited = 0;
  }
  state_->wake_workers.notify_all();
}

const Batch& Feeder::next() { return state_->next(); }
double Feeder::waited_seconds() const { return state_->waited; }

}  // namespace trainyard
