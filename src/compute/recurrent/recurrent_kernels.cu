// The steps of recurrent layers on a stream. They are enqueued one after the other: a captured pass
// holds two launches a step.
#include "compute/devices/cuda/kernels.h"
#include "compute/recurrent/recurrent.h"
#include "launcher/cuda_launch.cuh"

namespace trainyard::cudnn {
namespace {

template <class T>
struct ProductOf {
  std::unique_ptr<MatrixProduct> product;
  [[nodiscard]] std::size_t workspace_bytes() const { return product->workspace_bytes(); }
  void run(const T* a, const T* b, float* d, void* workspace) const {
    product->run(a, b, d, workspace);
  }
};

template <class T>
struct ProductsOf {
  using Factor = T;
  MakeProduct make_product;
  [[nodiscard]] ProductOf<T> make(const ProductShape& shape, std::size_t workspace_left) const {
    return {make_product(shape, workspace_left)};
  }
};

}  // namespace

ExecutorPtr make_recurrent_on(cudaStream_t stream, const MakeProduct& make_product,
                              const StepDescription& step) {
  return GpuFloats{}(step.storage, [&]<class T>(std::type_identity<T>) {
    return trainyard::make_recurrent_on<T>(step, CudaLauncher(stream), ProductsOf<T>{make_product});
  });
}

}  // namespace trainyard::cudnn
