// The network's outputs of one evaluated batch, on the host.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "device/device.h"
#include "model/model.h"

namespace trainyard {

/// Reads what the evaluation program gives for the batch that it has run last; the device may
/// already run the next one meanwhile.
class BatchOutputs {
 public:
  /// `model` must outlive it, and have an output. Throws Error{memory}.
  BatchOutputs(Model& model, int threads);
  /// [n, c, h, w] of the output.
  [[nodiscard]] Shape shape() const { return shape_of(plain_.layout); }
  /// Enqueues sending the batch's outputs to the host. At most two are sent and not taken.
  void send();
  /// Waits for the oldest that were sent. Row-major n, c, h, w.
  [[nodiscard]] std::vector<float> take();
  [[nodiscard]] std::vector<float> read() {
    send();
    return take();
  }

 private:
  /// Outputs on their way to the host.
  struct Sent {
    std::unique_ptr<DeviceBuffer> values;  // like memory_
    std::unique_ptr<Event> arrived;
  };

  Model& model_;
  DeviceArray<std::byte> memory_;
  TensorView plain_;  // in the arithmetic type
  ExecutorPtr reorder_;
  std::array<Sent, 2> sent_;
  std::size_t sends_ = 0, takes_ = 0;
};

}  // namespace trainyard
