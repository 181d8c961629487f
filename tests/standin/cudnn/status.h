// Answers of the stand-in for cuDNN: a status, and beside it the reason in words.
#pragma once

#include <cudnn_graph.h>

#include <string>
#include <string_view>

namespace standin::cudnn {

/// Keeps the reason for cudnnGetLastErrorString on this thread, and answers `status`.
cudnnStatus_t refuse(cudnnStatus_t status, std::string_view reason);

inline cudnnStatus_t bad_parameter(std::string_view reason) {
  return refuse(CUDNN_STATUS_BAD_PARAM, reason);
}

/// The reason that was kept last.
[[nodiscard]] const std::string& last_reason();

/// "CUDNN_STATUS_BAD_PARAM".
[[nodiscard]] const char* name_of(cudnnStatus_t status);

/// The status that a request for failures (faults.h) wants of `call` on the current device: one of
/// cuDNN's by name; success if none is wanted.
[[nodiscard]] cudnnStatus_t requested_status(std::string_view call);

}  // namespace standin::cudnn
