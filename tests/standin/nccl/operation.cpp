#include "operation.h"

#include <algorithm>

#include "stream.h"

namespace standin::nccl {

Launchable::~Launchable() {
  for (const Order::Turn turn : turns_) share_->order.leave(turn);
}

void Launchable::launched() {
  const Order::Turn turn = share_->order.launch();
  const std::lock_guard lock(mutex_);
  turns_.push_back(turn);
}

bool Launchable::advance() {
  Order::Turn turn = 0;
  {
    const std::lock_guard lock(mutex_);
    turn = turns_.front();
  }
  if (!step(turn)) return false;
  begun_ = false;
  {
    const std::lock_guard lock(mutex_);
    turns_.pop_front();
  }
  share_->order.leave(turn);
  return true;
}

bool Launchable::step(Order::Turn turn) {
  if (share_->order.aborted()) return true;
  if (!share_->order.is_turn(turn)) return false;
  if (!begun_) {
    const auto regions = operation_->regions();
    const bool on_gpu = std::ranges::all_of(regions, [](const Region& region) {
      return region.bytes == 0 || is_device_memory(region.memory, region.bytes);
    });
    if (!on_gpu) {
      break_device(share_->device, cudaErrorIllegalAddress);
      return false;
    }
    begun_ = true;
  }
  return operation_->advance();
}

}  // namespace standin::nccl
