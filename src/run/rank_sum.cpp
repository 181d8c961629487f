#include "run/rank_sum.h"

#include <algorithm>

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
  if (buckets_.empty()) {
    buckets_ = {{.count = blocks.parameters + blocks.statistics}};
  } else {
    ready_ = compute.device.make_event();
    summed_ = compute.device.make_event();
  }
  if (transport_ == DType::f32) return;
  TY_CHECK(blocks.type == DType::f32, "only gradients of f32 cross in 16 bits");
  const std::size_t bytes = static_cast<std::size_t>(blocks.parameters) * size_of(transport_);
  narrow_ = compute.device.allocate(bytes);
}

std::span<const GradientBucket> RankSum::beside_backward() const {
  if (ready_ == nullptr) return {};
  return buckets_;
}

void RankSum::begin_next() {
  const GradientBucket& bucket = buckets_[next_++];
  if (narrows()) return sum_narrow(bucket);
  fork();
  auto* const first = static_cast<std::byte*>(blocks_.gradients) +
                      static_cast<std::size_t>(bucket.first) * size_of(blocks_.type);
  communicator_.all_reduce_sum(queue_, first, bucket.count, blocks_.type);
}

std::byte* RankSum::narrow(std::int64_t element) const {
  return static_cast<std::byte*>(narrow_->data()) +
         static_cast<std::size_t>(element) * size_of(transport_);
}

void RankSum::sum_narrow(const GradientBucket& bucket) {
  auto* const gradients = static_cast<float*>(blocks_.gradients);
  const std::int64_t end = bucket.first + bucket.count;
  const std::int64_t parameters = std::min(end, blocks_.parameters) - bucket.first;
  compute_.launches.narrow(narrow(bucket.first), transport_, gradients + bucket.first, parameters);
  fork();
  communicator_.all_reduce_sum(queue_, narrow(bucket.first), parameters, transport_);
  if (end <= blocks_.parameters) return;
  communicator_.all_reduce_sum(queue_, gradients + blocks_.parameters, blocks_.statistics,
                               blocks_.type);
}

void RankSum::finish() {
  if (communicator_.size() == 1) return;
  while (next_ < buckets_.size()) begin_next();
  next_ = 0;
  fork();
  communicator_.all_reduce_sum(queue_, blocks_.results, blocks_.result_count, DType::f64);
  join();
  if (!narrows()) return;
  compute_.launches.widen(static_cast<float*>(blocks_.gradients), narrow_->data(), transport_,
                          blocks_.parameters);
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

}  // namespace trainyard
