// Windows that slide over h and w: padding words, margins and output sizes.
#pragma once

#include <cstdint>
#include <string>

#include "config/fields.h"
#include "tensor/shape.h"

namespace trainyard {

/// Limits on kernel, stride, dilation and padding, and on channels of a layer: far above practical
/// sizes and far below overflow of their products.
inline constexpr double kLargestWindow = 65'536;
inline constexpr double kMostChannels = 1 << 24;

/// How an input is padded: given in pixels, or by a word.
struct Padding {
  enum class Kind {
    pixels,          // `amount`, symmetric (Caffe, MXNet, torch)
    valid,           // none
    same_upper,      // out = ceil(in / stride), the odd pixel after (Keras on TensorFlow)
    same_lower,      // the odd pixel before (Keras-MXNet)
    same_symmetric,  // ((k - 1) * dilation) / 2 on both sides
  };
  Kind kind = Kind::valid;
  config::Pair amount{0, 0};  // kind pixels
  bool operator==(const Padding&) const = default;
};

/// Pixels added on each side. Pooling in ceil mode may need more after the input than the
/// attributes say.
struct Margins {
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;
  bool operator==(const Margins&) const = default;
};

/// One axis of a window.
struct WindowAxis {
  std::int64_t input = 1, kernel = 1, stride = 1, dilation = 1;
};

/// Pixels before and after, and the number of windows. `ceil` rounds the last window up (Caffe and
/// MXNet-full pooling); a window that would start outside the padded input is dropped.
struct AxisSplit {
  std::int64_t before = 0, after = 0, output = 0;
  std::int64_t written_after = 0;  // from the attributes: `after` minus what ceil mode adds
};
/// Throws ShapeError if no window fits.
[[nodiscard]] AxisSplit plan_axis(const WindowAxis& axis, Padding::Kind kind, std::int64_t amount,
                                  bool ceil = false);

/// The axis of a transposed convolution: `axis.input` windows, spread over `output` pixels, of
/// which `before` and `after` are cut off. Pixels and same_symmetric give PyTorch's (input - 1) *
/// stride - 2 * amount + (kernel - 1) * dilation + output_pad + 1; valid no less than Keras's input
/// * stride; same_upper and same_lower input * stride. A convolution with these margins over the
/// output has `input` windows again if output_pad < stride. Throws ShapeError if no pixel is left,
/// or if output_pad is not 0 with same_upper or same_lower.
[[nodiscard]] AxisSplit plan_transposed_axis(const WindowAxis& axis, Padding::Kind kind,
                                             std::int64_t amount, std::int64_t output_pad);

/// A window over both axes.
struct Window {
  config::Pair size, stride, dilation;
};
struct WindowSplit {
  AxisSplit h, w;
  [[nodiscard]] Margins margins() const { return {h.before, w.before, h.after, w.after}; }
};
/// Plans both axes of images [n, c, h, w]. Throws ShapeError ("height: ...") if no window fits.
[[nodiscard]] WindowSplit plan_window(const Shape& images, const Window& window,
                                      const Padding& padding, bool ceil = false);

/// The same for transposed windows.
[[nodiscard]] WindowSplit plan_transposed_window(const Shape& images, const Window& window,
                                                 const Padding& padding,
                                                 const config::Pair& output_pad);

/// `pad: 1`, `pad: [1, 2]`, `pad: same_upper`.
void declare_padding(config::Fields& fields, std::string_view key, Padding& out,
                     std::string_view help);
/// As it would be written.
[[nodiscard]] std::string text_of(const Padding& padding);
/// "[3, 3]".
[[nodiscard]] std::string text_of(const config::Pair& pair);

}  // namespace trainyard
