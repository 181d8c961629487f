// The memory of a model on one device, and its forecast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "compute/executor.h"
#include "device/device.h"
#include "plan/blocks.h"
#include "plan/plan.h"
#include "tensor/launch_limits.h"

namespace trainyard {

/// A copy of a model's weights: parameters and running statistics, and what executors read of the
/// parameters packed (BlockLayout::packed).
struct WeightBlocks {
  std::byte* weights = nullptr;
  std::byte* running = nullptr;
  std::byte* packed = nullptr;
};

/// The persistent memory of a rank: flat blocks, state and inputs, on the device. The host reads
/// and writes it only through the queue.
class ModelMemory {
 public:
  struct Sizes {
    DType type = DType::f32;     // type of parameters, gradients, state and statistics: f32 or f64
    int slots = 0;               // optimizer state blocks
    bool averages = false;       // has a second copy of weights and running statistics
    bool packs_average = false;  // a program reads the packed weights of that copy
    std::size_t input_bytes = 0;
    std::size_t staging_bytes = 0;  // images before conversion to the input's layout and type
    std::int64_t batch = 1;
    bool accumulates = false;  // has a second gradient block for the sum over micro-batches
    std::int64_t shards = 1;   // shards of a micro-batch, a power of two: log2(shards) blocks for
                               // their sums
    std::int64_t results = 0;  // doubles per batch: its loss and metrics
    std::int64_t outputs = 0;  // numbers per sample that the network gives
    std::int64_t kept = 0;     // samples whose outputs are kept, see output_rows()
  };
  /// The offset of each part, in bytes, in this order; `bytes` is the total.
  struct Offsets {
    std::size_t weights = 0, gradients = 0, gradient_bytes = 0, shard_sums = 0, gradient_sum = 0;
    std::size_t slots = 0, slot_bytes = 0;
    std::size_t running = 0, averaged_weights = 0, averaged_running = 0, packed = 0,
                averaged_packed = 0, inputs = 0, sample_index = 0, staging = 0, state = 0,
                finished = 0, results = 0;
    std::size_t plain_outputs = 0, output_rows = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] static Offsets offsets_of(const BlockLayout& blocks, const Sizes& sizes);
  /// Zeroed on `queue`.
  ModelMemory(Device& device, Queue& queue, const BlockLayout& blocks, const Sizes& sizes);

  [[nodiscard]] DType type() const { return sizes_.type; }
  [[nodiscard]] std::int64_t batch() const { return sizes_.batch; }
  [[nodiscard]] std::byte* weights() const { return at(offsets_.weights); }
  [[nodiscard]] std::int64_t shards() const { return sizes_.shards; }
  /// Gradients of this batch; the statistics of the batch follow as the tail.
  [[nodiscard]] std::byte* gradients() const { return at(offsets_.gradients); }
  /// log2(shards()) blocks like gradients(), shard_sum_stride() bytes apart, for the sums over
  /// shards; see ShardSum, which leaves the total in the first.
  [[nodiscard]] std::byte* shard_sums() const { return at(offsets_.shard_sums); }
  [[nodiscard]] std::size_t shard_sum_stride() const { return offsets_.gradient_bytes; }
  /// Sum over shards and micro-batches; without accumulation the sum over shards, and gradients()
  /// if there is one shard.
  [[nodiscard]] std::byte* gradient_sum() const { return at(offsets_.gradient_sum); }
  [[nodiscard]] std::byte* slot(int index) const;
  [[nodiscard]] int slots() const { return sizes_.slots; }
  [[nodiscard]] std::byte* running() const { return at(offsets_.running); }
  /// weights(), running() and what is packed of them.
  [[nodiscard]] WeightBlocks trained() const { return {weights(), running(), at(offsets_.packed)}; }
  /// Blocks like those of trained(), with Sizes::averages; packed with Sizes::packs_average.
  [[nodiscard]] WeightBlocks averaged() const {
    return {at(offsets_.averaged_weights), at(offsets_.averaged_running),
            at(offsets_.averaged_packed)};
  }
  [[nodiscard]] bool averages() const { return sizes_.averages; }
  [[nodiscard]] bool packs_average() const { return sizes_.packs_average; }
  [[nodiscard]] std::byte* inputs() const { return at(offsets_.inputs); }
  [[nodiscard]] std::byte* staging() const { return at(offsets_.staging); }
  [[nodiscard]] StepState* state() const {
    return reinterpret_cast<StepState*>(at(offsets_.state));
  }
  /// BatchContext::finished of a queue. No siblings are on the side queue.
  [[nodiscard]] std::uint32_t* finished(StepQueue queue) const {
    auto* const all = reinterpret_cast<std::uint32_t*>(at(offsets_.finished));
    return all + (queue == StepQueue::side ? kMostSiblings * kColumnGroups : 0);
  }
  [[nodiscard]] std::int64_t* sample_index() const {
    return reinterpret_cast<std::int64_t*>(at(offsets_.sample_index));
  }
  /// The sums of losses and metrics over the batches since they were last read.
  [[nodiscard]] double* results() const { return reinterpret_cast<double*>(at(offsets_.results)); }
  /// A batch's outputs, plain [batch, outputs] of type(), and those of all samples of a split,
  /// [kept, outputs]; of no size if none are kept.
  [[nodiscard]] std::byte* plain_outputs() const { return at(offsets_.plain_outputs); }
  [[nodiscard]] float* output_rows() const {
    return reinterpret_cast<float*>(at(offsets_.output_rows));
  }
  [[nodiscard]] std::size_t bytes() const { return buffer_->bytes(); }

 private:
  [[nodiscard]] std::byte* at(std::size_t offset) const {
    return static_cast<std::byte*>(buffer_->data()) + offset;
  }

  Sizes sizes_;
  Offsets offsets_;
  std::unique_ptr<DeviceBuffer> buffer_;
};

/// Bytes that a model takes, by kind. The kinds add up to the memory allocated.
struct MemoryForecast {
  std::size_t weights = 0;      // with running statistics, their averages, packed weights
  std::size_t gradients = 0;    // with batch statistics, and sums over shards and micro-batches
  std::size_t optimizer = 0;    // its state
  std::size_t inputs = 0;       // a batch, and the state that kernels read
  std::size_t activations = 0;  // with their gradients and what forward saves for backward
  std::size_t workspace = 0;    // how much larger the steps' workspaces make the transient arena
  [[nodiscard]] std::size_t total() const {
    return weights + gradients + optimizer + inputs + activations + workspace;
  }
  bool operator==(const MemoryForecast&) const = default;
};

/// The memory of programs that run in turn in one transient arena. `programs` are complete. Pure.
[[nodiscard]] MemoryForecast forecast(const BlockLayout& blocks, const ModelMemory::Sizes& sizes,
                                      std::span<const Plan* const> programs);

/// "memory: 12.3 MiB = 1.2 weights + ...".
[[nodiscard]] std::string text_of(const MemoryForecast& forecast);

/// The largest batch of at most `most` samples for which `total_at(batch)` is at most `bytes`, 0 if
/// there is none. A binary search: calls `total_at` about log2(most) times; it should not decrease
/// as the batch grows.
[[nodiscard]] std::int64_t largest_batch(
    std::size_t bytes, std::int64_t most,
    const std::function<std::size_t(std::int64_t batch)>& total_at);

}  // namespace trainyard
