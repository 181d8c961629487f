// Recurrent layers, with products of cuBLASLt between the steps' kernels. Steps are enqueued one
// after the other: a captured pass holds two launches a step.
#include "exec/cudnn/kernels.h"
#include "exec/cudnn/matmul.h"
#include "exec/recurrent.h"
#include "kernels/cuda_launch.cuh"

namespace trainyard::cudnn {
namespace {

template <class T>
class StreamProduct {
 public:
  StreamProduct(cudaStream_t stream, Matmul product)
      : stream_(stream), product_(std::move(product)) {}
  [[nodiscard]] std::size_t workspace_bytes() const { return product_.workspace_bytes(); }
  void run(const T* a, const T* b, float* d, void* workspace) const {
    product_.run(stream_, a, b, d, workspace);
  }

 private:
  cudaStream_t stream_;
  Matmul product_;
};

template <class T>
struct StreamProducts {
  using Factor = T;
  cudaStream_t stream;
  std::shared_ptr<const MatmulLibrary> library;
  bool tf32;
  [[nodiscard]] StreamProduct<T> make(const ProductShape& shape, std::size_t workspace_left) const {
    return {stream, Matmul(*library,
                           {.rows = shape.rows,
                            .columns = shape.columns,
                            .depth = shape.depth,
                            .a_transposed = shape.a_transposed,
                            .b_transposed = shape.b_transposed,
                            .factors = DTypeOf<T>::value,
                            .tf32 = tf32,
                            .alignment = static_cast<std::uint32_t>(shape.alignment)},
                           workspace_left)};
  }
};

}  // namespace

std::unique_ptr<Executor> make_recurrent(cudaStream_t stream,
                                         std::shared_ptr<const MatmulLibrary> library,
                                         const StepDescription& step) {
  return GpuFloats{}(step.storage, [&]<class T>(std::type_identity<T>) {
    return make_recurrent_on<T>(step, CudaLauncher(stream),
                                StreamProducts<T>{stream, library, step.tf32});
  });
}

}  // namespace trainyard::cudnn
