#include "ranks/rendezvous/store_server.h"

#include <poll.h>

#include <algorithm>
#include <exception>
#include <list>
#include <thread>
#include <vector>

#include "ranks/rendezvous/store_service.h"

namespace trainyard {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds kTick{50};  // how often time limits are checked
// A client that sends faster than it is answered waits in its own socket.
constexpr std::size_t kMostIncoming = kHeaderBytes + kMaxKeyBytes + kMaxValueBytes;
// Before the token, there is room for nothing else.
constexpr std::size_t kMostOfStranger = kHeaderBytes + kTokenBytes;

}  // namespace

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
  void run(const std::stop_token& stop) noexcept;
  void serve_once();
  void await_work();
  void accept_all(Moment now);
  [[nodiscard]] bool make_room();
  void receive(Connection& connection, Moment now);
  void send_all();
  void close_finished(Moment now);

  Milliseconds greeting_;
  std::size_t most_;
  StoreService service_;
  Descriptor listener_;
  std::uint16_t port_;
  Wake wake_;
  std::list<Connection> connections_;  // oldest first
  std::jthread thread_;                // last: it ends before the rest is destroyed
};

void StoreServer::Loop::run(const std::stop_token& stop) noexcept {
  try {
    while (!stop.stop_requested()) serve_once();
  } catch (const std::exception&) {
    // Out of memory, for example. Every rank, this one too, sees its connection close and reports
    // that rank 0 is gone.
    connections_.clear();
    listener_ = {};
  }
}

void StoreServer::Loop::serve_once() {
  await_work();
  // Everything that has arrived counts before any rank is judged: this process itself may have been
  // stopped for a while.
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

void StoreServer::Loop::await_work() {
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

void StoreServer::Loop::accept_all(Moment now) {
  while (Descriptor socket = accept_from(listener_)) {
    if (make_room()) connections_.emplace_back(std::move(socket), now);
  }
}

bool StoreServer::Loop::make_room() {
  if (connections_.size() < most_) return true;
  const auto stranger = std::ranges::find_if(
      connections_, [](const Connection& connection) { return !connection.client.greeted; });
  if (stranger == connections_.end()) return false;
  connections_.erase(stranger);
  return true;
}

void StoreServer::Loop::receive(Connection& connection, Moment now) {
  const std::size_t room = connection.room();
  const bool open = receive_into(connection.socket, connection.client.incoming, room) &&
                    !(connection.broken && room == 0);
  service_.receive(connection.client, now);
  if (open) return;
  connection.gone = true;
  service_.lose(connection.client);
}

void StoreServer::Loop::send_all() {
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

void StoreServer::Loop::close_finished(Moment now) {
  connections_.remove_if([&](Connection& connection) {
    const StoreClient& client = connection.client;
    const bool stranger = !client.greeted && now - client.since > greeting_;
    const bool dropped = client.closing && client.outgoing.empty();
    if (dropped && !connection.gone) service_.lose(client);
    return connection.gone || stranger || dropped;
  });
}

StoreServer::StoreServer(const StoreServerOptions& options)
    : loop_(std::make_unique<Loop>(options)) {}

StoreServer::~StoreServer() = default;

std::uint16_t StoreServer::port() const { return loop_->port(); }

}  // namespace trainyard
