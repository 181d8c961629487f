// Copies of weights between the flat blocks and the order in which a device's libraries read them.
#pragma once

#include <memory>
#include <vector>

#include "compute/executor.h"
#include "compute/weight_shape.h"
#include "tensor/dtype.h"

namespace trainyard {

/// Makes the copies of a device whose executors read and write packed weights
/// (packed_parameters.h); the device's factory is one. Each is one launch, whatever the number of
/// weights.
class WeightPacking {
 public:
  virtual ~WeightPacking() = default;
  /// Packs inputs[i], f32 and plain, into outputs[i], packed_elements() of `storage`.
  [[nodiscard]] virtual std::unique_ptr<Executor> make_pack(const std::vector<WeightShape>& shapes,
                                                            DType storage) const = 0;
  /// The reverse: inputs[i] is packed, outputs[i] plain.
  [[nodiscard]] virtual std::unique_ptr<Executor> make_unpack(
      const std::vector<WeightShape>& shapes, DType storage) const = 0;
};

/// Null: the executors of this factory read and write the flat blocks as they are.
[[nodiscard]] inline const WeightPacking* weight_packing_of(const ExecutorFactory& executors) {
  return dynamic_cast<const WeightPacking*>(&executors);
}

}  // namespace trainyard
