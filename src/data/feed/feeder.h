// Batches made by worker threads, with bounded prefetch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/augment/pipeline.h"
#include "data/feed/batch_fields.h"
#include "data/sets/dataset.h"
#include "data/sets/epoch_order.h"

namespace trainyard {

/// The form in which a batch has its images.
enum class BatchImages {
  made,   // the images themselves, made by the host
  bytes,  // the set's bytes, and the steps for a device to apply to them
  steps,  // the steps for a device to apply to images of a set that stays there
};

/// One batch in host memory, owned by the feeder until the next call.
struct Batch {
  std::span<const float> images;  // [n, c, h, w], plain: BatchImages::made
  /// [n, field's shape] of each of FeederOptions::fields, then with weights f32 of the labels'
  /// shape, [n] or [n, t].
  std::vector<std::span<const std::byte>> fields;
  std::span<const std::int64_t> sample_index;  // [n], into the data set, as drawn_sample()
  std::int64_t valid = 0;                      // real samples; the rest repeats sample 0 of the set
  std::span<const std::uint8_t> bytes = {};    // [n, c, h, w] of the set: BatchImages::bytes
  std::span<const SpatialTransform> spatial =
      {};  // [n, Pipeline::spatial_transforms()]; not with `made`
  std::span<const ColourTransform> colours =
      {};                               // [n, Pipeline::colour_transforms()]; not with `made`
  std::span<const PairMix> mixes = {};  // [n / 2] if the pipeline mixes; not with `made`
};

struct FeederOptions {
  std::int64_t batch = 1;  // samples per next(): of this rank
  std::uint64_t seed = 0;
  bool shuffle = true;
  bool train = true;  // training drops the remainder and augments; evaluation pads and does not
                      // augment
  int workers = 1;    // 0: the caller's thread does the work
  int prefetch = 2;   // batches ready ahead, at least 1
  BatchImages images = BatchImages::made;
  // Fields of the samples, or kMaskField, in the batches; with a pipeline that mixes kMixField too.
  std::vector<std::string> fields{kLabelField};
  std::optional<ClassWeightPolicy> weights = {};  // the samples'; not given: batches have none
  std::int64_t repeats = 1;                       // see EpochOrder
  std::shared_ptr<const BalancedSampler> sampler = {};  // in training, shuffled; null: none
  std::int64_t rank = 0;   // takes slice `rank` of `ranks` of every global batch; batch b
  std::int64_t ranks = 1;  // batch b of an evaluation goes to rank b mod ranks
  // In training: the number of batches that such a slice is split into, returned one after another.
  std::int64_t shards = 1;
  // An evaluation takes only this many samples, the first of the order; 0: all. With `shuffle` a
  // random subset, the same each time that start() is given the same epoch.
  std::int64_t samples = 0;
};

/// Produces the batches of an epoch in order; they are the same for any number of workers. An error
/// in a worker is rethrown by the next() whose batch it affects, and by all later calls. Used from
/// one thread; between start() and the end of an epoch only the data set allocates, and on the host
/// a crop with a filter.
class Feeder {
 public:
  /// `set` and `pipeline` (prepared) must outlive the feeder. Throws Error{config} if a training
  /// set is smaller than one global batch, a set has no such field, or pairs to be mixed would be
  /// in two batches; Error{data} for a mask of lengths that are not those of sequences of the set.
  Feeder(const Dataset& set, const Pipeline& pipeline, FeederOptions options);
  ~Feeder();
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  [[nodiscard]] const FeederOptions& options() const;
  /// Batches of an epoch: in training shards * floor(size / global batch), where the global batch
  /// is batch * shards * ranks; in evaluation ceil.
  [[nodiscard]] std::int64_t batches_per_epoch() const;
  /// Starts epoch `epoch` (number of finished epochs) at batch `first_batch` (to resume inside
  /// it). May be called at any time; batches in progress are discarded.
  void start(std::uint32_t epoch, std::int64_t first_batch = 0);
  /// The next batch; valid until the following call of next() or start(). At most
  /// batches_per_epoch() - first_batch calls per epoch.
  [[nodiscard]] const Batch& next();
  /// Seconds that next() has waited for batches since start() (all of the work with 0 workers).
  [[nodiscard]] double waited_seconds() const;

 private:
  struct Slot;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard
