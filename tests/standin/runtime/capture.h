// What is recorded from streams instead of executed: graphs, and the rules of their capture (CUDA's
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

/// `programmatic`: the node at its end may begin before that at its start has ended, for which it
/// waits itself. (Here it begins afterwards all the same.)
struct Edge {
  std::size_t to;
  bool programmatic = false;
};

/// What is launched; `functor`: of a kernel, "": it is something else. `overlaps`: with the
/// attribute of programmatic launches.
struct Task {
  const char* what;
  const char* functor = "";
  bool overlaps = false;

  /// Only kernels have programmatic edges.
  [[nodiscard]] bool is_kernel() const;
};

struct Node {
  Task task;
  Work work;
  Launched launched;
  std::size_t after = 0;        // number of nodes it waits for
  std::vector<Edge> next = {};  // to the nodes that wait for it
  bool removed = false;
};

struct Graph {
  std::vector<Node> nodes;
};

/// A graph that can be launched: one launch at a time is in progress.
struct Executable {
  Device& device;
  std::shared_ptr<const Graph> graph;
  bool under_way = false;  // used by the device's thread
};

/// A capture in progress, which may include several streams.
struct Capture {
  const Stream* origin;
  cudaStreamCaptureMode mode;
  std::thread::id owner;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  bool invalid = false;
  std::set<Stream*> streams = {};
};

/// The position of a stream in a capture, or of an event that was recorded there.
struct Capturing {
  std::shared_ptr<Capture> capture = nullptr;  // null: not captured
  std::set<std::size_t> last = {};             // the next work waits for these nodes
};

class Machine;

// All of these require the machine's lock, and throw Refused.

void begin_capture(Machine& machine, Stream& stream, cudaStreamCaptureMode mode);
[[nodiscard]] std::shared_ptr<Graph> end_capture(Machine& machine, Stream& stream);
/// For a call that may wait for, or disturb, captures of this or another thread: an error if their
/// mode is not relaxed, which invalidates those captures.
void require_no_capture(Machine& machine);
/// For a call that uses the legacy stream: an error if blocking streams of the device are captured.
void require_free_legacy(Machine& machine, int device);
/// Makes the capture invalid, then throws Refused(error).
[[noreturn]] void invalidate(Capture& capture, cudaError_t error);
/// Throws Refused unless the capture is valid.
void require_valid(const Capture& capture);
void add_node(Capturing& at, const Task& task, Work work, Launched launched);
/// `stream` waits for an event of a capture and so joins the capture.
void join(Stream& stream, const Capturing& event);
/// Removes the stream from its capture, which can then only end with an error.
void abandon(Machine& machine, Stream& stream);

/// Nodes that waited for it wait for the others alone.
void remove_node(Graph& graph, std::size_t node);
/// False if there is an edge between them already.
[[nodiscard]] bool add_edge(Graph& graph, std::size_t from, Edge edge);
/// False if there is no such edge.
[[nodiscard]] bool remove_edge(Graph& graph, std::size_t from, Edge edge);

/// Enqueues a launch of a graph on a stream. The node captured last of those that may start does,
/// so that work on a branch is as late as its join allows.
void launch_graph(Machine& machine, Stream& stream, std::shared_ptr<Executable> executable);

}  // namespace standin
