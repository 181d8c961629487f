// The reference device: plain loops for library ops, functors for the rest.
#include <array>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "compute/devices/reference_executors.h"
#include "compute/elementwise/functor.h"
#include "compute/elementwise/relu_bias.h"
#include "compute/elementwise/then_relu.h"
#include "compute/executor.h"

namespace trainyard {
namespace {

using Maker = std::unique_ptr<Executor> (*)(const StepDescription&);

struct LibraryOp {
  std::string_view type;
  Maker in_float;
  Maker in_double;
};

constexpr std::array<LibraryOp, 10> kLibraryOps{{
    {"conv", &reference::make_conv<float>, &reference::make_conv<double>},
    {"conv_transpose", &reference::make_conv<float>, &reference::make_conv<double>},
    {"dense", &reference::make_dense<float>, &reference::make_dense<double>},
    {"lstm", &reference::make_recurrent<float>, &reference::make_recurrent<double>},
    {"simple_rnn", &reference::make_recurrent<float>, &reference::make_recurrent<double>},
    {"bn", &reference::make_bn<float>, &reference::make_bn<double>},
    {"max_pool", &reference::make_pool<float>, &reference::make_pool<double>},
    {"avg_pool", &reference::make_pool<float>, &reference::make_pool<double>},
    {"global_max_pool", &reference::make_pool<float>, &reference::make_pool<double>},
    {"global_avg_pool", &reference::make_pool<float>, &reference::make_pool<double>},
}};

class ReferenceExecutors final : public ExecutorFactory {
 public:
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    TY_CHECK(!step.tf32, "the reference device rounds no factor to TF32");
    for (const LibraryOp& op : kLibraryOps) {
      if (op.type != step.op->type()) continue;
      auto layer = step.storage == DType::f64 ? op.in_double(step) : op.in_float(step);
      return step.form.relu ? std::make_unique<ThenRelu>(std::move(layer), step) : std::move(layer);
    }
    if (step.form.sums_layer_bias()) return make_relu_bias_on(CpuLauncher(step.threads), step);
    std::unique_ptr<Executor> executor = make_functor_executor(step);
    TY_CHECK(executor != nullptr, step.op->type());
    return executor;
  }
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout& from, DType from_type,
                                                       const Layout& to, DType to_type,
                                                       int threads) const override {
    return make_functor_reorder(from, from_type, to, to_type, threads);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout& layout, DType type,
                                                          int threads) const override {
    return make_functor_accumulate(layout, layout, type, threads);
  }
  [[nodiscard]] std::string libraries() const override { return ""; }
};

}  // namespace

std::unique_ptr<ExecutorFactory> make_reference_executors() {
  return std::make_unique<ReferenceExecutors>();
}

}  // namespace trainyard
