// Expands lists of items to nodes of a graph.
#pragma once

#include <map>
#include <string>

#include "config/diagnostics.h"
#include "config/expression.h"
#include "config/node.h"
#include "graph/graph.h"
#include "graph/item.h"
#include "graph/network_file.h"

namespace trainyard {

// `share:`: layers that use the parameters of others.

/// An item with `share:` while it is expanded. The layer at `own` + x uses the parameters of the
/// layer at `owner` + x; x is "" for a single layer, ".conv1" and the like inside a block.
struct Share {
  const config::Node* name = nullptr;  // as written
  std::string own, owner;              // paths of the two items
  int layers = 0;                      // layers that share so far
};

/// The layers of a graph that have parameters, by path.
class ParameterLayers {
 public:
  void add(const Node& node);
  /// True if there is a layer at `path` or below it.
  [[nodiscard]] bool any_at(const std::string& path) const;
  /// Gives `node`, whose signature is set, the parameters that `share` names. Returns "" or why it
  /// cannot: parameters must agree in name, shape, init, l2 and decay group.
  [[nodiscard]] std::string give(const Share& share, Node& node) const;

 private:
  struct Layer {
    std::string type;
    std::string parameters_of;  // as in Node
    std::vector<ParameterSpec> parameters;
  };
  std::map<std::string, Layer> layers_;
};

/// Generates layer paths under one parent: name + ordinal among the parent's children of that name,
/// from 1.
class PathScope {
 public:
  explicit PathScope(std::string parent = {}) : parent_(std::move(parent)) {}
  /// "stage2.unit3" for the third unit under stage2.
  [[nodiscard]] std::string next(const std::string& name);
  /// The last result of next().
  [[nodiscard]] const std::string& last() const { return last_; }

 private:
  std::string parent_;
  std::string last_;
  std::map<std::string, int> counts_;
};

/// An item named by `as:`.
struct NamedItem {
  ValueId value = -1;  // its output; -1: unknown, after an error
  std::string path;    // "" for an item without one: repeat, for
  Position where;
};
using ItemNames = std::map<std::string, NamedItem>;

/// Limits against hostile files.
inline constexpr std::int64_t kMostLayers = 100'000;
inline constexpr std::int64_t kMostItems =
    1'000'000;  // items visited, `if: false` and acts included
inline constexpr int kDeepestCalls = 32;

/// What is wrong with `inputs` names in the `from:` of an item that reads one value.
[[nodiscard]] std::string takes_one(std::size_t inputs);

/// Walks a file's layers once and appends their nodes. After an error in a layer its output is
/// unknown: the layers after it are still read, but without shape inference.
class Expander {
 public:
  Expander(const NetworkFile& file, Graph& graph, config::Diagnostics& diagnostics)
      : file_(file), graph_(graph), diagnostics_(diagnostics) {}

  /// The value of the last layer, -1 if unknown. Sets the graph's named outputs.
  [[nodiscard]] ValueId run(ValueId input);

 private:
  static constexpr ValueId kUnknown = -1;

  /// Context of a list.
  struct ListContext {
    const config::Scope* scope = nullptr;
    PathScope* paths = nullptr;
    ItemNames* names = nullptr;
    Position called_from;    // position of the outermost block call
    int depth = 0;           // depth of block calls
    Share* share = nullptr;  // share of the innermost item with share:, if any
  };
  /// A layer before it becomes a node.
  struct Layer {
    std::string name, path;
    Position where;
    const config::Node* value = nullptr;
    std::vector<ValueId> inputs;
    Position from = {};  // position of its `from:`
  };

  void find_outputs(const ItemNames& names);
  [[nodiscard]] bool stopped(const Position& where);
  ValueId expand_list(const config::Node& list, const ListContext& context, ValueId value);
  ValueId expand_node(const config::Node& node, const ListContext& context, ValueId value);
  ValueId expand_item(const Item& item, const ListContext& context, std::vector<ValueId> inputs);
  ValueId expand_named(const Item& item, const ListContext& context, std::vector<ValueId> inputs);
  ValueId expand_act(const Item& item, const ListContext& context, std::vector<ValueId> inputs);
  ValueId expand_repeat(const Item& item, const ListContext& context, ValueId value);
  ValueId expand_loop(const Item& item, const ListContext& context, ValueId value);
  ValueId expand_at(const std::string& path, const Item& item, const ListContext& context,
                    std::vector<ValueId> inputs);
  ValueId expand_sharing(const std::string& path, const Item& item, const ListContext& context,
                         std::vector<ValueId> inputs);
  ValueId expand_block(const std::string& path, const Item& item, const ListContext& context,
                       ValueId value);
  ValueId expand_join(const std::string& path, const Item& item, const ListContext& context,
                      std::vector<ValueId> inputs);
  ValueId append(const Layer& layer, const ListContext& context);
  ValueId append_both(const Layer& layer, const ListContext& context, TwoWays ways);
  [[nodiscard]] bool share_parameters(Node& node, const ListContext& context);
  [[nodiscard]] std::string token_fault(const Node& node) const;
  ValueId infer_and_append(const Layer& layer, const ListContext& context, OpPtr op);

  [[nodiscard]] bool holds(const Item& item, const ListContext& context, bool& condition);
  [[nodiscard]] std::vector<ValueId> inputs_of(const Item& item, const ListContext& context,
                                               ValueId value);
  [[nodiscard]] std::string owner_of(const Item& item, const ListContext& context);
  void bind_name(const Item& item, const ListContext& context, ValueId value);

  const NetworkFile& file_;
  Graph& graph_;
  config::Diagnostics& diagnostics_;
  ParameterLayers parameter_layers_;
  std::int64_t visited_ = 0;
  bool stopped_ = false;
};

// Checks of a network file that need no expansion; they include blocks that are never called.

/// Reports malformed items and unknown layers in `layers` and all blocks, and blocks that call
/// themselves. Returns false if a block does: such a file cannot be expanded.
[[nodiscard]] bool check_items(const NetworkFile& file, config::Diagnostics& diagnostics);

// Tests whether a function reports errors.

/// Runs f(diagnostics); false if it reported an error, even at a position already reported (by an
/// earlier expansion of the same item). `f` must be repeatable.
template <class F>
[[nodiscard]] bool reports_nothing(config::Diagnostics& diagnostics, const F& f) {
  config::Diagnostics probe;
  f(probe);
  if (probe.empty()) return true;
  f(diagnostics);
  return false;
}

}  // namespace trainyard
