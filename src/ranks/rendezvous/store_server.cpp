#include "ranks/rendezvous/store_server.h"

#include <poll.h>

#include <algorithm>
#include <exception>
#include <list>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {
namespace {

[[noreturn]] void refuse_key(std::string_view key, const std::string& reason) {
  throw device_error("the ranks' store refused the key '" +
                     std::string(key.substr(0, kMaxKeyBytes)) + "': " + reason);
}

void check_size(std::string_view key, std::string_view what, std::size_t bytes,
                std::size_t allowed) {
  if (bytes <= allowed) return;
  refuse_key(key, std::string(what) + " has " + std::to_string(bytes) + " bytes; at most " +
                      std::to_string(allowed) + " are allowed");
}

void send(StoreClient& client, const Message& message) { client.outgoing += encode(message); }

[[noreturn]] void refuse_client(const std::string& why) { throw device_error(why); }

/// When a request that may wait must be answered.
Moment deadline_of(const Message& request, Moment now) {
  constexpr std::int64_t kLongest = 7 * 24 * 3600 * std::int64_t{1000};
  return now + Milliseconds(std::clamp<std::int64_t>(request.number, 0, kLongest));
}

using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds kTick{50};  // how often time limits are checked
// A client that sends faster than it is answered waits in its own socket.
constexpr std::size_t kMostIncoming = kHeaderBytes + kMaxKeyBytes + kMaxValueBytes;
// Before the token, there is room for nothing else.
constexpr std::size_t kMostOfStranger = kHeaderBytes + kTokenBytes;

}  // namespace

const std::string* StoreTable::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void StoreTable::set(std::string_view key, std::string_view value) {
  check_size(key, "it", key.size(), kMaxKeyBytes);
  check_size(key, "its value", value.size(), kMaxValueBytes);
  const std::string* const old = find(key);
  const std::size_t before = old != nullptr ? key.size() + old->size() : 0;
  const std::size_t after = bytes_ - before + key.size() + value.size();
  if (old == nullptr && values_.size() >= limits_.keys) {
    refuse_key(key, "it holds " + std::to_string(limits_.keys) + " keys, and no more are allowed");
  }
  if (after > limits_.bytes) {
    refuse_key(key, "it would hold " + std::to_string(after) + " bytes; at most " +
                        std::to_string(limits_.bytes) + " are allowed");
  }
  values_.insert_or_assign(std::string(key), std::string(value));
  bytes_ = after;
}

std::int64_t StoreTable::add(std::string_view key, std::int64_t amount) {
  const std::string* const old = find(key);
  const auto before = old != nullptr ? parse_integer(*old) : 0;
  if (!before) refuse_key(key, "its value is not a number, so nothing can be added to it");
  std::int64_t sum = 0;
  if (__builtin_add_overflow(*before, amount, &sum)) refuse_key(key, "the sum exceeds 64 bits");
  set(key, std::to_string(sum));
  return sum;
}

void StoreService::receive(StoreClient& client, Moment now) {
  std::string_view rest = client.incoming;
  try {
    client.held_back = false;
    while (!client.closing && !client.pending) {
      client.held_back = client.outgoing.size() > kMaxValueBytes;
      if (client.held_back) break;
      // For a stranger, no more is buffered than a greeting needs.
      auto message = take_message(rest, client.greeted ? kMaxValueBytes : kTokenBytes);
      if (!message) break;
      if (client.greeted) {
        handle(client, std::move(*message), now);
      } else {
        greet(client, *message);
      }
    }
  } catch (const Error& error) {
    send(client, {.kind = MessageKind::refused, .value = error.what()});
    client.closing = true;
  }
  if (client.closing) rest = {};
  client.incoming.erase(0, client.incoming.size() - rest.size());
}

void StoreService::lose(const StoreClient& client) {
  if (client.rank >= 0) board_.lose(client.rank);
}

void StoreService::advance(std::span<StoreClient* const> clients, Moment now) {
  for (StoreClient* const client : clients) {
    if (client->pending) answer_pending(*client, now);
    if (client->pending || client->incoming.empty()) continue;
    receive(*client, now);
  }
  const std::optional<Failure>& failure = board_.verdict(now);
  for (StoreClient* const client : clients) {
    if (client->rank < 0 || client->closing) continue;
    if (failure && !client->told) {
      client->told = true;
      send(*client, {.kind = MessageKind::failed, .value = encode(*failure)});
    }
    // The store is in rank 0's process, which therefore leaves last.
    const bool may_leave = client->rank != 0 || board_.others_left(0);
    if (client->leaves && may_leave) {
      client->leaves = false;
      send(*client, {.kind = MessageKind::left});
    }
  }
}

void StoreService::greet(StoreClient& client, const Message& message) {
  if (message.kind != MessageKind::hello || !message.key.empty() ||
      message.value.size() != kTokenBytes) {
    refuse_client("a connection to the ranks' store must begin with a greeting");
  }
  if (message.number != kWireVersion) {
    refuse_client("a rank uses protocol version " + std::to_string(message.number) +
                  ", rank 0 version " + std::to_string(kWireVersion) +
                  "; run the same version of train everywhere");
  }
  if (!same_token(message.value, token_)) {
    refuse_client("the token differs from rank 0's; give every rank the same one");
  }
  client.greeted = true;
  send(client, {.kind = MessageKind::done});
}

void StoreService::handle(StoreClient& client, Message message, Moment now) {
  switch (message.kind) {
    case MessageKind::set:
      table_.set(message.key, message.value);
      return send(client, {.kind = MessageKind::done});
    case MessageKind::add:
      return send(client,
                  {.kind = MessageKind::done, .number = table_.add(message.key, message.number)});
    case MessageKind::get:
    case MessageKind::wait:
      client.pending = {.request = std::move(message), .deadline = {}};
      client.pending->deadline = deadline_of(client.pending->request, now);
      return answer_pending(client, now);
    case MessageKind::join:
    case MessageKind::beat:
    case MessageKind::report:
    case MessageKind::sign_off:
      return handle_watch(client, message, now);
    default:
      refuse_client("a rank sent a message that only the ranks' store may send");
  }
}

void StoreService::handle_watch(StoreClient& client, const Message& message, Moment now) {
  const bool joins = message.kind == MessageKind::join;
  if (joins != (client.rank < 0)) refuse_client("a watchdog joins once, before anything else");
  if (joins) {
    const int rank = static_cast<int>(std::clamp<std::int64_t>(message.number, -1, 1 << 30));
    board_.join(rank, message.key, now);
    client.rank = rank;
  } else if (message.kind == MessageKind::beat) {
    board_.beat(client.rank, decode_pulse(message.number, message.key, message.value), now);
  } else if (message.kind == MessageKind::report) {
    const Failure failure = decode_failure(message.value);
    if (failure.rank != client.rank) refuse_client("a rank reports its own failure only");
    return board_.report(failure, now);
  } else {
    client.leaves = true;
    return board_.sign_off(client.rank);
  }
  send(client, {.kind = MessageKind::done});
}

void StoreService::answer_pending(StoreClient& client, Moment now) {
  const Message& request = client.pending->request;
  const std::string* const value = table_.find(request.key);
  if (value == nullptr && now < client.pending->deadline) return;
  if (value == nullptr) {
    send(client, {.kind = MessageKind::late});
  } else if (request.kind == MessageKind::get) {
    send(client, {.kind = MessageKind::found, .value = *value});
  } else {
    send(client, {.kind = MessageKind::done});
  }
  client.pending.reset();
}

struct StoreServer::Connection {
  Connection(Descriptor accepted, Moment now) : socket(std::move(accepted)), client(now) {}

  Descriptor socket;
  StoreClient client;
  bool gone = false;
  bool readable = false;
  bool broken = false;

  [[nodiscard]] std::size_t room() const {
    const std::size_t most = client.greeted ? kMostIncoming : kMostOfStranger;
    return most - std::min(most, client.incoming.size());
  }
};

class StoreServer::Loop {
 public:
  explicit Loop(const StoreServerOptions& options)
      : greeting_(options.greeting),
        most_(most_connections(options.ranks)),
        service_(options.token, options.ranks, options.store, options.watchdog, SteadyClock::now()),
        listener_(listen_on(options.endpoint)),
        port_(port_of(listener_)),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Loop() {
    thread_.request_stop();
    wake_.signal();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  void run(const std::stop_token& stop) noexcept {
    try {
      while (!stop.stop_requested()) serve_once();
    } catch (const std::exception&) {
      // Out of memory, for example. Every rank, this one too, sees its connection close and reports
      // that rank 0 is gone.
      connections_.clear();
      listener_ = {};
    }
  }
  void serve_once() {
    await_work();
    // Everything that has arrived counts before any rank is judged: this process itself may have
    // been stopped for a while.
    const Moment now = SteadyClock::now();
    accept_all(now);
    std::vector<StoreClient*> clients;
    for (Connection& connection : connections_) {
      if (connection.readable) receive(connection, now);
      if (!connection.gone) clients.push_back(&connection.client);
    }
    service_.advance(clients, now);
    send_all();
    close_finished(now);
  }
  void await_work() {
    std::vector<pollfd> entries;
    entries.push_back({.fd = wake_.descriptor(), .events = POLLIN, .revents = 0});
    entries.push_back({.fd = listener_.get().value, .events = POLLIN, .revents = 0});
    Milliseconds limit = kTick;
    for (const Connection& connection : connections_) {
      if (connection.client.can_go_on()) limit = Milliseconds(0);
      short events = 0;
      if (connection.room() > 0) events |= POLLIN;
      if (!connection.client.outgoing.empty()) events |= POLLOUT;
      entries.push_back({.fd = connection.socket.get().value, .events = events, .revents = 0});
    }
    ::poll(entries.data(), entries.size(), static_cast<int>(limit.count()));
    auto entry = entries.begin() + 2;
    for (Connection& connection : connections_) {
      connection.broken = (entry->revents & (POLLHUP | POLLERR)) != 0;
      connection.readable = connection.broken || (entry->revents & POLLIN) != 0;
      ++entry;
    }
  }
  void accept_all(Moment now) {
    while (Descriptor socket = accept_from(listener_)) {
      if (make_room()) connections_.emplace_back(std::move(socket), now);
    }
  }
  [[nodiscard]] bool make_room() {
    if (connections_.size() < most_) return true;
    const auto stranger = std::ranges::find_if(
        connections_, [](const Connection& connection) { return !connection.client.greeted; });
    if (stranger == connections_.end()) return false;
    connections_.erase(stranger);
    return true;
  }
  void receive(Connection& connection, Moment now) {
    const std::size_t room = connection.room();
    const bool open = receive_into(connection.socket, connection.client.incoming, room) &&
                      !(connection.broken && room == 0);
    service_.receive(connection.client, now);
    if (open) return;
    connection.gone = true;
    service_.lose(connection.client);
  }
  void send_all() {
    // Rank 0 is served last: it may end this process as soon as it knows of a failure.
    for (const bool zero : {false, true}) {
      for (Connection& connection : connections_) {
        if ((connection.client.rank == 0) != zero || connection.gone) continue;
        if (send_from(connection.socket, connection.client.outgoing)) continue;
        connection.gone = true;
        service_.lose(connection.client);
      }
    }
  }
  void close_finished(Moment now) {
    connections_.remove_if([&](Connection& connection) {
      const StoreClient& client = connection.client;
      const bool stranger = !client.greeted && now - client.since > greeting_;
      const bool dropped = client.closing && client.outgoing.empty();
      if (dropped && !connection.gone) service_.lose(client);
      return connection.gone || stranger || dropped;
    });
  }

  Milliseconds greeting_;
  std::size_t most_;
  StoreService service_;
  Descriptor listener_;
  std::uint16_t port_;
  Wake wake_;
  std::list<Connection> connections_;  // oldest first
  std::jthread thread_;                // last: it ends before the rest is destroyed
};

StoreServer::StoreServer(const StoreServerOptions& options)
    : loop_(std::make_unique<Loop>(options)) {}

StoreServer::~StoreServer() = default;

std::uint16_t StoreServer::port() const { return loop_->port(); }

}  // namespace trainyard
