#include "plan/target.h"

namespace trainyard {

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

Target cpu_target(bool avx512) {
  return {.name = "cpu",
          .type = DType::f32,
          .maps = Target::Maps::blocked,
          .channel_multiple = avx512 ? 16 : 8};
}

Target reference_target(DType type) { return {.name = "reference", .type = type}; }

}  // namespace trainyard
