#include "exec/functor/functor.h"

#include <tuple>
#include <utility>

#include "ops/functor_ops.h"
#include "tensor/float_types.h"

namespace trainyard {
namespace {

/// Runs one functor op. The op is copied: it is small, and the description need not outlive us.
template <class FunctorOp, class T>
class FunctorExecutor final : public Executor {
 public:
  FunctorExecutor(const FunctorOp& op, const FunctorStep& step, int threads)
      : op_(op), step_(step), launcher_(threads) {}
  void bind(const StepTensors& tensors) override { tensors_ = tensors; }
  void run() override { op_.template run<T>(step_, tensors_, launcher_); }

 private:
  FunctorOp op_;
  FunctorStep step_;
  CpuLauncher launcher_;
  StepTensors tensors_;
};

Walk walk_of(const StepDescription& step) {
  std::vector<Layout> layouts = step.inputs;
  layouts.insert(layouts.end(), step.outputs.begin(), step.outputs.end());
  return plan_walk(layouts);
}

template <class FunctorOp>
std::unique_ptr<Executor> make_as(const StepDescription& description) {
  const auto* op = dynamic_cast<const FunctorOp*>(description.op);
  if (op == nullptr) return nullptr;
  FunctorStep step{
      .pass = description.pass, .node = description.node, .walk = {}, .inputs = description.inputs};
  if constexpr (FunctorOp::kElementwise) step.walk = walk_of(description);
  return with_float_type(
      description.storage, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Executor> {
        return std::make_unique<FunctorExecutor<FunctorOp, T>>(*op, step, description.threads);
      });
}

template <class... Ops>
std::unique_ptr<Executor> make_first(const StepDescription& step, const std::tuple<Ops...>*) {
  std::unique_ptr<Executor> executor;
  static_cast<void>(((executor = make_as<Ops>(step)) || ...));
  return executor;
}

}  // namespace

std::unique_ptr<Executor> make_functor_executor(const StepDescription& step) {
  return make_first(step, static_cast<const FunctorOps*>(nullptr));
}

}  // namespace trainyard
