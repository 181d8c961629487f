// The CPU: oneDNN for convolutions, Winograd kernels where they are chosen; own matrix products,
// batch norm and pooling; functors for the rest.
#include "compute/devices/cpu_executors.h"

#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "compute/conv/onednn/primitives.h"
#include "compute/conv/winograd/algorithms.h"
#include "compute/copy/adds_apart.h"
#include "compute/elementwise/functor.h"
#include "compute/elementwise/then_relu.h"
#include "compute/matmul/product.h"
#include "compute/table.h"

namespace trainyard {
namespace {

/// oneDNN copies into plain tensors and whole blocks. It would leave channels-last padding
/// unchanged, and cannot describe slices of odd width.
bool library_copies(const Layout& from, const Layout& to) {
  const auto whole = [](const Layout& layout) {
    return is_dense(layout) && (layout.block > 1 || !has_padding(layout));
  };
  return whole(from) && whole(to) && !same_memory(from, to);
}

std::string library_name() {
  const dnnl_version_t& version = *dnnl_version();
  return "oneDNN " + std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

class CpuExecutors final : public DeviceExecutors {
 public:
  explicit CpuExecutors(CpuExecutorSettings settings)
      : convolutions_(
            std::make_unique<winograd::ConvAlgorithms>(std::move(settings), library_name())) {}
  [[nodiscard]] ExecutorPtr make(const StepDescription& step) const override {
    TY_CHECK(
        step.storage == DType::f32 || (step.storage == DType::bf16 && cpu_executors_have_bf16()),
        "the CPU stores f32, and bf16 where the processor multiplies it");
    const bool convolution = computation_of(step.op->type()) == Computation::convolution;
    if (step.form.adds_gradient && !convolution) {
      return add_apart(step, [this](const auto& alone) { return make(alone); });
    }
    return DeviceExecutors::make(step);
  }
  [[nodiscard]] ExecutorPtr make_reorder(const Layout& from, DType from_type, const Layout& to,
                                         DType to_type, int threads) const override {
    const bool known = to_type == DType::f32 || to_type == DType::bf16;
    if (from_type == to_type && known && library_copies(from, to)) {
      return onednn::make_copy(library_, from, to, to_type, threads);
    }
    return make_functor_reorder(from, from_type, to, to_type, threads);
  }
  [[nodiscard]] ExecutorPtr make_accumulate(const Layout& layout, DType type,
                                            int threads) const override {
    return make_functor_accumulate(layout, layout, type, threads);
  }
  [[nodiscard]] std::unique_ptr<MatrixProduct> make_matrix_product(const ProductShape& shape,
                                                                   DType /*f32*/,
                                                                   int threads) const override {
    return std::make_unique<ProductsInTurn<float, product::Product>>(
        product::Product(shape, threads), shape);
  }
  [[nodiscard]] std::string libraries() const override { return library_name(); }
  [[nodiscard]] std::string choices() const override { return convolutions_->chosen(); }

 protected:
  [[nodiscard]] ExecutorPtr make_convolution(const StepDescription& step) const override {
    return convolutions_->make(step, [this](const auto& one) { return make_direct(one); });
  }
  [[nodiscard]] ExecutorPtr make_product(const StepDescription& step) const override {
    return product::make_dense(step);
  }
  [[nodiscard]] ExecutorPtr make_recurrence(const StepDescription& step) const override {
    return product::make_recurrent(step);
  }
  [[nodiscard]] ExecutorPtr make_batch_norm(const StepDescription& step) const override {
    return onednn::make_bn(step);
  }
  [[nodiscard]] ExecutorPtr make_pooling(const StepDescription& step) const override {
    return onednn::make_pool(step);
  }
  [[nodiscard]] ExecutorPtr make_functors(const StepDescription& step) const override {
    return make_functor_executor(step);
  }

 private:
  /// A convolution's step by oneDNN.
  [[nodiscard]] ExecutorPtr make_direct(const StepDescription& step) const {
    try {
      ExecutorPtr layer = onednn::make_conv(library_, step);
      return step.form.relu ? std::make_unique<ThenRelu>(std::move(layer), step) : std::move(layer);
    } catch (const dnnl::error& error) {
      throw device_error(std::string(step.op->type()) +
                         ": oneDNN cannot compute this layer on this processor (" + error.what() +
                         "); --device reference can");
    }
  }

  onednn::LibraryPtr library_ = std::make_shared<onednn::Library>();
  std::unique_ptr<winograd::ConvAlgorithms> convolutions_;
};

}  // namespace

bool cpu_executors_have_bf16() {
  return processor_has_avx512() && __builtin_cpu_supports("avx512bf16");
}

std::unique_ptr<ExecutorFactory> make_cpu_executors() { return make_cpu_executors({}); }

std::unique_ptr<ExecutorFactory> make_cpu_executors(CpuExecutorSettings settings) {
  return std::make_unique<CpuExecutors>(std::move(settings));
}

}  // namespace trainyard
