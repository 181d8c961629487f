#include "compute/elementwise/all.h"
#include "compute/elementwise/functor_executor.h"
#include "compute/matmul/matrix_products.h"
#include "compute/norm/channels.h"
#include "compute/recurrent/recurrent.h"
#include "counted/counted_gpu.h"
#include "counted/counting_launcher.h"
#include "data/feed/batch_launches_on.h"
#include "optim/update_launches_on.h"

namespace trainyard::counted {
namespace {

/// A product, or a batch of them: one call of cuBLASLt.
template <class T>
struct CountedProduct {
  LaunchLog* log;
  ProductShape shape;
  [[nodiscard]] std::size_t workspace_bytes() const { return 0; }
  void run(const T*, const T*, float*, void*) const {
    const std::int64_t factors = shape.batch * (shape.rows + shape.columns) * shape.depth;
    const std::int64_t products = shape.batch * shape.rows * shape.columns;
    log->add_call("product",
                  static_cast<std::size_t>(factors) * sizeof(T) +
                      static_cast<std::size_t>(products) * sizeof(float),
                  2.0 * static_cast<double>(products * shape.depth));
  }
};

template <class T>
struct CountedProducts {
  using Factor = T;
  LaunchLog* log;
  [[nodiscard]] CountedProduct<T> make(const ProductShape& shape, std::size_t) const {
    return {log, shape};
  }
};

}  // namespace

std::unique_ptr<Executor> make_counted_functor(LaunchLog& log, const StepDescription& step) {
  return make_functor_executor_on<GpuFloats>(step, CountingLauncher(log));
}

std::unique_ptr<Executor> make_counted_channels(LaunchLog& log, const StepDescription& step) {
  return GpuFloats{}(step.storage, [&]<class T>(std::type_identity<T>) {
    return make_channels_as<T>(step, CountingLauncher(log));
  });
}

std::unique_ptr<Executor> make_counted_recurrent(LaunchLog& log, const StepDescription& step) {
  return GpuFloats{}(step.storage, [&]<class T>(std::type_identity<T>) {
    return make_recurrent_on<T>(step, CountingLauncher(log), CountedProducts<T>{&log});
  });
}

std::unique_ptr<MatrixProduct> make_counted_product(LaunchLog& log, const ProductShape& shape) {
  ProductShape once = shape;
  once.batch = 1;
  return std::make_unique<ProductsInTurn<float, CountedProduct<float>>>(
      CountedProduct<float>{&log, shape}, once);
}

std::unique_ptr<UpdateLaunches> make_counted_updates(LaunchLog& log) {
  return std::make_unique<UpdateLaunchesOn<CountingLauncher>>(CountingLauncher(log));
}

std::unique_ptr<BatchLaunches> make_counted_batches(LaunchLog& log) {
  return std::make_unique<BatchLaunchesOn<CountingLauncher>>(CountingLauncher(log, "batch"));
}

}  // namespace trainyard::counted
