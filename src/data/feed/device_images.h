// 8-bit images on a device, from which it makes batches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/augment/pipeline.h"
#include "data/feed/batch_launches.h"
#include "data/sets/dataset.h"
#include "device/device.h"

namespace trainyard {

/// The parts of a batch from which it is made, on the device.
struct DeviceBatch {
  const std::int64_t* sample_index = nullptr;  // [n]
  const SpatialTransform* spatial = nullptr;   // [n, Pipeline::spatial_transforms()]
  const ColourTransform* colours = nullptr;    // [n, Pipeline::colour_transforms()]
  const PairMix* mixes = nullptr;              // [n / 2] of a pipeline that mixes, else null
  const std::uint8_t* bytes = nullptr;         // [n, c, h, w]; not of a set that stays there
  CopyWords words = {};                        // copied by the same launch
};

/// The bytes of a set that stays on the device, or those of a batch, which are copied for each
/// batch, with the values that the preprocessing subtracts and divides by. The launches must
/// outlive them. `pipeline` is prepared; an unsuitable one (see fault()) is a bug. Constructors
/// throw Error{memory}.
class DeviceImages {
 public:
  /// The images of `set`, which holds them as bytes: a batch supplies only the indices of its
  /// `batch` samples.
  DeviceImages(Device& device, Queue& queue, const BatchLaunches& launches, std::int64_t batch,
               const Dataset& set, const Pipeline& pipeline);
  /// Room for `batch` samples of a set of such images ([c, h, w]).
  DeviceImages(Device& device, Queue& queue, const BatchLaunches& launches, std::int64_t batch,
               const Shape& image, const Pipeline& pipeline);

  /// "", or why a device cannot do the work of `pipeline`.
  [[nodiscard]] static std::string fault(const Pipeline& pipeline);

  /// Room for a batch's images, [n, c, h, w], on the device; empty if a set stays there.
  [[nodiscard]] std::span<std::uint8_t> incoming() const;

  /// Enqueues writing the samples of a batch to `images` ([n, c, h, w] in any layout).
  void gather(const DeviceBatch& batch, const TensorView& images) const;

 private:
  void prepare(Device& device, Queue& queue, std::int64_t batch, const Shape& image,
               const Pipeline& pipeline);
  void gather_samples(const GatherSource& from, const DeviceBatch& batch,
                      const TensorView& images) const;

  const BatchLaunches& launches_;
  bool of_batch_;
  DeviceArray<std::uint8_t> bytes_;
  std::vector<DeviceArray<float>> values_;  // constants of the preprocessing steps
  GatherSource source_;
  // If something reads a whole sample: those of a batch, [n, c, h, w], and what is done to them.
  std::unique_ptr<DeviceArray<float>> samples_, room_;
  SampleProgram program_;
  std::unique_ptr<DeviceArray<float>> whitening_, whitened_;  // if it whitens: matrix and samples
};

}  // namespace trainyard
