// The network's outputs of one evaluated batch, on the host.
#pragma once

#include <memory>
#include <vector>

#include "device/device_array.h"
#include "model/model.h"

namespace trainyard {

/// Reads what the evaluation program gives for the batch that it has run last.
class BatchOutputs {
 public:
  /// `model` must outlive it, and have an output. Throws Error{memory}.
  BatchOutputs(Model& model, int threads);
  /// [n, c, h, w] of the output.
  [[nodiscard]] Shape shape() const { return shape_of(plain_.layout); }
  /// Waits for the batch. Row-major n, c, h, w.
  [[nodiscard]] std::vector<float> read();

 private:
  Model& model_;
  DeviceArray<std::byte> memory_;
  TensorView plain_;  // in the arithmetic type
  std::unique_ptr<Executor> reorder_;
};

}  // namespace trainyard
