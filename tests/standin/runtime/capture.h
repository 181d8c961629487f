// What is recorded of streams instead of being done: graphs, and the rules of their capture (CUDA's
// programming guide, "Creating a Graph Using Stream Capture", and the pages of the functions).
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "stream.h"

namespace standin {

struct Device;
struct Stream;

struct Node {
  const char* what;
  Work work;
  Launched launched;
  std::size_t after = 0;               // how many nodes it waits for
  std::vector<std::size_t> next = {};  // those that wait for it
};

struct Graph {
  std::vector<Node> nodes;
};

/// A graph that can be launched: one of its launches at a time is under way.
struct Executable {
  Device& device;
  std::shared_ptr<const Graph> graph;
  bool under_way = false;  // the device's thread's
};

/// A capture under way, which may go over several streams.
struct Capture {
  const Stream* origin;
  cudaStreamCaptureMode mode;
  std::thread::id owner;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  bool invalid = false;
  std::set<Stream*> streams = {};
};

/// Where in a capture a stream stands, or an event that was recorded there.
struct Capturing {
  std::shared_ptr<Capture> capture = nullptr;  // null: in none
  std::set<std::size_t> last = {};             // what comes next waits for these nodes
};

class Machine;

// All of these want the machine's lock, and throw Refused.

void begin_capture(Machine& machine, Stream& stream, cudaStreamCaptureMode mode);
[[nodiscard]] std::shared_ptr<Graph> end_capture(Machine& machine, Stream& stream);
/// A call that may wait for, or disturb, what another thread or this one captures: an error while
/// it does so in a mode that is not relaxed, which invalidates those captures.
void require_no_capture(Machine& machine);
/// A call that uses the legacy stream: an error while blocking streams of the device are captured.
void require_free_legacy(Machine& machine, int device);
/// Makes the capture invalid, then throws Refused(error).
[[noreturn]] void invalidate(Capture& capture, cudaError_t error);
/// Throws Refused unless the capture is valid.
void require_valid(const Capture& capture);
void add_node(Capturing& at, const char* what, Work work, Launched launched);
/// `stream` waits for an event of a capture, which it thereby joins.
void join(Stream& stream, const Capturing& event);
/// Takes the stream out of its capture, which can no longer be ended well.
void abandon(Machine& machine, Stream& stream);

/// Puts a launch of a graph on a stream. Of the nodes that may begin the last captured one does, so
/// that what stands on a branch is as late as its join allows.
void launch_graph(Machine& machine, Stream& stream, std::shared_ptr<Executable> executable);

}  // namespace standin
