// The steps of convolutions that NarrowConv computes.
#pragma once

#include <cstdint>

#include "compute/channel_rows.h"
#include "compute/conv/conv_step.h"
#include "compute/conv/narrow/narrow_conv.h"

namespace trainyard {

/// True for the output or the gradient of the input of a convolution of 16 channels to 16, padding
/// included, in 16 bits: 3x3, stride 1, padding 1, neither dilated nor in groups.
[[nodiscard]] inline bool is_narrow(const ConvStep& step, DType storage) {
  const ConvAttributes& conv = step.attributes;
  const Layout &input = step.maps.input, &output = step.maps.output;
  const auto one = [](const auto& hw) { return hw.h == 1 && hw.w == 1; };
  const auto suits = [](const Layout& map) {
    const ChannelRows rows(map);
    return rows.padded == kNarrowChannels && rows.channel_stride == 1 && rows.even &&
           rows.pixel_stride == kNarrowChannels && rows.count < (1 << 30);
  };
  return step.computes != ConvProduct::weight_gradient &&
         (storage == DType::bf16 || storage == DType::f16) && conv.kernel.h == 3 &&
         conv.kernel.w == 3 && one(conv.stride) && one(conv.dilation) && conv.groups == 1 &&
         step.margins.top == 1 && step.margins.left == 1 && input.extent[2] == output.extent[2] &&
         input.extent[3] == output.extent[3] && suits(input) && suits(output);
}

/// Launches such a step; `weight` is packed.
template <class T, class Launcher>
void run_narrow(const Launcher& launcher, const ConvStep& step, const void* from,
                const void* weight, void* to) {
  const bool to_input = step.computes == ConvProduct::input_gradient;
  const Layout& read = to_input ? step.maps.output : step.maps.input;
  const std::int64_t pixels = ChannelRows(read).count;
  const NarrowMaps<T> maps{.height = static_cast<std::uint32_t>(read.extent[2]),
                           .width = static_cast<std::uint32_t>(read.extent[3]),
                           .pixels = static_cast<std::uint32_t>(pixels),
                           .from = static_cast<const T*>(from),
                           .weight = static_cast<const T*>(weight),
                           .to = static_cast<T*>(to)};
  const std::int64_t rows = (pixels + kNarrowPixels - 1) / kNarrowPixels;
  if (to_input) {
    step.form.adds_gradient ? launcher.rows(rows, NarrowConv<T, true, true>{maps})
                            : launcher.rows(rows, NarrowConv<T, true, false>{maps});
  } else {
    step.form.adds_gradient ? launcher.rows(rows, NarrowConv<T, false, true>{maps})
                            : launcher.rows(rows, NarrowConv<T, false, false>{maps});
  }
}

}  // namespace trainyard
