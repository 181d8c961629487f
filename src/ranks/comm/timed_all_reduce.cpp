#include "ranks/comm/timed_all_reduce.h"

namespace trainyard {

Communicator& TimedAllReduce::around(Communicator& ranks) {
  forward_to(ranks);
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
  for (std::size_t call = 0; call < noted_.size(); ++call) make_noted(call);
}

void TimedAllReduce::make_noted(std::size_t call) {
  inner().all_reduce_sums(*noted_[call].queue, noted_[call].parts);
}

void TimedAllReduce::wait() {
  for (const Call& call : noted_) call.queue->wait();
}

void TimedAllReduce::all_reduce_sums(Queue& queue, std::span<const SumPart> parts) {
  if (mode_ == Mode::leave_out) return;
  if (mode_ == Mode::note) noted_.push_back({&queue, {parts.begin(), parts.end()}});
  inner().all_reduce_sums(queue, parts);
}

}  // namespace trainyard
