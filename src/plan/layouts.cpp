// Slices gain, not measured alone, the copies of every concatenation, forward and backward.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "plan/passes.h"

namespace trainyard {
namespace {

/// The planner's own op: converts the same values to another layout.
class ReorderOp final : public Op {
 public:
  /// `alias`: both layouts are the same bytes, so no step is needed.
  explicit ReorderOp(bool alias) : alias_(alias) {}
  [[nodiscard]] std::string_view type() const override { return "reorder"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override {
    return {.outputs = {inputs[0]}};
  }
  [[nodiscard]] Contract contract() const override {
    return {.alias_forward = alias_, .layouts = Contract::Layouts::any};
  }

 private:
  bool alias_;
};

/// The layout of `like`'s kind for another shape.
Layout same_kind(const Layout& like, const Shape& shape, const Target& target) {
  if (shape.rank() < 4 || like.rank < 4) return plain_layout(shape);
  const Shape own = shape_of(like);
  if (like == plain_layout(own)) return plain_layout(shape);
  const bool rows = like == row_layout(own) && like != target.map_layout(own);
  return rows ? row_layout(shape) : target.map_layout(shape);
}

class Assigner {
 public:
  Assigner(const Graph& graph, const Target& target) : source_(graph), target_(target) {}

  LaidOutGraph run() {
    renamed_.assign(source_.values.size(), -1);
    for (const ValueId input : source_.inputs) {
      const Shape& shape = source_.values[input].shape;
      renamed_[input] =
          add_value(source_.values[input],
                    target_.maps_input ? target_.map_layout(shape) : plain_layout(shape));
      out_.graph.inputs.push_back(renamed_[input]);
    }
    for (const Node& node : source_.nodes) place(node);
    out_.graph.output = source_.output < 0 ? -1 : renamed_[source_.output];
    out_.graph.output_is_logits = source_.output_is_logits;
    out_.graph.vocabulary = source_.vocabulary;
    out_.renamed = std::move(renamed_);
    return std::move(out_);
  }

 private:
  ValueId add_value(Value value, const Layout& layout) {
    out_.graph.values.push_back(std::move(value));
    out_.layouts.push_back(layout);
    return static_cast<ValueId>(out_.layouts.size()) - 1;
  }

  void place(Node node) {
    const Contract::Layouts rule = node.op->contract().layouts;
    for (ValueId& input : node.inputs) input = renamed_[input];
    const Layout first = out_.layouts[leading_input(node)];
    for (ValueId& input : node.inputs) {
      const Shape shape = out_.graph.values[input].shape;  // reorders add values
      if (rule == Contract::Layouts::plain) input = in_layout(input, plain_layout(shape));
      if (rule == Contract::Layouts::rows) input = in_layout(input, row_layout(shape));
      // A map that was reshaped is plain; libraries of a GPU read n, h, w, c alone.
      const bool map = target_.maps_input && shape.rank() == 4;
      if (rule == Contract::Layouts::any && map) {
        input = in_layout(input, target_.map_layout(shape));
      }
      if (rule == Contract::Layouts::same)
        input = in_layout(input, same_kind(first, shape, target_));
    }
    for (ValueId& output : node.outputs) {
      Value value = source_.values[output];
      value.producer = static_cast<NodeId>(out_.graph.nodes.size());
      Layout layout = plain_layout(value.shape);
      if (rule == Contract::Layouts::rows) layout = row_layout(value.shape);
      if (rule == Contract::Layouts::any) layout = target_.map_layout(value.shape);
      if (rule == Contract::Layouts::same) layout = same_kind(first, value.shape, target_);
      output = renamed_[output] = add_value(std::move(value), layout);
    }
    out_.graph.nodes.push_back(std::move(node));
  }

  /// The input whose layout the node takes: the first of the output's shape (the map that factors
  /// of its channels multiply), else the first.
  [[nodiscard]] ValueId leading_input(const Node& node) const {
    const auto found = std::ranges::find_if(node.inputs, [&](ValueId input) {
      return out_.graph.values[input].shape == source_.values[node.outputs[0]].shape;
    });
    return found == node.inputs.end() ? node.inputs[0] : *found;
  }

  /// `value` in `layout`: itself, or the output of a reorder node (one per value and layout).
  ValueId in_layout(ValueId value, const Layout& layout) {
    if (out_.layouts[value] == layout) return value;
    const ReorderKey key{value, text_of(layout), layout.padded_channels};
    if (const auto known = reordered_.find(key); known != reordered_.end()) return known->second;
    const NodeId id = static_cast<NodeId>(out_.graph.nodes.size());
    const NodeId producer = out_.graph.values[value].producer;
    Node reorder;
    reorder.path =
        (producer < 0 ? "input" : out_.graph.nodes[producer].path) + "." + text_of(layout);
    reorder.where = producer < 0 ? Position{} : out_.graph.nodes[producer].where;
    reorder.op = std::make_shared<ReorderOp>(same_memory(out_.layouts[value], layout));
    reorder.inputs = {value};
    const Shape shape = out_.graph.values[value].shape;
    reorder.signature = reorder.op->infer(std::span(&shape, 1));
    reorder.outputs = {add_value({.shape = shape, .producer = id}, layout)};
    out_.graph.nodes.push_back(reorder);
    return reordered_[key] = reorder.outputs[0];
  }

  const Graph& source_;
  const Target& target_;
  LaidOutGraph out_;
  std::vector<ValueId> renamed_;  // new names of the source's values
  using ReorderKey = std::tuple<ValueId, std::string, std::int64_t>;  // the layout's text, padding
  std::map<ReorderKey, ValueId> reordered_;
};

class Slicer {
 public:
  Slicer(LaidOutGraph& laid_out, const Target& target)
      : laid_out_(laid_out), target_(target), readers_(count_readers(laid_out.graph)) {}

  void run() {
    laid_out_.slices.assign(laid_out_.layouts.size(), {});
    if (!target_.can(Can::write_slices)) return;
    for (const Node& node : laid_out_.graph.nodes) {
      if (node.op->type() == "concat" && all_fit(node)) slice(node);
    }
  }

 private:
  [[nodiscard]] bool is_map(ValueId value) const {
    const Shape& shape = laid_out_.graph.values[value].shape;
    return shape.rank() == 4 && shape.c() % target_.channel_multiple == 0 &&
           laid_out_.layouts[value] == target_.map_layout(shape);
  }
  [[nodiscard]] bool can_be_written_there(ValueId value) const {
    const NodeId producer = laid_out_.graph.values[value].producer;
    return producer >= 0 && readers_[value] == 1 && is_map(value) &&
           laid_out_.graph.nodes[producer].op->contract().can(Can::write_slices);
  }
  [[nodiscard]] bool all_fit(const Node& concat) const {
    for (const ValueId branch : concat.inputs) {
      if (!can_be_written_there(branch)) return false;
    }
    return is_map(concat.outputs[0]);
  }
  void slice(const Node& concat) {
    const ValueId whole = concat.outputs[0];
    std::int64_t first = 0;
    for (const ValueId branch : concat.inputs) {
      const std::int64_t channels = laid_out_.graph.values[branch].shape.c();
      laid_out_.slices[branch] = {whole, first};
      laid_out_.layouts[branch] = channel_slice(laid_out_.layouts[whole], first, channels);
      first += channels;
    }
  }

  LaidOutGraph& laid_out_;
  const Target& target_;
  std::vector<int> readers_;  // indexed by ValueId
};

}  // namespace

LaidOutGraph assign_layouts(const Graph& graph, const Target& target) {
  return Assigner(graph, target).run();
}

void slice_concatenations(LaidOutGraph& laid_out, const Target& target) {
  Slicer(laid_out, target).run();
}

}  // namespace trainyard
