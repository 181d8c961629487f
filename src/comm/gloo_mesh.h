// Bytes from rank to rank by Gloo: what the collectives of gloo_communicator.cpp are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "comm/collective_call.h"
#include "comm/gloo_communicator.h"

namespace trainyard {

/// Connections from this rank to every other one. All of it throws Error{device} that names this
/// rank, the call and, where it is known, the other rank; the mesh is closed then.
class GlooMesh {
 public:
  /// Memory that is sent from and received into, in pieces. Holds what Gloo needs for it.
  class Window;

  GlooMesh(int rank, int ranks, Store& store, const GlooOptions& options);
  ~GlooMesh();
  GlooMesh(const GlooMesh&) = delete;
  GlooMesh& operator=(const GlooMesh&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;

  /// Begins a call: its time runs, and what is sent and received belongs to it.
  void begin(const CollectiveCall& call);
  /// That of memory; the one of the same address and size is used again. Valid until the next call.
  [[nodiscard]] Window& window(void* data, std::size_t bytes);

  /// Begins to send or receive bytes; without bytes there is nothing to do. `phase` 0 to 255 tells
  /// several of one call from each other. One each way between two ranks at a time and window.
  void send(Window& window, int to, int phase, std::size_t offset, std::size_t bytes);
  void receive(Window& window, int from, int phase, std::size_t offset, std::size_t bytes);
  /// Wait for all that was begun, in the order of ranks.
  void await_received(Window& window);
  void await_sent(Window& window);

 private:
  class Part;
  std::unique_ptr<Part> part_;
};

}  // namespace trainyard
