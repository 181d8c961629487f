#include "train/rank_sum.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace trainyard {

RankSum::RankSum(const Compute& compute, Communicator& communicator, const RankBlocks& blocks,
                 const RankSumOptions& options)
    : compute_(compute),
      communicator_(communicator),
      blocks_(blocks),
      transport_(options.transport),
      buckets_(options.buckets),
      queue_(options.buckets.empty() ? compute.queue : *compute.sums) {
  if (communicator.size() == 1) return;
  pending_.reserve(4);
  if (buckets_.empty()) {
    buckets_ = {{.count = blocks.parameters + blocks.statistics}};
  } else {
    ready_ = compute.device.make_event();
    summed_ = compute.device.make_event();
  }
  if (options.in_tree && !communicator.sums_in_tree()) {
    TY_CHECK(options.buckets.empty() && transport_ == DType::f32,
             "sums in tree order need whole blocks in their own dtype");
    parts_ = compute.device.allocate(
        std::max(tree_bytes(blocks.parameters + blocks.statistics, blocks.type),
                 tree_bytes(blocks.result_count, DType::f64)));
  }
  if (transport_ == DType::f32) return;
  TY_CHECK(blocks.type == DType::f32, "only f32 gradients can be sent in 16 bits");
  const std::size_t bytes = static_cast<std::size_t>(blocks.parameters) * size_of(transport_);
  downcast_ = compute.device.allocate(bytes);
}

void RankSum::sum_with_results(const SumPart& part) {
  TY_CHECK(parts_ == nullptr || tree_bytes(part.count, part.type) <= parts_->bytes(),
           "what is summed with the results is smaller than the largest block");
  with_results_ = part;
}

std::span<const GradientBucket> RankSum::overlapped() const {
  if (ready_ == nullptr) return {};
  return std::span(buckets_).first(buckets_.size() - 1);
}

void RankSum::begin_next() {
  add(buckets_[next_++]);
  enqueue();
}

std::byte* RankSum::downcast_at(std::int64_t element) const {
  return static_cast<std::byte*>(downcast_->data()) +
         static_cast<std::size_t>(element) * size_of(transport_);
}

void RankSum::add(const GradientBucket& bucket) {
  auto* const first = static_cast<std::byte*>(blocks_.gradients) +
                      static_cast<std::size_t>(bucket.first) * size_of(blocks_.type);
  if (!downcasts()) return pending_.push_back({first, bucket.count, blocks_.type});
  const std::int64_t end = bucket.first + bucket.count;
  const std::int64_t parameters = std::min(end, blocks_.parameters) - bucket.first;
  compute_.launches.downcast(downcast_at(bucket.first), transport_, reinterpret_cast<float*>(first),
                             parameters);
  pending_.push_back({downcast_at(bucket.first), parameters, transport_});
  if (end <= blocks_.parameters) return;
  pending_.push_back({static_cast<float*>(blocks_.gradients) + blocks_.parameters,
                      blocks_.statistics, blocks_.type});
}

void RankSum::enqueue() {
  fork();
  if (parts_ == nullptr) {
    communicator_.all_reduce_sums(queue_, pending_);
  } else {
    for (const SumPart& part : pending_) {
      sum_in_tree(static_cast<std::byte*>(part.data), part.count, part.type);
    }
  }
  pending_.clear();
}

void RankSum::finish() {
  if (communicator_.size() == 1) return;
  while (next_ + 1 < buckets_.size()) begin_next();
  // The results are sent with the last bucket: a call costs more than their bytes.
  if (next_ < buckets_.size()) add(buckets_[next_]);
  next_ = 0;
  pending_.push_back({blocks_.results, blocks_.result_count, DType::f64});
  if (with_results_.count > 0) pending_.push_back(with_results_);
  enqueue();
  join();
  if (!downcasts()) return;
  compute_.launches.upcast(static_cast<float*>(blocks_.gradients), downcast_->data(), transport_,
                           blocks_.parameters);
}

std::size_t RankSum::tree_bytes(std::int64_t count, DType type) const {
  const std::int64_t ranks = communicator_.size();
  return static_cast<std::size_t>(ranks * std::max(count / ranks, count % ranks)) * size_of(type);
}

/// Every rank gets all ranks' values of one slice, sums them in tree order and distributes the sum,
/// which moves no more bytes than a ring. The remainder after slicing, fewer elements than ranks,
/// is summed by all ranks.
void RankSum::sum_in_tree(std::byte* data, std::int64_t count, DType type) {
  const std::int64_t ranks = communicator_.size();
  const std::int64_t slice = count / ranks, rest = count % ranks;
  const std::size_t slice_bytes = static_cast<std::size_t>(slice) * size_of(type);
  if (slice > 0) {
    communicator_.all_to_all(queue_, data, slice_bytes, parts_->data());
    sum_parts(slice, type);
    communicator_.all_gather(queue_, parts_->data(), slice_bytes, data);
  }
  if (rest == 0) return;
  std::byte* const tail = data + slice_bytes * static_cast<std::size_t>(ranks);
  const std::size_t rest_bytes = static_cast<std::size_t>(rest) * size_of(type);
  communicator_.all_gather(queue_, tail, rest_bytes, parts_->data());
  sum_parts(rest, type);
  queue_.copy(tail, parts_->data(), rest_bytes);
}

/// Sums `count` elements of each rank, stored rank after rank, into those of rank 0.
void RankSum::sum_parts(std::int64_t count, DType type) {
  const std::int64_t ranks = communicator_.size();
  const auto part = [&](std::int64_t rank) {
    return static_cast<std::byte*>(parts_->data()) +
           static_cast<std::size_t>(rank * count) * size_of(type);
  };
  for (std::int64_t stride = 1; stride < ranks; stride *= 2) {
    for (std::int64_t rank = 0; rank + stride < ranks; rank += 2 * stride) {
      compute_.launches.accumulate({.type = type, .gradients = part(rank)}, part(rank + stride),
                                   count, false);
    }
  }
}

void RankSum::fork() {
  if (ready_ == nullptr) return;
  ready_->record(compute_.queue);
  ready_->wait_on(queue_);
}

void RankSum::join() {
  if (summed_ == nullptr) return;
  summed_->record(queue_);
  summed_->wait_on(compute_.queue);
}

ShardSum::ShardSum(const UpdateLaunches& launches, const ShardBlocks& blocks, std::int64_t shards)
    : launches_(launches), blocks_(blocks), shards_(shards) {
  TY_CHECK(std::has_single_bit(static_cast<std::uint64_t>(shards)),
           "the number of shards per rank must be a power of two");
}

void ShardSum::accumulate(void* to, const void* from, bool first) const {
  launches_.accumulate({.type = blocks_.type, .gradients = to}, from, blocks_.elements, first);
}

void ShardSum::add(std::int64_t position) const {
  if (shards_ == 1) return;
  // The stack holds one sum per set bit of `position`, over as many shards as the bit's value, the
  // largest at the bottom. As in a binary counter, one more shard carries through the trailing set
  // bits: the two topmost sums then cover equally many shards and are merged.
  auto bits = static_cast<std::uint64_t>(position);
  int depth = std::popcount(bits);
  const bool left = bits % 2 == 0;
  accumulate(sum(left ? depth : depth - 1), blocks_.values, left);
  for (bits /= 2; !left && bits % 2 == 1; bits /= 2, --depth) {
    accumulate(sum(depth - 2), sum(depth - 1), false);
  }
}

}  // namespace trainyard
