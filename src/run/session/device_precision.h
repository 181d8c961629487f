// Whether a device computes in a precision.
#pragma once

#include <string>

#include "base/error.h"
#include "run/session/session_device.h"

namespace trainyard {

/// What decides about bf16 on a CPU.
struct Processor {
  bool bf16 = false;      // cpu_executors_have_bf16()
  std::string name = {};  // processor_name(), or "" if it is not known
};

/// There is no fallback: throws Error{device}, which begins with the position of the run's
/// `precision` if it is known, for one that the device lacks.
void require_precision(DeviceChoice::Kind kind, Precision precision, const Position& where,
                       const Processor& processor);

}  // namespace trainyard
