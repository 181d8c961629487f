#include "plan/target.h"

#include "base/error.h"

namespace trainyard {
namespace {

/// The vector load of a GPU thread, and the alignment that cuDNN's engines require.
constexpr std::int64_t kVectorBytes = 16;
/// Enough for the largest engines of convolutions' weight gradients, which store partial sums, and
/// far below the size of the maps of such a network.
constexpr std::size_t kCudaWorkspaceCap = std::size_t{256} << 20;

}  // namespace

std::string_view name_of(Precision precision) {
  static constexpr std::string_view kNames[] = {"fp32", "tf32", "bf16", "fp16", "fp64"};
  return kNames[static_cast<std::size_t>(precision)];
}

DType storage_of(Precision precision) {
  static constexpr DType kTypes[] = {DType::f32, DType::f32, DType::bf16, DType::f16, DType::f64};
  return kTypes[static_cast<std::size_t>(precision)];
}

Layout Target::map_layout(const Shape& shape) const {
  if (shape.rank() < 4) return plain_layout(shape);
  switch (maps) {
    case Maps::blocked:
      return blocked_layout(shape, channel_multiple);
    case Maps::channels_last:
      return channels_last_layout(shape, channel_multiple);
    case Maps::plain:
      break;
  }
  return plain_layout(shape);
}

Target cpu_target(bool avx512, Precision precision) {
  return {
      .name = "cpu",
      .storage = storage_of(precision),
      .maps = Target::Maps::blocked,
      .channel_multiple = avx512 ? 16 : 8,
      .can = Cans(kEveryTargetCan).set(Can::take_relu).set(Can::add_gradient).set(Can::recompute)};
}

Target reference_target(Precision precision) {
  return {
      .name = "reference", .storage = storage_of(precision), .tf32 = precision == Precision::tf32};
}

Target cuda_target(Precision precision) {
  TY_CHECK(precision != Precision::fp64, "the CUDA target has no fp64");
  const DType storage = storage_of(precision);
  return {.name = "cuda",
          .storage = storage,
          .tf32 = precision == Precision::tf32,
          .maps = Target::Maps::channels_last,
          .channel_multiple = kVectorBytes / static_cast<std::int64_t>(size_of(storage)),
          .maps_input = true,
          .packs_weights = true,
          .can = Cans(kEveryTargetCan)
                     .set(Can::take_relu)
                     .set(Can::sum_bias)
                     .set(Can::merge_launches)
                     .set(Can::add_gradient)
                     .set(Can::join_siblings)
                     .set(Can::use_side_queue),
          .workspace_cap = kCudaWorkspaceCap};
}

}  // namespace trainyard
