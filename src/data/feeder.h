// Batches from worker threads behind a bounded prefetch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "data/pipeline.h"

namespace trainyard {

/// What a batch has of its images.
enum class BatchImages {
  made,   // the images themselves, made by the host
  bytes,  // those of the set, which holds bytes, and what a device has to do to them
  steps,  // what a device has to do to those of a set that stays there
};

/// One batch in host memory, owned by the feeder until the next call.
struct Batch {
  std::span<const float> images;               // [n, c, h, w], plain: BatchImages::made
  std::span<const std::int32_t> labels;        // [n]
  std::span<const std::int64_t> sample_index;  // [n], into the data set
  std::int64_t valid = 0;                      // true samples; the rest repeats sample 0 of the set
  std::span<const std::uint8_t> bytes = {};    // [n, c, h, w] of the set: BatchImages::bytes
  std::span<const SpatialStep> spatial = {};   // [n, Pipeline::spatial_steps()]; not of `made`
};

/// The order of an epoch: a permutation of [0, size), a pure function of (seed, epoch): the indices
/// sorted by 64-bit keys random4(seed, RandomStream::order, epoch, 0, index), ties by index. The
/// natural order without `shuffle`.
[[nodiscard]] std::vector<std::int64_t> epoch_order(std::uint64_t seed, std::uint32_t epoch,
                                                    std::int64_t size, bool shuffle);

struct FeederOptions {
  std::int64_t batch = 1;  // samples that one next() gives: of this rank
  std::uint64_t seed = 0;
  bool shuffle = true;
  bool train = true;  // training drops the remainder and augments; evaluation pads and does not
  int workers = 1;    // 0: the caller's thread does the work
  int prefetch = 2;   // batches ready ahead, at least 1
  BatchImages images = BatchImages::made;
  std::int64_t rank = 0;   // takes slice `rank` of `ranks` of every global batch, so that batch b
  std::int64_t ranks = 1;  // of an evaluation goes to rank b mod ranks
  // In training: batches that such a slice is cut into and given out as, one after another.
  std::int64_t shards = 1;
};

/// Produces the batches of an epoch in order. The same batches for any number of workers. An error
/// in a worker is rethrown by the next() whose batch it spoilt, and again by the calls after it.
/// Used from one thread; nothing is allocated between start() and the end of an epoch but by the
/// data set.
class Feeder {
 public:
  /// `set` and `pipeline` (prepared) must outlive the feeder. Throws Error{config} for a training
  /// set smaller than one global batch.
  Feeder(const Dataset& set, const Pipeline& pipeline, FeederOptions options);
  ~Feeder();
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  [[nodiscard]] const FeederOptions& options() const;
  /// Calls of next() an epoch: in training shards * floor(size / global batch), the global batch
  /// being batch * shards * ranks; in evaluation ceil.
  [[nodiscard]] std::int64_t steps_per_epoch() const;
  /// Starts epoch `epoch` (finished epochs) at step `first_step` (resume inside an epoch). May be
  /// called at any time; batches under way are thrown away.
  void start(std::uint32_t epoch, std::int64_t first_step = 0);
  /// The next batch; valid until the following call of next() or start(). At most
  /// steps_per_epoch() - first_step calls an epoch.
  [[nodiscard]] const Batch& next();
  /// Seconds that next() has waited for batches since start() (the whole work with 0 workers).
  [[nodiscard]] double waited_seconds() const;

 private:
  struct Slot;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard
