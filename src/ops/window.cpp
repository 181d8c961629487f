#include "ops/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "ops/op.h"

namespace trainyard {
namespace {

constexpr std::array<std::pair<Padding::Kind, std::string_view>, 4> kPaddingWords{{
    {Padding::Kind::valid, "valid"},
    {Padding::Kind::same_upper, "same_upper"},
    {Padding::Kind::same_lower, "same_lower"},
    {Padding::Kind::same_symmetric, "same_symmetric"},
}};

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Pixels under a window, holes of the dilation included.
std::int64_t reach(const WindowAxis& axis) { return (axis.kernel - 1) * axis.dilation + 1; }

/// Keras on TensorFlow; on MXNet the odd pixel is on the other side.
AxisSplit plan_same(const WindowAxis& axis, bool upper) {
  AxisSplit plan;
  plan.output = ceil_divide(axis.input, axis.stride);
  const std::int64_t total =
      std::max<std::int64_t>((plan.output - 1) * axis.stride + reach(axis) - axis.input, 0);
  const std::int64_t small = total / 2;
  plan.before = upper ? small : total - small;
  plan.after = plan.written_after = total - plan.before;
  return plan;
}

[[noreturn]] void window_too_large(const WindowAxis& axis, std::int64_t margin) {
  throw ShapeError(
      fmt::format("a window over {} pixels does not fit an input of {} with {} of "
                  "padding on each side",
                  reach(axis), axis.input, margin));
}

AxisSplit plan_margin(const WindowAxis& axis, std::int64_t margin, bool ceil) {
  AxisSplit plan{.before = margin, .after = margin, .written_after = margin};
  const std::int64_t room = axis.input + 2 * margin - reach(axis);
  if (room < 0 && !(ceil && room > -axis.stride)) window_too_large(axis, margin);
  if (!ceil) {
    plan.output = room / axis.stride + 1;
    return plan;
  }
  plan.output = room < 0 ? 1 : ceil_divide(room, axis.stride) + 1;
  // Caffe: a window that would start after the input sees only padding.
  while (plan.output > 1 && (plan.output - 1) * axis.stride >= axis.input + margin) --plan.output;
  plan.after =
      std::max(margin, (plan.output - 1) * axis.stride + reach(axis) - axis.input - margin);
  return plan;
}

/// `margin` pixels are cut off both sides.
AxisSplit cut_margin(const WindowAxis& axis, std::int64_t margin, std::int64_t output_pad) {
  const std::int64_t whole = (axis.input - 1) * axis.stride + reach(axis) + output_pad;
  if (whole > 2 * margin) return {margin, margin, whole - 2 * margin, margin};
  throw ShapeError(
      fmt::format("no pixel is left: {} are written and {} of padding are cut off "
                  "each side",
                  whole, margin));
}

/// Keras's 'same', transposed: the margins of the convolution over the output.
AxisSplit cut_same(WindowAxis axis, bool upper, std::int64_t output_pad) {
  if (output_pad != 0) {
    throw ShapeError(
        "'output_pad' needs a 'pad' in pixels: same_upper and same_lower give the "
        "input times the stride");
  }
  axis.input *= axis.stride;
  AxisSplit plan = plan_same(axis, upper);
  plan.output = axis.input;
  return plan;
}

/// plan(h) and plan(w), with the name of the axis in errors.
template <class Plan>
WindowSplit plan_axes(const Plan& plan) {
  const auto named = [&](std::string_view name, bool is_height) {
    try {
      return plan(is_height);
    } catch (const ShapeError& error) {
      throw ShapeError(fmt::format("{}: {}", name, error.what()));
    }
  };
  return {named("height", true), named("width", false)};
}

WindowAxis axis_of(const Shape& images, const Window& window, bool height) {
  return height ? WindowAxis{images.h(), window.size.h, window.stride.h, window.dilation.h}
                : WindowAxis{images.w(), window.size.w, window.stride.w, window.dilation.w};
}

/// True for padding that may be one pixel larger on one side.
bool is_uneven(Padding::Kind kind) {
  return kind == Padding::Kind::same_upper || kind == Padding::Kind::same_lower;
}

/// The pixels on each side of other padding; `amount`: of the kind `pixels`.
std::int64_t margin_of(const WindowAxis& axis, Padding::Kind kind, std::int64_t amount) {
  if (kind == Padding::Kind::same_symmetric) return (axis.kernel - 1) * axis.dilation / 2;
  return kind == Padding::Kind::pixels ? amount : 0;
}

}  // namespace

AxisSplit plan_axis(const WindowAxis& axis, Padding::Kind kind, std::int64_t amount, bool ceil) {
  if (is_uneven(kind)) return plan_same(axis, kind == Padding::Kind::same_upper);
  return plan_margin(axis, margin_of(axis, kind, amount), ceil);
}

WindowSplit plan_window(const Shape& images, const Window& window, const Padding& padding,
                        bool ceil) {
  return plan_axes([&](bool height) {
    return plan_axis(axis_of(images, window, height), padding.kind,
                     height ? padding.amount.h : padding.amount.w, ceil);
  });
}

AxisSplit plan_transposed_axis(const WindowAxis& axis, Padding::Kind kind, std::int64_t amount,
                               std::int64_t output_pad) {
  if (is_uneven(kind)) return cut_same(axis, kind == Padding::Kind::same_upper, output_pad);
  // As Keras: a window smaller than its step leaves the pixels behind it empty.
  if (kind == Padding::Kind::valid) output_pad = std::max(output_pad, axis.stride - reach(axis));
  return cut_margin(axis, margin_of(axis, kind, amount), output_pad);
}

WindowSplit plan_transposed_window(const Shape& images, const Window& window,
                                   const Padding& padding, const config::Pair& output_pad) {
  return plan_axes([&](bool height) {
    return plan_transposed_axis(axis_of(images, window, height), padding.kind,
                                height ? padding.amount.h : padding.amount.w,
                                height ? output_pad.h : output_pad.w);
  });
}

void declare_padding(config::Fields& fields, std::string_view key, Padding& out,
                     std::string_view help) {
  std::array<std::string_view, kPaddingWords.size()> words;
  std::optional<std::size_t> word;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = kPaddingWords[i].second;
    if (kPaddingWords[i].first == out.kind) word = i;
  }
  config::Pair amount = out.amount;
  fields.word_or_pair(key, word, amount, words, help, {.minimum = 0, .maximum = kLargestWindow});
  out = word ? Padding{kPaddingWords[*word].first, {0, 0}} : Padding{Padding::Kind::pixels, amount};
}

std::string text_of(const Padding& padding) {
  for (const auto& [kind, word] : kPaddingWords) {
    if (padding.kind == kind) return std::string(word);
  }
  if (padding.amount.h == padding.amount.w) return std::to_string(padding.amount.h);
  return text_of(padding.amount);
}

std::string text_of(const config::Pair& pair) { return fmt::format("[{}, {}]", pair.h, pair.w); }

}  // namespace trainyard
