// Expands lists of items to nodes of a graph.
#pragma once

#include "config/diagnostics.h"
#include "graph/graph.h"
#include "graph/network_file.h"
#include "graph/scope.h"
#include "graph/sharing.h"

namespace trainyard {

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
    Position called_from;    // of the outermost block call
    int depth = 0;           // of block calls
    Share* share = nullptr;  // of the innermost item with share:, if any
  };
  /// A layer before it becomes a node.
  struct Layer {
    std::string name, path;
    Position where;
    const config::Node* value = nullptr;
    std::vector<ValueId> inputs;
    Position from = {};  // of its `from:`
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
  ValueId infer_and_append(const Layer& layer, const ListContext& context, std::unique_ptr<Op> op);

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
