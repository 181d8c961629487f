// Executors of functor ops and of copies between layouts on a GPU: those of
// compute/elementwise/functor.h on a stream. Elements are f32, bf16 or f16; copies also read i32
// and u8, and copy i32 to i32 (labels).
#pragma once

#include <cuda_runtime_api.h>

#include "compute/executor.h"

namespace trainyard::cuda {

/// The executor of an op of compute/elementwise/all.h; null for other ops. The stream's device must
/// be current while executors run, and both must outlive them.
[[nodiscard]] ExecutorPtr make_functor_executor(cudaStream_t stream, const StepDescription& step);

// The lists, compiled separately. Null if the op is in another list.
[[nodiscard]] ExecutorPtr make_activation_executor(cudaStream_t stream,
                                                   const StepDescription& step);
[[nodiscard]] ExecutorPtr make_place_executor(cudaStream_t stream, const StepDescription& step);
[[nodiscard]] ExecutorPtr make_loss_executor(cudaStream_t stream, const StepDescription& step);
[[nodiscard]] ExecutorPtr make_other_executor(cudaStream_t stream, const StepDescription& step);
[[nodiscard]] ExecutorPtr make_functor_reorder(cudaStream_t stream, const Layout& from,
                                               DType from_type, const Layout& to, DType to_type);
[[nodiscard]] ExecutorPtr make_functor_accumulate(cudaStream_t stream, const Layout& layout,
                                                  DType type);

}  // namespace trainyard::cuda
