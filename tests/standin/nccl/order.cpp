#include "order.h"

#include <chrono>

namespace standin::nccl {

Order::Turn Order::launch() {
  const std::lock_guard lock(mutex_);
  open_.insert(next_);
  return next_++;
}

bool Order::is_turn(Turn turn) {
  const std::lock_guard lock(mutex_);
  return aborted_ || *open_.begin() == turn;
}

void Order::leave(Turn turn) {
  const std::lock_guard lock(mutex_);
  open_.erase(turn);
  changed_.notify_all();
}

void Order::abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  changed_.notify_all();
}

bool Order::aborted() {
  const std::lock_guard lock(mutex_);
  return aborted_;
}

bool Order::idle() {
  const std::lock_guard lock(mutex_);
  return open_.empty();
}

bool Order::wait_for(const std::function<bool()>& condition) { return wait(condition, true); }

void Order::wait_out(const std::function<bool()>& condition) {
  static_cast<void>(wait(condition, false));
}

bool Order::wait(const std::function<bool()>& condition, bool until_abort) {
  constexpr std::chrono::microseconds kLittleWhile(100);
  while (!condition()) {
    std::unique_lock lock(mutex_);
    if (until_abort && aborted_) return false;
    changed_.wait_for(lock, kLittleWhile);
  }
  return true;
}

}  // namespace standin::nccl
