// A store in this process, for ranks that are threads.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "ranks/rendezvous/store.h"
#include "ranks/rendezvous/store_server.h"

namespace trainyard {

/// Thread-safe.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(const StoreLimits& limits) : table_(limits) {}

  void set(std::string_view key, std::string_view value) override {
    const std::scoped_lock lock(mutex_);
    table_.set(key, value);
    changed_.notify_all();
  }
  [[nodiscard]] std::string get(std::string_view key, Milliseconds limit) override {
    std::unique_lock lock(mutex_);
    return *await(key, limit, lock);
  }
  void wait(std::string_view key, Milliseconds limit) override {
    std::unique_lock lock(mutex_);
    await(key, limit, lock);
  }
  std::int64_t add(std::string_view key, std::int64_t amount) override {
    const std::scoped_lock lock(mutex_);
    const std::int64_t sum = table_.add(key, amount);
    changed_.notify_all();
    return sum;
  }

 private:
  const std::string* await(std::string_view key, Milliseconds limit,
                           std::unique_lock<std::mutex>& lock) {
    const std::string* value = nullptr;
    const auto there = [&] { return (value = table_.find(key)) != nullptr; };
    if (!changed_.wait_for(lock, limit, there)) key_is_late(key, limit);
    return value;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  StoreTable table_;
};

[[nodiscard]] inline std::unique_ptr<Store> make_memory_store(const StoreLimits& limits = {}) {
  return std::make_unique<MemoryStore>(limits);
}

}  // namespace trainyard
