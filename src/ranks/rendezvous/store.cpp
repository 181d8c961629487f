#include "ranks/rendezvous/store.h"

#include <condition_variable>
#include <mutex>

#include "ranks/rendezvous/store_channel.h"
#include "ranks/rendezvous/store_table.h"

namespace trainyard {

namespace {

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

constexpr Milliseconds kAnswer{30'000};  // how long rank 0 may take beyond a request's own wait

class StoreClientConnection final : public Store {
 public:
  StoreClientConnection(const StoreAddress& address, Milliseconds limit)
      : dialogue_(address, limit) {}

  void set(std::string_view key, std::string_view value) override {
    ask({.kind = MessageKind::set, .key = std::string(key), .value = std::string(value)}, {});
  }
  [[nodiscard]] std::string get(std::string_view key, Milliseconds limit) override {
    return await(MessageKind::get, key, limit).value;
  }
  void wait(std::string_view key, Milliseconds limit) override {
    await(MessageKind::wait, key, limit);
  }
  std::int64_t add(std::string_view key, std::int64_t amount) override {
    return ask({.kind = MessageKind::add, .number = amount, .key = std::string(key)}, {}).number;
  }

 private:
  Message ask(const Message& request, Milliseconds limit) {
    return dialogue_.ask(request, limit + kAnswer);
  }
  Message await(MessageKind kind, std::string_view key, Milliseconds limit) {
    Message answer = ask({.kind = kind, .number = limit.count(), .key = std::string(key)}, limit);
    if (answer.kind == MessageKind::late) key_is_late(key, limit);
    return answer;
  }

  StoreChannel dialogue_;
};

}  // namespace

std::unique_ptr<Store> make_memory_store(const StoreLimits& limits) {
  return std::make_unique<MemoryStore>(limits);
}

std::unique_ptr<Store> connect_to_store(const StoreAddress& address, Milliseconds limit) {
  return std::make_unique<StoreClientConnection>(address, limit);
}

}  // namespace trainyard
