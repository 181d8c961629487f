// Parameters and their gradients as a GPU's libraries read and write them: in the storage type and
// in an order of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/half.h"
#include "base/host_device.h"
#include "launcher/team.h"
#include "tensor/dtype.h"

namespace trainyard {

/// Where the elements of one parameter, [filters, channels, places of a window], are.
struct PackedForm {
  void* data = nullptr;  // null: there is none
  DType type = DType::f32;
  std::int64_t first = 0;     // element of the flat block that is the parameter's first
  std::int64_t elements = 0;  // elements of the parameter; in the block padding follows them
  std::uint32_t channels = 1, places = 1;
  std::int64_t filter_stride = 0, channel_stride = 1, place_stride = 0;
  std::int64_t origin = 0;  // origin of the first element

  [[nodiscard]] TY_HD std::int64_t offset(std::int64_t element) const {
    const auto index = static_cast<std::uint32_t>(element);
    const std::uint32_t row = index / places, place = index - row * places;
    const std::uint32_t filter = row / channels, channel = row - filter * channels;
    return origin + filter * filter_stride + channel * channel_stride + place * place_stride;
  }
  [[nodiscard]] TY_HD float read(std::int64_t element) const {
    const std::int64_t at = offset(element);
    if (type == DType::bf16) return static_cast<const BFloat16*>(data)[at];
    if (type == DType::f16) return static_cast<const Float16*>(data)[at];
    return static_cast<const float*>(data)[at];
  }
  /// Rounds once.
  TY_HD void write(std::int64_t element, float value) const {
    const std::int64_t at = offset(element);
    if (type == DType::bf16) static_cast<BFloat16*>(data)[at] = BFloat16(value);
    if (type == DType::f16) static_cast<Float16*>(data)[at] = Float16(value);
    if (type == DType::f32) static_cast<float*>(data)[at] = value;
  }
};

/// All forms of a parameter.
struct PackedForms {
  PackedForm form[2];
};

/// Packed forms of every parameter; null: none.
struct PackedTable {
  const PackedForms* forms = nullptr;
  std::size_t bytes = 0;  // bytes that these refer to, for those who count bytes
};

/// store(i, load(i)) for the elements i of the parameter that are among `count` of the block from
/// `begin` on.
template <class Team, class Load, class Store>
TY_HD void move_elements(const Team& team, const PackedForm& form, std::int64_t begin,
                         std::int64_t count, const Load& load, const Store& store) {
  const std::int64_t at = begin - form.first, left = form.elements - at;
  const std::int64_t n = left < count ? left : count;
  team.each(n < kTeamLanes ? n : kTeamLanes, [&](std::int64_t lane) {
    add_of_lane(
        lane, n, [&](std::int64_t i) { return load(at + i); },
        [&](std::int64_t i, float value) { store(at + i, value); });
  });
}

/// Writes `count` elements of the block `gradients` from `begin` on, as they are in the first form
/// of their parameter, if it has one.
template <class T, class Team>
TY_HD void unpack_elements(const Team& team, const PackedTable& table, std::int32_t parameter,
                           std::int64_t begin, std::int64_t count, T* gradients) {
  if (table.forms == nullptr || table.forms[parameter].form[0].data == nullptr) return;
  const PackedForm from = table.forms[parameter].form[0];
  T* const to = gradients + from.first;
  move_elements(
      team, from, begin, count, [&](std::int64_t i) { return from.read(i); },
      [&](std::int64_t i, float value) { to[i] = static_cast<T>(value); });
}

/// The reverse, to all forms of a parameter.
template <class T, class Team>
TY_HD void pack_elements(const Team& team, const PackedTable& table, std::int32_t parameter,
                         std::int64_t begin, std::int64_t count, const T* weights) {
  if (table.forms == nullptr) return;
  for (int which = 0; which < 2; ++which) {
    const PackedForm form = table.forms[parameter].form[which];
    if (form.data == nullptr) return;
    const T* const from = weights + form.first;
    move_elements(
        team, form, begin, count, [&](std::int64_t i) { return static_cast<float>(from[i]); },
        [&](std::int64_t i, float value) { form.write(i, value); });
  }
}

}  // namespace trainyard
