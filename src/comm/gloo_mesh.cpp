#include "comm/gloo_mesh.h"

#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "comm/rendezvous/failure.h"
#include "comm/sigpipe_guard.h"

namespace trainyard {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Our store, adapted to Gloo. Waits as long as `limit` says, whatever Gloo says.
class GlooStore final : public gloo::rendezvous::Store {
 public:
  GlooStore(trainyard::Store& store, std::string prefix, Milliseconds limit)
      : store_(store), prefix_(std::move(prefix)), limit_(limit) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    store_.set(prefix_ + key, std::string_view(data.data(), data.size()));
  }
  std::vector<char> get(const std::string& key) override {
    const std::string value = store_.get(prefix_ + key, limit_);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) store_.wait(prefix_ + key, limit_);
  }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override {
    wait(keys);
  }

 private:
  trainyard::Store& store_;
  std::string prefix_;
  Milliseconds limit_;
};

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
    std::unique_ptr<gloo::transport::UnboundBuffer> buffer;  // null for this rank
    bool sends = false;
    bool receives = false;
  };

  Window(gloo::Context& context, void* data, std::size_t bytes) : data_(data), bytes_(bytes) {
    for (int peer = 0; peer < context.size; ++peer) {
      Side side;
      if (peer != context.rank) side.buffer = context.createUnboundBuffer(data, bytes);
      sides_.push_back(std::move(side));
    }
  }

  [[nodiscard]] bool is_of(const void* data, std::size_t bytes) const {
    return data_ == data && bytes_ == bytes;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] Side& side(int peer) { return sides_[static_cast<std::size_t>(peer)]; }

 private:
  void* data_;
  std::size_t bytes_;
  std::vector<Side> sides_;
};

class GlooMesh::Part {
 public:
  Part(int rank, int ranks, Store& store, const GlooOptions& options);

  void begin(const CollectiveCall& call);
  Window& window(void* data, std::size_t bytes);
  void send(Window& window, int to, int phase, std::size_t offset, std::size_t bytes);
  void receive(Window& window, int from, int phase, std::size_t offset, std::size_t bytes);
  void await_received(Window& window);
  void await_sent(Window& window);

  const int rank;
  const int ranks;
  Milliseconds limit;

 private:
  void connect(Store& store, const GlooOptions& options);
  /// Runs `work` and attributes its errors to rank `peer`.
  template <class Work>
  void with(int peer, Work&& work);
  [[nodiscard]] Milliseconds left() const;
  [[nodiscard]] std::uint64_t slot(int phase) const;
  [[nodiscard]] std::string name_of(int which) const;
  [[noreturn]] void fail(int peer, const std::string& reason);

  std::vector<std::string> hosts_;  // per rank
  std::shared_ptr<gloo::rendezvous::Context> context_;
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

GlooMesh::Part::Part(int rank_number, int rank_count, Store& store, const GlooOptions& options)
    : rank(rank_number),
      ranks(rank_count),
      limit(options.limit),
      hosts_(static_cast<std::size_t>(rank_count)),
      context_(std::make_shared<gloo::rendezvous::Context>(rank_number, rank_count)) {
  hosts_[static_cast<std::size_t>(rank)] = options.host;
  try {
    connect(store, options);
  } catch (const std::exception& error) {
    throw Error(ErrorKind::device, name_of(rank) + ": connecting the group '" + options.group +
                                       "' of " + std::to_string(ranks) +
                                       " ranks failed: " + reason_of(error));
  }
}

void GlooMesh::Part::connect(Store& store, const GlooOptions& options) {
  if (!options.interface.empty() && !options.address.empty()) {
    throw Error(ErrorKind::device, "both the network interface '" + options.interface +
                                       "' and the address '" + options.address +
                                       "' are given; leave one out");
  }
  const SigpipeGuard guard;  // for the thread that Gloo's device starts
  auto device = make_device(options);
  const std::string prefix = options.group + "/";
  store.set(prefix + "host/" + std::to_string(rank), options.host);
  for (int other = 0; other < ranks; ++other) {
    hosts_[static_cast<std::size_t>(other)] =
        store.get(prefix + "host/" + std::to_string(other), options.connect);
  }
  GlooStore gloo_store(store, prefix + "gloo/", options.connect);
  // Gloo allows a connection five times this.
  context_->setTimeout(std::max(options.connect / 5, Milliseconds(1)));
  context_->connectFullMesh(gloo_store, device);
  // A rank that went on and left would close connections on which others still shake hands, and
  // they would retry until their limits.
  store.set(prefix + "connected/" + std::to_string(rank), "");
  for (int other = 0; other < ranks; ++other) {
    store.wait(prefix + "connected/" + std::to_string(other), options.connect);
  }
}

template <class Work>
void GlooMesh::Part::with(int peer, Work&& work) {
  try {
    work();
  } catch (const std::exception& error) {
    fail(peer, reason_of(error));
  }
}

void GlooMesh::Part::begin(const CollectiveCall& call) {
  call_ = call;
  ++calls_;
  deadline_ = SteadyClock::now() + limit;
  if (closed_) fail(rank, "an earlier call failed, and its connections were closed");
}

Milliseconds GlooMesh::Part::left() const {
  // Gloo takes 0 for no limit.
  const auto left = std::chrono::ceil<Milliseconds>(deadline_ - SteadyClock::now());
  return std::max(left, Milliseconds(1));
}

std::uint64_t GlooMesh::Part::slot(int phase) const {
  return calls_ << 32 | tag_of(call_) << 8 | static_cast<std::uint64_t>(phase);
}

GlooMesh::Window& GlooMesh::Part::window(void* data, std::size_t bytes) {
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

void GlooMesh::Part::send(Window& window, int to, int phase, std::size_t offset,
                          std::size_t bytes) {
  if (bytes == 0) return;
  TY_CHECK(offset + bytes <= window.bytes(), "bytes outside their window");
  Window::Side& side = window.side(to);
  side.sends = true;
  with(to, [&] { side.buffer->send(to, slot(phase), offset, bytes); });
}

void GlooMesh::Part::receive(Window& window, int from, int phase, std::size_t offset,
                             std::size_t bytes) {
  if (bytes == 0) return;
  TY_CHECK(offset + bytes <= window.bytes(), "bytes outside their window");
  Window::Side& side = window.side(from);
  side.receives = true;
  with(from, [&] { side.buffer->recv(from, slot(phase), offset, bytes); });
}

void GlooMesh::Part::await_received(Window& window) {
  for (int peer = 0; peer < ranks; ++peer) {
    Window::Side& side = window.side(peer);
    if (!std::exchange(side.receives, false)) continue;
    with(peer, [&] { side.buffer->waitRecv(nullptr, left()); });
  }
}

void GlooMesh::Part::await_sent(Window& window) {
  for (int peer = 0; peer < ranks; ++peer) {
    Window::Side& side = window.side(peer);
    if (!std::exchange(side.sends, false)) continue;
    with(peer, [&] { side.buffer->waitSend(nullptr, left()); });
  }
}

std::string GlooMesh::Part::name_of(int which) const {
  return name_of_rank(which, hosts_[static_cast<std::size_t>(which)]);
}

void GlooMesh::Part::fail(int peer, const std::string& reason) {
  const bool late = SteadyClock::now() >= deadline_;
  if (!std::exchange(closed_, true)) {
    // The others need not wait for their limits: this rank no longer takes part.
    context_->closeConnections();
  }
  const std::string what = peer == rank ? reason
                           : late       ? late_text(name_of(peer), limit, reason)
                                        : gone_text(name_of(peer), reason);
  throw failed_call(text_of(call_), name_of(rank), ranks, what);
}

GlooMesh::GlooMesh(int rank, int ranks, Store& store, const GlooOptions& options)
    : part_(std::make_unique<Part>(rank, ranks, store, options)) {}

GlooMesh::~GlooMesh() = default;

int GlooMesh::rank() const { return part_->rank; }
int GlooMesh::size() const { return part_->ranks; }
void GlooMesh::begin(const CollectiveCall& call) { part_->begin(call); }
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

}  // namespace trainyard
