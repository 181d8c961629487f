// What a GPU, its driver or a library that works on it answered.
#pragma once

#include <string>

#include "base/error.h"

namespace trainyard {

/// An Error{device} of the GPU of the thread that throws it, which it does not name.
class GpuError : public Error {
 public:
  explicit GpuError(const std::string& message) : Error(ErrorKind::device, message) {}
};

}  // namespace trainyard
