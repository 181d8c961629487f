// Conversion of weights between the flat blocks and the order that tensor cores read, any number of
// weights in one launch: its functors, and their executors for any launcher.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "base/host_device.h"
#include "base/offset_allocator.h"
#include "compute/channel_rows.h"
#include "compute/executor.h"
#include "compute/weight_shape.h"
#include "device/device.h"

namespace trainyard {

/// Items of a launch that belong to one weight: a warp.
inline constexpr std::int64_t kWeightRun = 32;

/// A weight of a table. An item of the launch is `width` neighbouring channels of a filter at one
/// place of the window: their packed elements are together. Neighbouring items are places of the
/// window: their plain elements are together. A turned weight exchanges filters and channels.
struct WeightEntry {
  /// Some of an item's channels: `packed` elements side by side, of which `plain` are not padding.
  struct ItemSpan {
    std::int64_t packed_offset = 0, plain_offset = 0;
    std::int32_t packed = 0, plain = 0;
  };

  float* plain = nullptr;
  void* packed = nullptr;
  std::int64_t first_item = 0;  // first item of the launch
  std::int32_t filters = 1, channels = 1, window = 1;
  std::int32_t padded_filters = 1, padded_channels = 1;
  std::int32_t filter_step = 1, channel_step = 1;  // plain, from one to the next
  std::int32_t width = 1;
  bool turned = false;
  bool vectors = false;  // an item's plain elements are together too, and aligned to 16 bytes

  /// Items of a filter at one place of the window.
  [[nodiscard]] TY_HD std::int32_t groups() const { return (padded_channels + width - 1) / width; }
  [[nodiscard]] std::int64_t items() const {
    return std::int64_t{padded_filters} * window * groups();
  }
  /// Elements of an item of this entry; none past the last.
  [[nodiscard]] TY_HD ItemSpan span_of(std::int64_t item) const {
    const auto index = static_cast<std::uint32_t>(item - first_item);
    const auto taps = static_cast<std::uint32_t>(window);
    const auto row_groups = static_cast<std::uint32_t>(groups());
    const auto tap = static_cast<std::int32_t>(index % taps);
    const std::uint32_t row = index / taps;
    const std::int32_t channel = static_cast<std::int32_t>(row % row_groups) * width;
    const auto filter = static_cast<std::int32_t>(row / row_groups);
    if (filter >= padded_filters) return {};
    const std::int32_t left = filter < filters ? channels - channel : 0;
    const std::int32_t packed_tap = turned ? window - 1 - tap : tap;
    return {
        .packed_offset = (std::int64_t{filter} * window + packed_tap) * padded_channels + channel,
        .plain_offset =
            std::int64_t{filter} * filter_step + std::int64_t{channel} * channel_step + tap,
        .packed = smaller(width, padded_channels - channel),
        .plain = left > 0 ? smaller(width, left) : 0};
  }

 private:
  TY_HD static std::int32_t smaller(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
};

/// The weights of a launch, in memory that the functor can access.
struct WeightTable {
  const WeightEntry* entries = nullptr;
  const std::int32_t* runs = nullptr;  // the entry of each run of items

  [[nodiscard]] TY_HD WeightEntry entry(std::int64_t item) const {
    return entries[runs[item / kWeightRun]];
  }
};

/// Packs, rounding to T once. One call per item.
template <class T>
struct PackWeights {
  static constexpr int kWidth = kPack<T>;
  WeightTable table;

  TY_HD void operator()(std::int64_t item) const {
    const WeightEntry entry = table.entry(item);
    const WeightEntry::ItemSpan span = entry.span_of(item);
    const Pack<T, kWidth> pack = read(entry, span);
    T* const to = static_cast<T*>(entry.packed) + span.packed_offset;
    if (span.packed == kWidth) return store_pack<T, kWidth>(to, pack);
    for (int k = 0; k < kWidth; ++k) {
      if (k < span.packed) to[k] = pack.value[k];
    }
  }

 private:
  TY_HD static Pack<T, kWidth> read(const WeightEntry& entry, const WeightEntry::ItemSpan& span) {
    const float* const from = entry.plain + span.plain_offset;
    Pack<T, kWidth> pack = {};
    if (entry.vectors && span.plain == kWidth) {
      for (int first = 0; first < kWidth; first += kPack<float>) {
        const auto values = load_pack<float, kPack<float>>(from + first);
        for (int k = 0; k < kPack<float>; ++k) {
          pack.value[first + k] = static_cast<T>(values.value[k]);
        }
      }
      return pack;
    }
    for (int k = 0; k < kWidth; ++k) {
      if (k < span.plain)
        pack.value[k] = static_cast<T>(from[std::int64_t{k} * entry.channel_step]);
    }
    return pack;
  }
};

/// The reverse, for gradients; padding is left out.
template <class T>
struct UnpackWeights {
  static constexpr int kWidth = kPack<T>;
  WeightTable table;

  TY_HD void operator()(std::int64_t item) const {
    const WeightEntry entry = table.entry(item);
    const WeightEntry::ItemSpan span = entry.span_of(item);
    const Pack<T, kWidth> pack = read(entry, span);
    float* const to = entry.plain + span.plain_offset;
    if (entry.vectors && span.plain == kWidth) {
      for (int first = 0; first < kWidth; first += kPack<float>) {
        Pack<float, kPack<float>> values = {};
        for (int k = 0; k < kPack<float>; ++k) {
          values.value[k] = static_cast<float>(pack.value[first + k]);
        }
        store_pack<float, kPack<float>>(to + first, values);
      }
      return;
    }
    for (int k = 0; k < kWidth; ++k) {
      if (k < span.plain)
        to[std::int64_t{k} * entry.channel_step] = static_cast<float>(pack.value[k]);
    }
  }

 private:
  TY_HD static Pack<T, kWidth> read(const WeightEntry& entry, const WeightEntry::ItemSpan& span) {
    const T* const from = static_cast<const T*>(entry.packed) + span.packed_offset;
    if (span.packed == kWidth) return load_pack<T, kWidth>(from);
    Pack<T, kWidth> pack = {};
    for (int k = 0; k < kWidth; ++k) {
      if (k < span.packed) pack.value[k] = from[k];
    }
    return pack;
  }
};

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
