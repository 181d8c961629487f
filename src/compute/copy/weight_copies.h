// The executors of copies of packed weights, for any launcher.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/round_up.h"
#include "compute/copy/weights.h"
#include "compute/executor.h"
#include "device/device.h"

namespace trainyard {

/// The entry of a weight in a table whose items have at most `width` channels, without addresses.
[[nodiscard]] inline WeightEntry weight_entry(const WeightShape& shape, int width) {
  TY_CHECK(std::max(shape.plain_elements(), shape.packed_elements()) <=
               std::numeric_limits<std::int32_t>::max(),
           "a weight has at most 2^31 - 1 elements");
  const auto number = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  WeightEntry entry;
  if (shape.same_order()) {
    entry.channels = entry.padded_channels = number(shape.plain_elements());
  } else {
    entry.filters = number(shape.filters);
    entry.channels = number(shape.channels);
    entry.window = number(shape.height * shape.width);
    entry.padded_filters = number(shape.padded_filters);
    entry.padded_channels = number(shape.padded_channels);
    entry.filter_step = entry.channels * entry.window;
    entry.channel_step = entry.window;
  }
  if (shape.turned) {
    entry.turned = true;
    std::swap(entry.filters, entry.channels);
    std::swap(entry.padded_filters, entry.padded_channels);
    std::swap(entry.filter_step, entry.channel_step);
  }
  // A row that begins within 16 bytes is copied element by element.
  const bool one_row = entry.padded_filters * entry.window == 1;
  if (one_row || entry.padded_channels % width == 0) entry.width = width;
  entry.vectors = entry.width == width && entry.window == 1 && !entry.turned &&
                  (entry.filters == 1 || entry.channels % kPack<float> == 0);
  return entry;
}

/// Copies all weights of a table in one launch: Functor is PackWeights<T> or UnpackWeights<T>, of
/// which `kPacks` is the direction.
template <class Functor, bool kPacks, class Launcher>
class WeightCopies final : public Executor {
 public:
  /// The table, 4 bytes for 32 items, is in memory of `device` that bind() allocates and fills on
  /// `queue`, the launcher's.
  WeightCopies(const std::vector<WeightShape>& shapes, const Launcher& launcher, Device& device,
               Queue& queue)
      : launcher_(launcher), device_(device), queue_(queue), entries_(entries_of(shapes)) {}

  void bind(const StepTensors& tensors) override {
    TY_CHECK(tensors.inputs.size() == entries_.size() && tensors.outputs.size() == entries_.size(),
             "a source and a target for each weight");
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const TensorView &from = tensors.inputs[i], &to = tensors.outputs[i];
      entries_[i].plain = (kPacks ? from : to).template as<float>();
      entries_[i].packed = (kPacks ? to : from).data;
    }
    device_entries_.emplace(device_, queue_, entries_);
    device_runs_.emplace(device_, queue_, runs_of(entries_));
  }
  void run() override {
    launcher_.each(static_cast<std::int64_t>(device_runs_->size()) * kWeightRun,
                   Functor{{device_entries_->data(), device_runs_->data()}});
  }

 private:
  static std::vector<WeightEntry> entries_of(const std::vector<WeightShape>& shapes) {
    std::vector<WeightEntry> entries;
    std::int64_t items = 0;
    for (const WeightShape& shape : shapes) {
      WeightEntry& entry = entries.emplace_back(weight_entry(shape, Functor::kWidth));
      entry.first_item = items;
      items += round_up(entry.items(), kWeightRun);
    }
    return entries;
  }
  static std::vector<std::int32_t> runs_of(const std::vector<WeightEntry>& entries) {
    std::vector<std::int32_t> runs;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::int64_t count = round_up(entries[i].items(), kWeightRun) / kWeightRun;
      runs.insert(runs.end(), static_cast<std::size_t>(count), static_cast<std::int32_t>(i));
    }
    return runs;
  }

  Launcher launcher_;
  Device& device_;
  Queue& queue_;
  std::vector<WeightEntry> entries_;
  std::optional<DeviceArray<WeightEntry>> device_entries_;
  std::optional<DeviceArray<std::int32_t>> device_runs_;
};

}  // namespace trainyard
