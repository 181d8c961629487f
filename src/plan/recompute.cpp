// Outputs that are computed twice instead of being kept (Chen et al. 2016, "Training deep nets with
// sublinear memory cost", for the layers that are cheap). What a convolution's weight gradient
// reads is the output of a batch norm, which follows from the batch norm's input and factors, and
// these its own backward step reads.
//
// Gains memory: 23 % of ResNet-20's and 34 % of MiniGoogLeNet's on the CPU (229 to 176 and 519 to
// 342 MiB), for 1 to 3 % of their speed (docs/results/log/cpu.md, "Memory of a run on the CPU").
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "plan/passes.h"

namespace trainyard {
namespace {

bool contains(const Plan& plan, const std::vector<TensorId>& ids, TensorId root) {
  return std::ranges::any_of(ids,
                             [&](TensorId id) { return id != kNoTensor && plan.root(id) == root; });
}

/// The second life of one tensor.
class Recomputation {
 public:
  /// `backward` is the index of the first step of the backward pass.
  Recomputation(Plan& plan, TensorId root, std::size_t backward)
      : plan_(plan), root_(root), backward_(backward) {}

  void apply() {
    const std::size_t reader = first_reader();
    if (reader == plan_.steps.size() || !find_writers() || !reads_what_is_kept(reader)) return;
    for (std::size_t index = reader; index < plan_.steps.size(); ++index) {
      again(plan_.steps[index].inputs);
      again(plan_.steps[index].outputs);
    }
    for (PlanStep& writer : writers_) {
      writer.pass = Pass::recompute;
      again(writer.outputs);
    }
    plan_.steps.insert(plan_.steps.begin() + static_cast<std::ptrdiff_t>(reader), writers_.begin(),
                       writers_.end());
  }

 private:
  [[nodiscard]] std::size_t first_reader() const {
    std::size_t index = backward_;
    for (; index < plan_.steps.size(); ++index) {
      const PlanStep& step = plan_.steps[index];
      if (contains(plan_, step.inputs, root_) || contains(plan_, step.outputs, root_)) break;
    }
    return index;
  }

  /// False if a step that writes a part of the tensor cannot be repeated.
  bool find_writers() {
    for (std::size_t index = 0; index < backward_; ++index) {
      const PlanStep& step = plan_.steps[index];
      if (!contains(plan_, step.outputs, root_)) continue;
      if (!plan_.can(step, Can::recompute)) return false;
      writers_.push_back(step);
    }
    return !writers_.empty();
  }

  /// True if a step after the reader reads what the writers read.
  [[nodiscard]] bool reads_what_is_kept(std::size_t reader) const {
    const auto is_kept = [&](TensorId input) {
      return std::any_of(plan_.steps.begin() + static_cast<std::ptrdiff_t>(reader) + 1,
                         plan_.steps.end(),
                         [&](const PlanStep& step) { return plan_.touches(step, input); });
    };
    return std::ranges::all_of(writers_, [&](const PlanStep& writer) {
      return std::ranges::all_of(writer.inputs, is_kept);
    });
  }

  void again(std::vector<TensorId>& ids) {
    for (TensorId& id : ids) {
      if (id != kNoTensor && plan_.root(id) == root_) id = again(id);
    }
  }
  /// The recomputed form of a tensor in these bytes.
  TensorId again(TensorId id) {
    if (const auto found = again_.find(id); found != again_.end()) return found->second;
    PlanTensor tensor = plan_.tensors[id];
    if (tensor.alias_of != kNoTensor) tensor.alias_of = again(tensor.alias_of);
    return again_[id] = plan_.add(std::move(tensor));
  }

  Plan& plan_;
  TensorId root_;
  std::size_t backward_;
  std::vector<PlanStep> writers_;
  std::map<TensorId, TensorId> again_;
};

}  // namespace

void recompute_outputs(Plan& plan) {
  begin(plan, PlanPass::recompute_outputs);
  if (!plan.target.can(Can::recompute)) return;
  const auto backward = std::ranges::find_if(plan.steps, [](const PlanStep& step) {
    return step.pass == Pass::backward_data || step.pass == Pass::backward_parameters;
  });
  const auto first = static_cast<std::size_t>(backward - plan.steps.begin());
  // The last value first: what recomputes it may read one that is recomputed too, before it.
  for (auto id = static_cast<TensorId>(plan.tensors.size()) - 1; id >= 0; --id) {
    const PlanTensor& tensor = plan.tensors[id];
    if (tensor.alias_of != kNoTensor || tensor.input || tensor.kept) continue;
    Recomputation(plan, id, first).apply();
  }
}

}  // namespace trainyard
