#include "run/measured_sums.h"

namespace trainyard {

Communicator& MeasuredSums::around(Communicator& ranks) {
  ranks_ = &ranks;
  return *this;
}

void MeasuredSums::clear_noted() {
  for (const Sum& sum : noted_) {
    sum.queue->fill(sum.data, std::byte{0},
                    static_cast<std::size_t>(sum.count) * size_of(sum.type));
  }
}

void MeasuredSums::make_noted() {
  for (const Sum& sum : noted_) ranks_->all_reduce_sum(*sum.queue, sum.data, sum.count, sum.type);
}

void MeasuredSums::wait() {
  for (const Sum& sum : noted_) sum.queue->wait();
}

void MeasuredSums::all_reduce_sum(Queue& queue, void* data, std::int64_t count, DType type) {
  if (mode_ == Mode::leave_out) return;
  if (mode_ == Mode::note) noted_.push_back({&queue, data, count, type});
  ranks_->all_reduce_sum(queue, data, count, type);
}

void MeasuredSums::broadcast(Queue& queue, void* data, std::size_t bytes, int root) {
  ranks_->broadcast(queue, data, bytes, root);
}

void MeasuredSums::all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) {
  ranks_->all_gather(queue, mine, bytes, out);
}

void MeasuredSums::all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) {
  ranks_->all_to_all(queue, mine, bytes, out);
}

}  // namespace trainyard
