// A network as a graph of ops with shapes: the input of the planner.
//
// The folder graph makes a graph of a network file: blocks, branches, loops and sharing are
// expanded here, and nowhere else. It decides nothing about how the graph is executed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "ops/op.h"

namespace trainyard {

using ValueId = std::int32_t;
using NodeId = std::int32_t;

/// A tensor between nodes. Its batch extent is that of one rank (or shard).
struct Value {
  Shape shape;
  NodeId producer = -1;     // -1: an input of the graph
  DType type = DType::f32;  // f32 means the device's activation type; labels and tokens are i32
  bool exact = false;       // an input that is stored as `type` on every device
};

/// A value that the network gives besides its last layer's.
struct NamedOutput {
  std::string name;
  ValueId value = -1;
};

/// One op in the network.
struct Node {
  std::string path;              // "stage2.unit3.add1.0.cbr1.conv1"
  std::shared_ptr<const Op> op;  // shared: a graph and its fused or shard copies hold the same op
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Signature signature;
  std::string parameters_of;   // path of the node whose parameters this one uses; "": its own
  double rate_multiplier = 1;  // lr_mult
  bool frozen = false;
  Position where;        // the item in the YAML file
  Position called_from;  // the outermost call of a block, if any
};

/// Nodes in topological order (the order of the file).
struct Graph {
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<ValueId> inputs;       // what the network reads first, then what losses compare with
  std::int64_t vocabulary = 0;       // inputs[0] holds tokens below it, i32 [n, t]; 0: numbers
  ValueId mask = -1;                 // the mask that the samples' lengths make (masks.h); -1: none
  std::map<ValueId, ValueId> masks;  // masks of sequences with padding: i32 [n, t], an input
  ValueId output = -1;               // logits, if the file ends in softmax and the loss peels it
  bool output_is_logits = true;      // false: the network ends in softmax or sigmoid, for predict
  /// The file's `outputs`, until losses are attached.
  std::vector<NamedOutput> outputs;
  /// "softmax" or "sigmoid" if the file ends in one, peeled or not; else "".
  std::string closing_activation;
};

/// The parameters of a node; none if it uses those of another.
[[nodiscard]] std::span<const ParameterSpec> own_parameters(const Node& node);

/// Number of readers of each value, by ValueId; the graph's output counts as one more.
[[nodiscard]] std::vector<int> count_readers(const Graph& graph);

/// Totals over a graph.
struct GraphTotals {
  std::int64_t parameters_trainable = 0;
  std::int64_t parameters_total = 0;  // with running statistics, as Keras counts
  std::int64_t multiply_adds = 0;     // work for one sample, forward; conv and dense
};
[[nodiscard]] GraphTotals totals(const Graph& graph);

/// Infers `node.signature` from its inputs' shapes. Returns "" or, on failure, the reason with the
/// inputs' shapes and origins.
[[nodiscard]] std::string infer_signature(const Graph& graph, Node& node);
/// Appends a node whose signature is set, and its output values.
NodeId append_inferred(Graph& graph, Node node);
/// Does both; if inference fails, throws Error{config} at `node.where` with the reason, path and
/// input shapes.
NodeId append_node(Graph& graph, Node node);

/// The same graph for `batch` samples, with every signature inferred again. Throws as
/// append_node().
[[nodiscard]] Graph with_batch(const Graph& graph, std::int64_t batch);

}  // namespace trainyard
