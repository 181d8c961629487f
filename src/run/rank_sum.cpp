#include "run/rank_sum.h"

#include "base/error.h"

namespace trainyard {

RankSum::RankSum(const Compute& compute, Communicator& communicator, const RankBlocks& blocks,
                 DType transport)
    : compute_(compute), communicator_(communicator), blocks_(blocks), transport_(transport) {
  if (communicator.size() == 1 || transport == DType::f32) return;
  TY_CHECK(blocks.type == DType::f32, "only gradients of f32 cross in 16 bits");
  narrow_ =
      compute.device.allocate(static_cast<std::size_t>(blocks.parameters) * size_of(transport));
}

void RankSum::run() {
  if (communicator_.size() == 1) return;
  sum_gradients();
  communicator_.all_reduce_sum(compute_.queue, blocks_.results, blocks_.result_count, DType::f64);
}

void RankSum::sum_gradients() {
  Queue& queue = compute_.queue;
  if (!narrows()) {
    return communicator_.all_reduce_sum(queue, blocks_.gradients,
                                        blocks_.parameters + blocks_.statistics, blocks_.type);
  }
  auto* const gradients = static_cast<float*>(blocks_.gradients);
  compute_.launches.narrow(narrow_->data(), transport_, gradients, blocks_.parameters);
  communicator_.all_reduce_sum(queue, narrow_->data(), blocks_.parameters, transport_);
  communicator_.all_reduce_sum(queue, gradients + blocks_.parameters, blocks_.statistics,
                               blocks_.type);
  compute_.launches.widen(gradients, narrow_->data(), transport_, blocks_.parameters);
}

}  // namespace trainyard
