#include "ranks/comm/gloo_mesh.h"

#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <array>
#include <ctime>
#include <string>
#include <utility>

#include "base/error.h"
#include "ranks/rendezvous/failure.h"

namespace trainyard {

namespace {

using SteadyClock = std::chrono::steady_clock;

std::shared_ptr<gloo::transport::Device> make_device(const GlooOptions& options) {
  gloo::transport::tcp::attr attributes;
  // Looked up by us: Gloo leaks memory if the interface does not exist, and does not name it.
  attributes.hostname =
      options.interface.empty() ? options.address : address_of_interface(options.interface);
  return gloo::transport::tcp::CreateDevice(attributes);
}

/// Gloo's text without the location in Gloo's sources.
std::string reason_of(const std::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.starts_with('[') ? text.find("] ") : std::string::npos;
  return end == std::string::npos ? text : text.substr(end + 2);
}

/// Differs between calls that do not belong together, as far as 24 bits allow.
std::uint64_t tag_of(const CollectiveCall& call) {
  std::uint64_t tag =
      static_cast<std::uint64_t>(call.count) * 31 + static_cast<std::uint64_t>(call.root);
  for (const std::string_view text : {call.operation, call.unit}) {
    for (const char c : text) tag = tag * 31 + static_cast<unsigned char>(c);
  }
  return (tag * 0x9e3779b97f4a7c15ULL) >> 40;
}

}  // namespace

/// One Gloo buffer per other rank, so that its errors can be attributed to that rank.
class GlooMesh::Window {
 public:
  struct Side {
    std::unique_ptr<gloo::transport::UnboundBuffer> buffer;  // null until it is used
    int sends = 0;                                           // not yet waited for
    int receives = 0;
  };

  Window(gloo::transport::Context& context, void* data, std::size_t bytes)
      : context_(context),
        data_(data),
        bytes_(bytes),
        sides_(static_cast<std::size_t>(context.size)) {}

  [[nodiscard]] bool is_of(const void* data, std::size_t bytes) const {
    return data_ == data && bytes_ == bytes;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] Side& side(int peer) { return sides_[static_cast<std::size_t>(peer)]; }
  /// The side with its buffer.
  [[nodiscard]] Side& opened(int peer) {
    Side& opened = side(peer);
    if (opened.buffer == nullptr) opened.buffer = context_.createUnboundBuffer(data_, bytes_);
    return opened;
  }

 private:
  gloo::transport::Context& context_;
  void* data_;
  std::size_t bytes_;
  std::vector<Side> sides_;
};

class GlooMesh::Part {
 public:
  Part(int rank, int ranks, Store& store, const GlooOptions& options, std::span<const int> peers);

  void connect(std::span<const int> peers) {
    std::vector<int> missing;
    for (const int peer : peers) {
      if (context_->getPair(peer) == nullptr) missing.push_back(peer);
    }
    if (!missing.empty()) with(rank, [&] { connect_new(missing, left()); });
  }
  void begin(const CollectiveCall& call) {
    call_ = call;
    ++calls_;
    deadline_ = SteadyClock::now() + limit;
    if (closed_) fail(rank, "an earlier call failed, and its connections were closed");
  }
  Window& window(void* data, std::size_t bytes) {
    // The least recently used window makes room; those of this call are safe.
    KeptWindow* oldest = &windows_.front();
    for (KeptWindow& kept : windows_) {
      if (kept.window != nullptr && kept.window->is_of(data, bytes)) {
        kept.used = calls_;
        return *kept.window;
      }
      if (kept.used < oldest->used) oldest = &kept;
    }
    *oldest = {.window = std::make_unique<Window>(*context_, data, bytes), .used = calls_};
    return *oldest->window;
  }
  void send(Window& window, int to, int phase, std::size_t offset, std::size_t bytes) {
    if (bytes == 0) return;
    TY_CHECK(offset + bytes <= window.bytes(), "bytes outside their window");
    Window::Side& side = window.opened(to);
    ++side.sends;
    with(to, [&] { side.buffer->send(to, slot(phase), offset, bytes); });
  }
  void receive(Window& window, int from, int phase, std::size_t offset, std::size_t bytes) {
    if (bytes == 0) return;
    TY_CHECK(offset + bytes <= window.bytes(), "bytes outside their window");
    Window::Side& side = window.opened(from);
    ++side.receives;
    with(from, [&] { side.buffer->recv(from, slot(phase), offset, bytes); });
  }
  void await_received(Window& window) {
    for (int peer = 0; peer < ranks; ++peer) {
      Window::Side& side = window.side(peer);
      for (; side.receives > 0; --side.receives) {
        with(peer, [&] { side.buffer->waitRecv(nullptr, left()); });
      }
    }
  }
  void await_sent(Window& window) {
    for (int peer = 0; peer < ranks; ++peer) {
      Window::Side& side = window.side(peer);
      for (; side.sends > 0; --side.sends) {
        with(peer, [&] { side.buffer->waitSend(nullptr, left()); });
      }
    }
  }

  const int rank;
  const int ranks;
  Milliseconds limit;

 private:
  void open(const GlooOptions& options) {
    if (!options.interface.empty() && !options.address.empty()) {
      throw device_error("both the network interface '" + options.interface +
                         "' and the address '" + options.address + "' are given; leave one out");
    }
    const SigpipeGuard guard;  // for the thread that Gloo's device starts
    context_ = make_device(options)->createContext(rank, ranks);
  }
  /// Connects to ranks to which this one has no connection, waiting `each` for one.
  void connect_new(std::span<const int> peers, Milliseconds each) {
    // Gloo allows a connection five times this.
    context_->setTimeout(std::max(each / 5, Milliseconds(1)));
    for (const int peer : peers) {
      const std::vector<char> place = context_->createPair(peer)->address().bytes();
      store_.set(place_key(rank, peer),
                 std::string(place.begin(), place.end()) + hosts_[static_cast<std::size_t>(rank)]);
    }
    // One side of a pair waits for the other: in ascending order no circle of ranks waits.
    for (const int peer : peers) {
      auto& pair = *context_->getPair(peer);
      const std::string value = store_.get(place_key(peer, rank), each);
      const auto bytes = static_cast<std::ptrdiff_t>(pair.address().bytes().size());
      TY_CHECK(std::ssize(value) >= bytes, "a rank's place begins with its address");
      hosts_[static_cast<std::size_t>(peer)] = value.substr(static_cast<std::size_t>(bytes));
      pair.connect({value.begin(), value.begin() + bytes});
    }
    // A rank that went on and left would close connections on which others still shake hands, and
    // they would retry until their limits.
    store_.set(done_key(rank), "");
    for (const int peer : peers) store_.wait(done_key(peer), each);
    ++meetings_;
  }
  /// The keys of the store: where rank `from` expects rank `to`, and that it has connected.
  [[nodiscard]] std::string place_key(int from, int to) const {
    return group_ + "/rank " + std::to_string(from) + " for " + std::to_string(to);
  }
  [[nodiscard]] std::string done_key(int of) const {
    return group_ + "/rank " + std::to_string(of) + " connected " + std::to_string(meetings_);
  }
  /// Runs `work` and attributes its errors to rank `peer`.
  template <class Work>
  void with(int peer, Work&& work) {
    try {
      work();
    } catch (const std::exception& error) {
      fail(peer, reason_of(error));
    }
  }
  [[nodiscard]] Milliseconds left() const {
    // Gloo takes 0 for no limit.
    const auto left = std::chrono::ceil<Milliseconds>(deadline_ - SteadyClock::now());
    return std::max(left, Milliseconds(1));
  }
  [[nodiscard]] std::uint64_t slot(int phase) const {
    return calls_ << 32 | tag_of(call_) << 8 | static_cast<std::uint64_t>(phase);
  }
  [[nodiscard]] std::string name_of(int which) const {
    return name_of_rank(which, hosts_[static_cast<std::size_t>(which)]);
  }
  [[noreturn]] void fail(int peer, const std::string& reason) {
    const bool late = SteadyClock::now() >= deadline_;
    if (!std::exchange(closed_, true)) {
      // The others need not wait for their limits: this rank no longer takes part.
      for (int other = 0; other < ranks; ++other) {
        if (auto& pair = context_->getPair(other)) pair->close();
      }
    }
    const std::string what = peer == rank ? reason
                             : late       ? late_text(name_of(peer), limit, reason)
                                          : gone_text(name_of(peer), reason);
    throw failed_call(text_of(call_), name_of(rank), ranks, what);
  }

  Store& store_;
  std::string group_;
  std::vector<std::string> hosts_;  // per rank; empty before a connection to it
  std::shared_ptr<gloo::transport::Context> context_;
  int meetings_ = 0;  // how often this rank has connected to others
  bool closed_ = false;
  CollectiveCall call_;
  std::uint64_t calls_ = 0;
  Moment deadline_;
  // A step makes few calls; control traffic uses the rest.
  struct KeptWindow {
    std::unique_ptr<Window> window;
    std::uint64_t used = 0;  // number of the call that used it last
  };
  std::array<KeptWindow, 32> windows_;
};

GlooMesh::Part::Part(int rank_number, int rank_count, Store& store, const GlooOptions& options,
                     std::span<const int> peers)
    : rank(rank_number),
      ranks(rank_count),
      limit(options.limit),
      store_(store),
      group_(options.group),
      hosts_(static_cast<std::size_t>(rank_count)) {
  hosts_[static_cast<std::size_t>(rank)] = options.host;
  try {
    open(options);
    connect_new(peers, options.connect);
  } catch (const std::exception& error) {
    throw device_error(name_of(rank) + ": connecting the group '" + options.group + "' of " +
                       std::to_string(ranks) + " ranks failed: " + reason_of(error));
  }
}

GlooMesh::GlooMesh(int rank, int ranks, Store& store, const GlooOptions& options,
                   std::span<const int> peers)
    : part_(std::make_unique<Part>(rank, ranks, store, options, peers)) {}

GlooMesh::~GlooMesh() = default;

int GlooMesh::rank() const { return part_->rank; }
int GlooMesh::size() const { return part_->ranks; }
void GlooMesh::begin(const CollectiveCall& call) { part_->begin(call); }
void GlooMesh::connect(std::span<const int> peers) { part_->connect(peers); }
GlooMesh::Window& GlooMesh::window(void* data, std::size_t bytes) {
  return part_->window(data, bytes);
}
void GlooMesh::send(Window& window, int to, int phase, std::size_t offset, std::size_t bytes) {
  part_->send(window, to, phase, offset, bytes);
}
void GlooMesh::receive(Window& window, int from, int phase, std::size_t offset, std::size_t bytes) {
  part_->receive(window, from, phase, offset, bytes);
}
void GlooMesh::await_received(Window& window) { part_->await_received(window); }
void GlooMesh::await_sent(Window& window) { part_->await_sent(window); }

namespace {

sigset_t only_sigpipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

}  // namespace

SigpipeGuard::SigpipeGuard() {
  const sigset_t pipe = only_sigpipe();
  pthread_sigmask(SIG_BLOCK, &pipe, &before_);
}

SigpipeGuard::~SigpipeGuard() {
  // A signal that was raised meanwhile must not be delivered afterwards.
  if (sigismember(&before_, SIGPIPE) == 0) {
    const sigset_t pipe = only_sigpipe();
    const timespec now{};
    while (sigtimedwait(&pipe, nullptr, &now) == SIGPIPE) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace trainyard
