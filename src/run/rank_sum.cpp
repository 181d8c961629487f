#include "run/rank_sum.h"

namespace trainyard {

RankSum::RankSum(const Compute& compute, Communicator& communicator, const RankBlocks& blocks)
    : compute_(compute), communicator_(communicator), blocks_(blocks) {}

void RankSum::run() {
  Queue& queue = compute_.queue;
  communicator_.all_reduce_sum(queue, blocks_.gradients, blocks_.parameters + blocks_.statistics,
                               blocks_.type);
  communicator_.all_reduce_sum(queue, blocks_.results, blocks_.result_count, DType::f64);
}

}  // namespace trainyard
