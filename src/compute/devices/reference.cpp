// The reference device: plain loops for library ops, functors for the rest.
#include <utility>

#include "base/error.h"
#include "compute/devices/reference_executors.h"
#include "compute/elementwise/bias.h"
#include "compute/elementwise/functor.h"
#include "compute/elementwise/then_relu.h"
#include "compute/matmul/loop_product.h"
#include "compute/table.h"
#include "launcher/launch.h"

namespace trainyard {
namespace {

class ReferenceExecutors final : public DeviceExecutors {
 public:
  [[nodiscard]] ExecutorPtr make(const StepDescription& step) const override {
    TY_CHECK(!step.tf32, "the reference device rounds no factor to TF32");
    return DeviceExecutors::make(step);
  }
  [[nodiscard]] ExecutorPtr make_reorder(const Layout& from, DType from_type, const Layout& to,
                                         DType to_type, int threads) const override {
    return make_functor_reorder(from, from_type, to, to_type, threads);
  }
  [[nodiscard]] ExecutorPtr make_accumulate(const Layout& layout, DType type,
                                            int threads) const override {
    return make_functor_accumulate(layout, layout, type, threads);
  }
  [[nodiscard]] std::unique_ptr<MatrixProduct> make_matrix_product(const ProductShape& shape,
                                                                   DType type,
                                                                   int threads) const override {
    const auto in_turn = [&]<class T>(T) -> std::unique_ptr<MatrixProduct> {
      const reference::LoopProduct<T> product{CpuLauncher(threads), shape};
      return std::make_unique<ProductsInTurn<T, reference::LoopProduct<T>>>(product, shape);
    };
    return type == DType::f64 ? in_turn(double{}) : in_turn(float{});
  }
  [[nodiscard]] std::string libraries() const override { return ""; }

 protected:
  [[nodiscard]] ExecutorPtr make_convolution(const StepDescription& step) const override {
    return then_relu(step, in_double(step) ? reference::make_conv<double>(step)
                                           : reference::make_conv<float>(step));
  }
  [[nodiscard]] ExecutorPtr make_product(const StepDescription& step) const override {
    return then_relu(step, in_double(step) ? reference::make_dense<double>(step)
                                           : reference::make_dense<float>(step));
  }
  [[nodiscard]] ExecutorPtr make_recurrence(const StepDescription& step) const override {
    return in_double(step) ? reference::make_recurrent<double>(step)
                           : reference::make_recurrent<float>(step);
  }
  [[nodiscard]] ExecutorPtr make_batch_norm(const StepDescription& step) const override {
    return in_double(step) ? reference::make_bn<double>(step) : reference::make_bn<float>(step);
  }
  [[nodiscard]] ExecutorPtr make_pooling(const StepDescription& step) const override {
    return in_double(step) ? reference::make_pool<double>(step) : reference::make_pool<float>(step);
  }
  [[nodiscard]] ExecutorPtr make_functors(const StepDescription& step) const override {
    return step.form.sums_layer_bias() ? make_relu_bias_on(CpuLauncher(step.threads), step)
                                       : make_functor_executor(step);
  }

 private:
  static bool in_double(const StepDescription& step) { return step.storage == DType::f64; }
  static ExecutorPtr then_relu(const StepDescription& step, ExecutorPtr layer) {
    return step.form.relu ? std::make_unique<ThenRelu>(std::move(layer), step) : std::move(layer);
  }
};

}  // namespace

std::unique_ptr<ExecutorFactory> make_reference_executors() {
  return std::make_unique<ReferenceExecutors>();
}

}  // namespace trainyard
