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
AxisPlan plan_same(const WindowAxis& axis, bool upper) {
  AxisPlan plan;
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

AxisPlan plan_margin(const WindowAxis& axis, std::int64_t margin, bool ceil) {
  AxisPlan plan{.before = margin, .after = margin, .written_after = margin};
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

AxisPlan plan_named_axis(std::string_view name, const WindowAxis& axis, Padding::Kind kind,
                         std::int64_t amount, bool ceil) {
  try {
    return plan_axis(axis, kind, amount, ceil);
  } catch (const ShapeError& error) {
    throw ShapeError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace

AxisPlan plan_axis(const WindowAxis& axis, Padding::Kind kind, std::int64_t amount, bool ceil) {
  switch (kind) {
    case Padding::Kind::pixels:
      return plan_margin(axis, amount, ceil);
    case Padding::Kind::valid:
      return plan_margin(axis, 0, ceil);
    case Padding::Kind::same_upper:
      return plan_same(axis, true);
    case Padding::Kind::same_lower:
      return plan_same(axis, false);
    case Padding::Kind::same_symmetric:
      return plan_margin(axis, (axis.kernel - 1) * axis.dilation / 2, ceil);
  }
  return {};
}

WindowPlan plan_window(const Shape& images, const Window& window, const Padding& padding,
                       bool ceil) {
  const WindowAxis h{images.h(), window.size.h, window.stride.h, window.dilation.h};
  const WindowAxis w{images.w(), window.size.w, window.stride.w, window.dilation.w};
  return {plan_named_axis("height", h, padding.kind, padding.amount.h, ceil),
          plan_named_axis("width", w, padding.kind, padding.amount.w, ceil)};
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
