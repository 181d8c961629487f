#include "ranks/rendezvous/store.h"
#include "ranks/rendezvous/store_channel.h"
#include "ranks/rendezvous/store_table.h"

namespace trainyard {
namespace {

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

std::unique_ptr<Store> connect_to_store(const StoreAddress& address, Milliseconds limit) {
  return std::make_unique<StoreClientConnection>(address, limit);
}

}  // namespace trainyard
