// Bytes between ranks with Gloo: the basis of the collectives in gloo_communicator.cpp.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ranks/comm/communicator.h"
#include "ranks/comm/gloo_communicator.h"

namespace trainyard {

/// Connections from this rank to others, made when they are needed. Everything throws Error{device}
/// that names this rank, the call and, if known, the other rank; the mesh is then closed.
class GlooMesh {
 public:
  /// Memory that is sent from and received into, in pieces. Owns Gloo's objects for it.
  class Window;

  /// Connects to `peers`, which must name this rank too. `store` outlives it.
  GlooMesh(int rank, int ranks, Store& store, const GlooOptions& options,
           std::span<const int> peers);
  ~GlooMesh();
  GlooMesh(const GlooMesh&) = delete;
  GlooMesh& operator=(const GlooMesh&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;

  /// Begins a call: its time limit starts, and what is sent and received from now on belongs to it.
  void begin(const CollectiveCall& call);
  /// The window of this memory; reused for the same address and size. Valid until the next call.
  [[nodiscard]] Window& window(void* data, std::size_t bytes);

  /// Connects to those of `peers` that this rank is not yet connected to, as part of the call. All
  /// of them must do the same with this rank; ascending. Sending and receiving needs a connection.
  void connect(std::span<const int> peers);
  /// Starts sending or receiving bytes; with 0 bytes does nothing. `phase` (0 to 255) tells several
  /// transfers of one call apart; equal ones between two ranks keep their order.
  void send(Window& window, int to, int phase, std::size_t offset, std::size_t bytes);
  void receive(Window& window, int from, int phase, std::size_t offset, std::size_t bytes);
  /// Wait for everything that was started, in the order of ranks.
  void await_received(Window& window);
  void await_sent(Window& window);

 private:
  class Part;
  std::unique_ptr<Part> part_;
};

// The ranks with which a rank exchanges small values.

/// The ranks 1, 2, 4, ... after and before `rank` on the circle of `ranks`, in ascending order: at
/// most 2 log2(ranks). A broadcast along a binary tree from any root and a gathering of all values
/// in log2(ranks) rounds (Bruck et al., 1997) use no other connections.
[[nodiscard]] inline std::vector<int> neighbours_of(int rank, int ranks) {
  std::vector<int> all;
  for (int step = 1; step < ranks; step *= 2) {
    all.push_back((rank + step) % ranks);
    all.push_back((rank + ranks - step) % ranks);
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

/// While it exists, a write of this thread to a closed connection fails instead of ending the
/// process. Threads started meanwhile keep this setting. Gloo writes without suppressing the
/// signal.
class SigpipeGuard {
 public:
  SigpipeGuard();
  ~SigpipeGuard();
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace trainyard
