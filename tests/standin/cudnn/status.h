// Results of the stand-in for cuDNN: a status, and the reason as text.
#pragma once

#include <cuda_runtime_api.h>
#include <cudnn_graph.h>

#include <string>
#include <string_view>

#include "descriptor.h"

namespace standin::cudnn {

/// Stores the reason for cudnnGetLastErrorString on this thread, and returns `status`.
cudnnStatus_t refuse(cudnnStatus_t status, std::string_view reason);

inline cudnnStatus_t bad_parameter(std::string_view reason) {
  return refuse(CUDNN_STATUS_BAD_PARAM, reason);
}

/// The reason that was stored last.
[[nodiscard]] const std::string& last_reason();

/// "CUDNN_STATUS_BAD_PARAM".
[[nodiscard]] const char* name_of(cudnnStatus_t status);

/// The status that a failure request (faults.h) asks for in `call` on the current device: one of
/// cuDNN's by name; success if there is none.
[[nodiscard]] cudnnStatus_t requested_status(std::string_view call);

/// The object behind a cudnnHandle_t.
struct Handle {
  int device;
  cudaStream_t stream = nullptr;
};

/// Enqueues one run of the plan on the handle's stream.
[[nodiscard]] cudnnStatus_t execute(const Handle& handle, const Descriptor& plan,
                                    const Descriptor& pack);

/// Checks the whole as cuDNN 9.19 does, and fills in what is read from the descriptor afterwards.
[[nodiscard]] cudnnStatus_t finalize(Descriptor& descriptor);

/// Tensors, convolutions, operations and graphs.
[[nodiscard]] cudnnStatus_t finalize_tensor(const Descriptor& tensor);
[[nodiscard]] cudnnStatus_t finalize_convolution(const Descriptor& convolution);
[[nodiscard]] cudnnStatus_t finalize_convolution_operation(const Descriptor& operation);
[[nodiscard]] cudnnStatus_t finalize_pointwise_operation(const Descriptor& operation);
[[nodiscard]] cudnnStatus_t finalize_graph(Descriptor& graph);

/// Heuristics, engines, their configurations and plans.
[[nodiscard]] cudnnStatus_t finalize_device(const Descriptor& device);
[[nodiscard]] cudnnStatus_t finalize_heuristic(Descriptor& heuristic);
[[nodiscard]] cudnnStatus_t finalize_engine(Descriptor& engine);
[[nodiscard]] cudnnStatus_t finalize_configuration(const Descriptor& configuration);
[[nodiscard]] cudnnStatus_t finalize_plan(Descriptor& plan);
[[nodiscard]] cudnnStatus_t finalize_pack(const Descriptor& pack);

/// The settings of a configuration, one for each knob of its engine.
[[nodiscard]] std::vector<std::int64_t> knobs_of(const Descriptor& configuration);

}  // namespace standin::cudnn
