#include "capture.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "errors.h"
#include "machine.h"

namespace standin {
namespace {

/// The nodes of the graph that these wait for, including themselves.
std::set<std::size_t> with_those_before(const Graph& graph, std::set<std::size_t> last) {
  for (std::size_t node = graph.nodes.size(); node-- > 0;) {
    const auto& next = graph.nodes[node].next;
    if (std::ranges::any_of(next, [&](const Edge& edge) { return last.contains(edge.to); })) {
      last.insert(node);
    }
  }
  return last;
}

/// Whether a forked stream has work that the origin does not wait for.
bool is_unjoined(const Capture& capture) {
  const auto joined = with_those_before(*capture.graph, capture.origin->capturing.last);
  return std::ranges::any_of(capture.streams, [&](const Stream* stream) {
    return !std::ranges::includes(joined, stream->capturing.last);
  });
}

void forget(Machine& machine, Capture& capture) {
  for (Stream* stream : capture.streams) stream->capturing = {};
  std::erase_if(machine.captures(), [&](const auto& one) { return one.get() == &capture; });
}

/// A launch in progress: which nodes may start, and how many others each one waits for.
class Launch {
 public:
  Launch(Machine& machine, std::shared_ptr<Executable> executable)
      : machine_(machine), executable_(std::move(executable)) {}

  bool operator()() {
    if (!begun_) {
      if (executable_->under_way) return false;
      begin();
    }
    while (!ready_.empty() && !Machine::is_broken(executable_->device)) call_last();
    if (!stuck_.empty() && !Machine::is_broken(executable_->device)) {
      ready_ = std::exchange(stuck_, {});
      return false;
    }
    executable_->under_way = begun_ = false;
    return true;
  }

 private:
  [[nodiscard]] const std::vector<Node>& nodes() const { return executable_->graph->nodes; }

  void begin() {
    begun_ = executable_->under_way = true;
    missing_.clear();
    started_.assign(nodes().size(), false);
    for (std::size_t node = 0; node < nodes().size(); ++node) {
      missing_.push_back(nodes()[node].after);
      if (missing_.back() == 0 && !nodes()[node].removed) ready_.insert(node);
    }
  }
  void call_last() {
    const std::size_t node = *ready_.rbegin();
    ready_.erase(node);
    if (!started_[node] && !machine_.begins(executable_->device)) return;
    started_[node] = true;
    if (!nodes()[node].work()) {
      stuck_.insert(node);
      return;
    }
    for (const Edge& edge : nodes()[node].next) {
      if (--missing_[edge.to] == 0) ready_.insert(edge.to);
    }
  }

  Machine& machine_;
  std::shared_ptr<Executable> executable_;
  bool begun_ = false;
  std::vector<std::size_t> missing_;
  std::vector<bool> started_;
  std::set<std::size_t> ready_, stuck_;
};

}  // namespace

bool Task::is_kernel() const {
  const std::string_view kind = what;
  return kind != "copy" && kind != "fill";
}

void begin_capture(Machine& machine, Stream& stream, cudaStreamCaptureMode mode) {
  if (&stream == &machine.device_of(stream).legacy)
    throw Refused(cudaErrorStreamCaptureUnsupported);
  if (stream.capturing.capture != nullptr) throw Refused(cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>(
      Capture{.origin = &stream, .mode = mode, .owner = std::this_thread::get_id()});
  capture->streams.insert(&stream);
  stream.capturing = {.capture = capture};
  machine.captures().push_back(capture);
}

std::shared_ptr<Graph> end_capture(Machine& machine, Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.capturing.capture;
  if (capture == nullptr) throw Refused(cudaErrorIllegalState);
  if (capture->origin != &stream) invalidate(*capture, cudaErrorStreamCaptureUnmatched);
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->owner != std::this_thread::get_id()) {
    throw Refused(cudaErrorStreamCaptureWrongThread);
  }
  const bool unjoined = is_unjoined(*capture);
  const bool invalid = std::exchange(capture->invalid, true);  // for events that refer to it
  forget(machine, *capture);
  std::shared_ptr<Graph> graph = std::move(capture->graph);
  if (invalid) throw Refused(cudaErrorStreamCaptureInvalidated);
  if (unjoined) throw Refused(cudaErrorStreamCaptureUnjoined);
  return graph;
}

void require_no_capture(Machine& machine) {
  bool refused = false;
  for (const auto& capture : machine.captures()) {
    const bool own = capture->owner == std::this_thread::get_id();
    if (capture->mode == cudaStreamCaptureModeRelaxed) continue;
    if (capture->mode == cudaStreamCaptureModeThreadLocal && !own) continue;
    capture->invalid = refused = true;
  }
  if (refused) throw Refused(cudaErrorStreamCaptureUnsupported);
}

void require_free_legacy(Machine& machine, int device) {
  bool refused = false;
  for (const auto& capture : machine.captures()) {
    for (const Stream* stream : capture->streams) {
      if (stream->blocking && stream->device == device) capture->invalid = refused = true;
    }
  }
  if (refused) throw Refused(cudaErrorStreamCaptureImplicit);
}

void invalidate(Capture& capture, cudaError_t error) {
  capture.invalid = true;
  throw Refused(error);
}

void require_valid(const Capture& capture) {
  if (capture.invalid) throw Refused(cudaErrorStreamCaptureInvalidated);
}

void add_node(Capturing& at, const Task& task, Work work, Launched launched) {
  require_valid(*at.capture);
  std::vector<Node>& nodes = at.capture->graph->nodes;
  for (const std::size_t before : at.last) {
    const bool programmatic = task.overlaps && nodes[before].task.is_kernel();
    nodes[before].next.push_back({nodes.size(), programmatic});
  }
  nodes.push_back({.task = task,
                   .work = std::move(work),
                   .launched = std::move(launched),
                   .after = at.last.size()});
  at.last = {nodes.size() - 1};
}

void join(Stream& stream, const Capturing& event) {
  Capturing& own = stream.capturing;
  require_valid(*event.capture);
  if (own.capture == nullptr) {
    own.capture = event.capture;
    event.capture->streams.insert(&stream);
  }
  if (own.capture != event.capture) {
    event.capture->invalid = true;
    invalidate(*own.capture, cudaErrorStreamCaptureMerge);
  }
  own.last.insert(event.last.begin(), event.last.end());
}

void abandon(Machine& machine, Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.capturing.capture;
  if (capture == nullptr) return;
  capture->invalid = true;
  if (capture->origin == &stream) {
    forget(machine, *capture);
  } else {
    capture->streams.erase(&stream);
  }
}

void remove_node(Graph& graph, std::size_t node) {
  for (const Edge& edge : graph.nodes[node].next) --graph.nodes[edge.to].after;
  for (Node& other : graph.nodes) {
    std::erase_if(other.next, [node](const Edge& edge) { return edge.to == node; });
  }
  graph.nodes[node].next.clear();
  graph.nodes[node].removed = true;
}

bool add_edge(Graph& graph, std::size_t from, Edge edge) {
  std::vector<Edge>& next = graph.nodes[from].next;
  if (std::ranges::find(next, edge.to, &Edge::to) != next.end()) return false;
  next.push_back(edge);
  ++graph.nodes[edge.to].after;
  return true;
}

bool remove_edge(Graph& graph, std::size_t from, Edge edge) {
  const auto equal = [edge](const Edge& one) {
    return one.to == edge.to && one.programmatic == edge.programmatic;
  };
  if (std::erase_if(graph.nodes[from].next, equal) == 0) return false;
  --graph.nodes[edge.to].after;
  return true;
}

void launch_graph(Machine& machine, Stream& stream, std::shared_ptr<Executable> executable) {
  // In a capture a graph becomes one node, a child graph, which is not needed here.
  if (stream.capturing.capture != nullptr) {
    invalidate(*stream.capturing.capture, cudaErrorNotSupported);
  }
  for (const Node& node : executable->graph->nodes) {
    if (node.launched && !node.removed) node.launched();
  }
  machine.put(stream, {.what = "graph", .work = Launch(machine, executable), .begun = true});
}

}  // namespace standin
