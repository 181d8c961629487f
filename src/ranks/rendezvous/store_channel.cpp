#include "ranks/rendezvous/store_channel.h"

#include <poll.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds kPauseToGreet{50};  // between two attempts to be admitted

Milliseconds left_until(Moment deadline) {
  const auto left = std::chrono::ceil<Milliseconds>(deadline - SteadyClock::now());
  return std::max(left, Milliseconds(0));
}

[[noreturn]] void fail(const Endpoint& endpoint, const std::string& what) {
  throw device_error("rank 0's store at " + endpoint.text() + " " + what);
}

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

void key_is_late(std::string_view key, Milliseconds limit) {
  const double seconds = std::chrono::duration<double>(limit).count();
  throw device_error("no rank set '" + std::string(key) + "' within " + number_text(seconds) +
                     " s; are all ranks running?");
}

StoreChannel::StoreChannel(const StoreAddress& address, Milliseconds limit)
    : endpoint_(address.endpoint) {
  const std::string token = padded_token(address.token);
  const Moment deadline = SteadyClock::now() + limit;
  do {
    // The store closes strangers' connections when it has too many; then we try again.
    incoming_.clear();
    outgoing_.clear();
    socket_ = connect_to(endpoint_, left_until(deadline));
    if (greet(token, deadline)) return;
    ::poll(nullptr, 0, static_cast<int>(kPauseToGreet.count()));
  } while (SteadyClock::now() < deadline);
  fail(endpoint_,
       "closed the connection without an answer; is train listening there, with room for this "
       "rank?");
}

bool StoreChannel::greet(const std::string& token, Moment deadline) {
  post({.kind = MessageKind::hello, .number = kWireVersion, .value = token});
  bool open = true;
  const auto answer = await_message(deadline, open);
  if (!open) return false;
  if (!answer) {
    fail(endpoint_, "accepted the connection but sent nothing; is train listening there?");
  }
  return true;
}

Message StoreChannel::ask(const Message& request, Milliseconds limit) {
  post(request);
  bool open = true;
  const auto answer = await_message(SteadyClock::now() + limit, open);
  if (!open) fail(endpoint_, "closed the connection; rank 0 has exited, see its output");
  if (!answer) {
    fail(endpoint_, "did not answer within " +
                        number_text(std::chrono::duration<double>(limit).count()) +
                        " s; is rank 0 stopped, or its network down?");
  }
  return *answer;
}

std::optional<Message> StoreChannel::await_message(Moment deadline, bool& open) {
  while (true) {
    open = flush() && open;
    open = receive() && open;
    std::optional<Message> message = take();
    if (message && message->kind == MessageKind::refused) {
      fail(endpoint_, "refused this rank: " + message->value);
    }
    if (message) open = true;
    const Milliseconds left = left_until(deadline);
    if (message || !open || left.count() == 0) return message;
    await(-1, left);
  }
}

void StoreChannel::await(int wake, Milliseconds limit) {
  [[maybe_unused]] const bool readable = await_socket(socket_, !all_sent(), wake, limit);
}

bool StoreChannel::receive() { return receive_into(socket_, incoming_, 2 * kMaxValueBytes); }

bool StoreChannel::flush() { return send_from(socket_, outgoing_); }

std::optional<Message> StoreChannel::take() {
  std::string_view rest = incoming_;
  std::optional<Message> message = take_message(rest);
  incoming_.erase(0, incoming_.size() - rest.size());
  return message;
}

std::unique_ptr<Store> connect_to_store(const StoreAddress& address, Milliseconds limit) {
  return std::make_unique<StoreClientConnection>(address, limit);
}

}  // namespace trainyard
