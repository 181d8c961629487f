#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/offset_allocator.h"
#include "plan/passes.h"

namespace trainyard {
namespace {

/// Steps from first to last use, both included.
struct Lifetime {
  int first = std::numeric_limits<int>::max();
  int last = -1;
};

void use_all(std::vector<Lifetime>& lifetimes, const Plan& plan, const PlanStep& of, int step) {
  for (const TensorUse& use : tensors_of(of)) {
    if (use.id == kNoTensor) continue;
    Lifetime& lifetime = lifetimes[plan.root(use.id)];
    lifetime.first = std::min(lifetime.first, step);
    lifetime.last = std::max(lifetime.last, step);
  }
}

/// The last step that one of the side queue may overlap: the one before the next that awaits it.
int last_overlapped(const Plan& plan, int side) {
  const int steps = static_cast<int>(plan.steps.size());
  for (int index = side + 1; index < steps; ++index) {
    if (plan.steps[index].awaits >= side) return index - 1;
  }
  return steps - 1;
}

std::vector<Lifetime> lifetimes_of(const Plan& plan) {
  std::vector<Lifetime> lifetimes(plan.tensors.size());
  for (int index = 0; index < static_cast<int>(plan.steps.size()); ++index) {
    const PlanStep& step = plan.steps[index];
    const StepRange at_once = siblings_of(plan, static_cast<std::size_t>(index));
    use_all(lifetimes, plan, step, static_cast<int>(at_once.first));
    use_all(lifetimes, plan, step, static_cast<int>(at_once.last));
    if (step.form.on_side_queue()) use_all(lifetimes, plan, step, last_overlapped(plan, index));
  }
  for (TensorId id = 0; id < static_cast<TensorId>(plan.tensors.size()); ++id) {
    if (plan.tensors[id].kept) lifetimes[plan.root(id)].last = static_cast<int>(plan.steps.size());
  }
  return lifetimes;
}

/// Gives `written` the bytes of `read` if `read` dies at `step` and `written` is born there.
void merge(Plan& plan, std::vector<Lifetime>& lifetimes, TensorId read, TensorId written,
           int step) {
  if (read == kNoTensor || written == kNoTensor) return;
  const TensorId from = plan.root(read);
  const TensorId to = plan.root(written);
  const PlanTensor& source = plan.tensors[from];
  PlanTensor& target = plan.tensors[to];
  if (from == to || source.input || source.kept) return;
  if (lifetimes[from].last != step || lifetimes[to].first != step) return;
  if (source.bytes != target.bytes || source.type != target.type) return;
  if (!same_memory(plan.tensors[read].layout, plan.tensors[written].layout)) return;
  if (target.kept) plan.tensors[from].kept = true;
  target.alias_of = from;
  lifetimes[from].last = lifetimes[to].last;
}

/// True if no other input is the tensor of input 0: an op that reads its inputs one after the other
/// (a sum of three) would find the later one overwritten.
bool reads_first_input_once(const Plan& plan, const PlanStep& step) {
  for (std::size_t i = 1; i < step.inputs.size(); ++i) {
    if (step.inputs[i] == kNoTensor) continue;
    if (plan.root(step.inputs[i]) == plan.root(step.inputs[0])) return false;
  }
  return true;
}

struct Block {
  TensorId tensor;
  std::size_t bytes;
  Lifetime life;
  std::size_t offset = 0;
};

/// The offset of a tensor in its root.
std::size_t offset_in_root(const Plan& plan, TensorId id) {
  std::size_t offset = 0;
  for (; plan.tensors[id].alias_of != kNoTensor; id = plan.tensors[id].alias_of) {
    offset += plan.tensors[id].alias_offset;
  }
  return offset;
}

/// Lowest offset at which `block` does not overlap a placed block that is alive at the same time.
std::size_t lowest_free_offset(const Block& block, const std::vector<Block>& placed) {
  std::vector<const Block*> overlapping;
  for (const Block& other : placed) {
    if (other.life.first <= block.life.last && block.life.first <= other.life.last) {
      overlapping.push_back(&other);
    }
  }
  std::sort(overlapping.begin(), overlapping.end(),
            [](const Block* a, const Block* b) { return a->offset < b->offset; });
  std::size_t offset = 0;
  for (const Block* other : overlapping) {
    if (offset + block.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

/// A reserve is made by forward_train and used by the backward steps of its node.
void add_reserves(Plan& plan, std::span<const StepNeeds> needs) {
  std::vector<TensorId> reserve_of(plan.laid_out.graph.nodes.size(), kNoTensor);
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    PlanStep& step = plan.steps[index];
    if (step.kind != PlanStep::Kind::op) continue;
    if (step.pass == Pass::forward_train && needs[index].reserve > 0) {
      const std::string& path = plan.node_of(step).path;
      reserve_of[step.node] = plan.add({.name = path + " reserve", .bytes = needs[index].reserve});
    }
    step.reserve = reserve_of[step.node];
  }
}

/// Steps of the side queue run one after the other, so they share one workspace.
void add_workspaces(Plan& plan, std::span<const StepNeeds> needs) {
  TensorId shared = kNoTensor;
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    PlanStep& step = plan.steps[index];
    const std::size_t bytes = needs[index].workspace;
    if (bytes == 0) continue;
    if (step.form.on_side_queue() && shared != kNoTensor) {
      step.workspace = shared;
      plan.tensors[shared].bytes = std::max(plan.tensors[shared].bytes, bytes);
      continue;
    }
    const std::string name = step.form.on_side_queue() ? "side queue" : name_of(plan, step);
    step.workspace = plan.add({.name = name + " workspace", .bytes = bytes});
    if (step.form.on_side_queue()) shared = step.workspace;
  }
}

}  // namespace

void complete(Plan& plan, std::span<const StepNeeds> needs) {
  begin(plan, PlanPass::complete);
  TY_CHECK(needs.size() == plan.steps.size(), "every step states its needs");
  add_reserves(plan, needs);
  add_workspaces(plan, needs);
  merge_in_place(plan);
  plan_memory(plan);
}

std::vector<StepNeeds> largest_needs(const Plan& plan) {
  std::vector<StepNeeds> needs(plan.steps.size());
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    const PlanStep& step = plan.steps[index];
    if (step.kind != PlanStep::Kind::op) continue;
    const Signature& signature = plan.node_of(step).signature;
    const bool sums = !signature.parameters.empty() || !signature.statistics.empty() ||
                      step.form.sums_layer_bias();
    const bool reduces = sums && !step.sibling;  // the first of siblings has the cap of all
    needs[index].workspace = std::max(reduces ? plan.target.workspace_cap : 0,
                                      static_cast<std::size_t>(signature.workspace_bytes));
    if (step.pass == Pass::forward_train) {
      needs[index].reserve = static_cast<std::size_t>(signature.saved_bytes);
    }
  }
  return needs;
}

void merge_in_place(Plan& plan) {
  std::vector<Lifetime> lifetimes = lifetimes_of(plan);
  for (int index = 0; index < static_cast<int>(plan.steps.size()); ++index) {
    const PlanStep& step = plan.steps[index];
    if (step.kind != PlanStep::Kind::op) continue;
    const Contract contract = plan.laid_out.graph.nodes[step.node].op->contract();
    const bool forward = step.pass == Pass::forward_train || step.pass == Pass::forward_eval;
    if (forward && contract.in_place_forward && reads_first_input_once(plan, step)) {
      merge(plan, lifetimes, step.inputs[0], step.outputs[0], index);
    }
    if (step.pass == Pass::backward_data && contract.in_place_backward) {
      const auto input = static_cast<std::size_t>(contract.in_place_gradient);
      merge(plan, lifetimes, step.output_gradients[0], step.input_gradients[input], index);
    }
  }
}

void plan_memory(Plan& plan) {
  const std::vector<Lifetime> lifetimes = lifetimes_of(plan);
  std::vector<Block> blocks;
  OffsetAllocator inputs;
  for (TensorId id = 0; id < static_cast<TensorId>(plan.tensors.size()); ++id) {
    PlanTensor& tensor = plan.tensors[id];
    if (tensor.alias_of != kNoTensor || tensor.gradient_of) continue;
    if (tensor.input) {
      tensor.offset = inputs.take(tensor.bytes);
    } else if (lifetimes[id].last >= 0) {
      blocks.push_back({.tensor = id, .bytes = aligned_bytes(tensor.bytes), .life = lifetimes[id]});
    }
  }
  plan.input_bytes = inputs.used();
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const Block& a, const Block& b) { return a.bytes > b.bytes; });
  std::vector<Block> placed;
  plan.transient_bytes = 0;
  for (Block& block : blocks) {
    block.offset = lowest_free_offset(block, placed);
    plan.tensors[block.tensor].offset = block.offset;
    plan.transient_bytes = std::max(plan.transient_bytes, block.offset + block.bytes);
    placed.push_back(block);
  }
  for (TensorId id = 0; id < static_cast<TensorId>(plan.tensors.size()); ++id) {
    if (plan.tensors[id].alias_of == kNoTensor) continue;
    plan.tensors[id].offset = plan.tensors[plan.root(id)].offset + offset_in_root(plan, id);
  }
}

}  // namespace trainyard
