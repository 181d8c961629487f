// State shared by the executors of one GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <optional>

#include "compute/conv/cudnn/engine_tuner.h"
#include "compute/conv/cudnn/engines.h"
#include "compute/conv/cudnn/library.h"
#include "compute/devices/cuda/cuda_executors.h"
#include "compute/executor.h"
#include "compute/matmul/cublaslt/matmul.h"
#include "compute/matmul/matrix_products.h"

namespace trainyard::cudnn {

/// A queue of a GPU as its libraries see it. Each has a handle of its own, since a handle's scratch
/// memory serves one stream.
struct Lane {
  cudaStream_t stream = nullptr;
  cudnnHandle_t handle = nullptr;
};

/// Shared by a factory and its executors, because a plan may outlive the factory that made them.
class Context {
 public:
  explicit Context(CudaExecutorSettings settings);

  [[nodiscard]] const CudaExecutorSettings& settings() const { return settings_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] const Library& library() const { return library_; }
  [[nodiscard]] cudnnHandle_t handle() const { return handle_.get(); }
  /// What the steps of a queue run on.
  [[nodiscard]] Lane lane(StepQueue queue) const;
  [[nodiscard]] const DescriptorPtr& properties() const { return properties_; }
  /// Opened on the first call.
  [[nodiscard]] const MatmulLibrary& matmul_library();
  [[nodiscard]] EnginePolicy rules(DType storage, bool tf32, std::size_t workspace_cap) const;
  [[nodiscard]] EngineBook& book() { return book_; }
  [[nodiscard]] const EngineBook& book() const { return book_; }
  /// What the engines of this run are chosen with. Must not outlive the context.
  [[nodiscard]] EngineSearch search();

 private:
  CudaExecutorSettings settings_;
  cudaStream_t stream_;
  Library library_;
  LibraryHandle handle_;
  std::optional<LibraryHandle> side_;
  DescriptorPtr properties_;
  std::optional<MatmulLibrary> matmul_library_;
  EngineBook book_;
};
using ContextPtr = std::shared_ptr<Context>;

// The makers of the executors that use libraries, one per op.
[[nodiscard]] ExecutorPtr make_conv(const ContextPtr& context, const StepDescription& step);
[[nodiscard]] ExecutorPtr make_dense(const ContextPtr& context, const StepDescription& step);
[[nodiscard]] ExecutorPtr make_recurrent(const ContextPtr& context, const StepDescription& step);
/// A product on the context's stream of factors of this type, in f32; see MatmulShape::tf32.
[[nodiscard]] std::unique_ptr<MatrixProduct> make_matrix_product(const ContextPtr& context,
                                                                 const ProductShape& shape,
                                                                 DType factors, bool tf32,
                                                                 std::size_t workspace_cap);

}  // namespace trainyard::cudnn
