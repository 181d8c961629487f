// Results of the stand-in for cuDNN: a status, and the reason as text.
#pragma once

#include <cudnn_graph.h>

#include <string>
#include <string_view>

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

}  // namespace standin::cudnn
