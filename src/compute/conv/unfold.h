// The windows of a convolution as rows of a matrix, and back.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "compute/conv/conv_step.h"

namespace trainyard::reference {

/// The windows of a convolution over one plain image [c, h, w].
struct WindowWalk {
  std::int64_t channels, height, width;  // the input's
  std::int64_t out_height, out_width;    // the output's
  std::int64_t kernel_h, kernel_w;
  std::int64_t stride_h, stride_w;
  std::int64_t dilation_h, dilation_w;
  std::int64_t top, left;  // padding

  [[nodiscard]] std::int64_t taps() const { return channels * kernel_h * kernel_w; }
  TY_HD std::int64_t positions() const { return out_height * out_width; }
  [[nodiscard]] std::int64_t image_elements() const { return channels * height * width; }

  /// The first and one past the last column of the output whose tap at kernel column `kw` is
  /// inside the input.
  TY_HD void columns(std::int64_t kw, std::int64_t& first, std::int64_t& last) const {
    const std::int64_t shift = kw * dilation_w - left;  // input column = ow * stride + shift
    first = shift >= 0 ? 0 : (-shift + stride_w - 1) / stride_w;
    last = shift >= width ? 0 : (width - 1 - shift) / stride_w + 1;
    last = last < out_width ? last : out_width;
    first = first < last ? first : last;
  }
};

/// The windows of a convolution in the plan.
[[nodiscard]] inline WindowWalk window_walk(const ConvStep& step) {
  const ConvAttributes& conv = step.attributes;
  const Shape input = shape_of(step.maps.input), output = shape_of(step.maps.output);
  return {.channels = input.c(),
          .height = input.h(),
          .width = input.w(),
          .out_height = output.h(),
          .out_width = output.w(),
          .kernel_h = conv.kernel.h,
          .kernel_w = conv.kernel.w,
          .stride_h = conv.stride.h,
          .stride_w = conv.stride.w,
          .dilation_h = conv.dilation.h,
          .dilation_w = conv.dilation.w,
          .top = step.margins.top,
          .left = step.margins.left};
}

/// matrix[tap][position] = the input under that tap, 0 in the padding. A row is a tap (c, kh, kw).
template <class T>
struct Unfold {
  WindowWalk walk;
  const T* image;
  T* matrix;

  template <class Team>
  TY_HD void operator()(const Team&, std::int64_t tap) const {
    const std::int64_t kw = tap % walk.kernel_w, kh = tap / walk.kernel_w % walk.kernel_h;
    const T* plane = image + tap / (walk.kernel_w * walk.kernel_h) * walk.height * walk.width;
    T* row = matrix + tap * walk.positions();
    std::int64_t first, last;
    walk.columns(kw, first, last);
    for (std::int64_t oh = 0; oh < walk.out_height; ++oh, row += walk.out_width) {
      const std::int64_t h = oh * walk.stride_h + kh * walk.dilation_h - walk.top;
      const bool inside = h >= 0 && h < walk.height;
      const T* line = plane + h * walk.width + kw * walk.dilation_w - walk.left;
      for (std::int64_t ow = 0; ow < walk.out_width; ++ow) {
        row[ow] = inside && ow >= first && ow < last ? line[ow * walk.stride_w] : T(0);
      }
    }
  }
};

/// The sums of matrix[tap][position] for the input under that tap, taps in order, from its bias on.
/// A row is a channel.
template <class T>
struct Fold {
  WindowWalk walk;
  const T* matrix;
  T* image;
  const T* bias;  // [channels], or null: 0

  template <class Team>
  TY_HD void operator()(const Team&, std::int64_t channel) const {
    T* plane = image + channel * walk.height * walk.width;
    const T start = bias == nullptr ? T(0) : bias[channel];
    for (std::int64_t i = 0; i < walk.height * walk.width; ++i) plane[i] = start;
    for (std::int64_t kh = 0; kh < walk.kernel_h; ++kh) {
      for (std::int64_t kw = 0; kw < walk.kernel_w; ++kw) {
        const std::int64_t tap = (channel * walk.kernel_h + kh) * walk.kernel_w + kw;
        add_tap(plane, matrix + tap * walk.positions(), kh, kw);
      }
    }
  }

 private:
  TY_HD void add_tap(T* plane, const T* row, std::int64_t kh, std::int64_t kw) const {
    std::int64_t first, last;
    walk.columns(kw, first, last);
    for (std::int64_t oh = 0; oh < walk.out_height; ++oh, row += walk.out_width) {
      const std::int64_t h = oh * walk.stride_h + kh * walk.dilation_h - walk.top;
      if (h < 0 || h >= walk.height) continue;
      T* line = plane + h * walk.width + kw * walk.dilation_w - walk.left;
      for (std::int64_t ow = first; ow < last; ++ow) line[ow * walk.stride_w] += row[ow];
    }
  }
};

}  // namespace trainyard::reference
