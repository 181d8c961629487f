#include "plan/slices.h"

namespace trainyard {
namespace {

class Slicer {
 public:
  Slicer(LaidOutGraph& laid_out, const Target& target)
      : laid_out_(laid_out), target_(target), readers_(count_readers(laid_out.graph)) {}

  void run() {
    laid_out_.slices.assign(laid_out_.layouts.size(), {});
    if (!target_.fuse) return;
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
           laid_out_.graph.nodes[producer].op->contract().slices;
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
  std::vector<int> readers_;  // by ValueId
};

}  // namespace

void slice_concatenations(LaidOutGraph& laid_out, const Target& target) {
  Slicer(laid_out, target).run();
}

}  // namespace trainyard
