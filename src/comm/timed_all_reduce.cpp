#include "comm/timed_all_reduce.h"

namespace trainyard {

Communicator& TimedAllReduce::around(Communicator& ranks) {
  ranks_ = &ranks;
  return *this;
}

void TimedAllReduce::clear_noted() {
  for (const Call& call : noted_) {
    for (const SumPart& part : call.parts) {
      const std::size_t bytes = static_cast<std::size_t>(part.count) * size_of(part.type);
      call.queue->fill(part.data, std::byte{0}, bytes);
    }
  }
}

void TimedAllReduce::make_noted() {
  for (const Call& call : noted_) ranks_->all_reduce_sums(*call.queue, call.parts);
}

void TimedAllReduce::wait() {
  for (const Call& call : noted_) call.queue->wait();
}

void TimedAllReduce::all_reduce_sums(Queue& queue, std::span<const SumPart> parts) {
  if (mode_ == Mode::leave_out) return;
  if (mode_ == Mode::note) noted_.push_back({&queue, {parts.begin(), parts.end()}});
  ranks_->all_reduce_sums(queue, parts);
}

void TimedAllReduce::broadcast(Queue& queue, void* data, std::size_t bytes, int root) {
  ranks_->broadcast(queue, data, bytes, root);
}

void TimedAllReduce::all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) {
  ranks_->all_gather(queue, mine, bytes, out);
}

void TimedAllReduce::all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) {
  ranks_->all_to_all(queue, mine, bytes, out);
}

}  // namespace trainyard
