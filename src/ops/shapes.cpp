#include "ops/shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "ops/expect.h"
#include "ops/window.h"

namespace trainyard {

namespace {

using Mode = UpsampleAttributes::Mode;

}  // namespace

Signature UpsampleOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_images(input);
  return {.outputs = {{input.n(), input.c(), size_product({input.h(), values().size.h}),
                       size_product({input.w(), values().size.w})}}};
}

std::string UpsampleOp::attributes() const {
  return fmt::format("{{size: {}, mode: {}}}", text_of(values().size),
                     config::word_of(values().mode));
}

void declare(config::Fields& fields, UpsampleAttributes& upsample) {
  fields.field("size", upsample.size, "factor of the map's size; one number or [h, w]",
               {.minimum = 1, .maximum = kLargestWindow});
  fields.field("mode", upsample.mode, "nearest or bilinear");
}

namespace {

using ShiftKind = ShiftAttributes::Kind;

/// The axis of a shape.
int index_of(MapAxis axis) { return 1 + static_cast<int>(axis); }

std::string_view name_of(MapAxis axis) { return config::word_of(axis); }

/// `pad: 1`, `pad: {size: [1, 2]}` (height, width), `pad: {top: 1, right: 2}`.
void declare_margins(config::Fields& fields, Margins& margins, const char* help) {
  constexpr config::Limits kLimits{.minimum = 0, .maximum = kLargestWindow};
  config::Pair size{0, 0};
  fields.field("size", size, help, kLimits);
  margins = {.top = size.h, .left = size.w, .bottom = size.h, .right = size.w};
  fields.field("top", margins.top, "rows above the map, by default the size's", kLimits);
  fields.field("bottom", margins.bottom, "rows below the map", kLimits);
  fields.field("left", margins.left, "columns to the left", kLimits);
  fields.field("right", margins.right, "columns to the right", kLimits);
}

OpPtr read_pad(config::Fields& fields) {
  ShiftAttributes attributes;
  attributes.kind = ShiftKind::pad;
  declare_margins(fields, attributes.margins, "pixels added on each side; one number or [h, w]");
  fields.field("value", attributes.value, "value of the added pixels");
  constexpr config::Limits kLimits{.minimum = 0, .maximum = kMostChannels};
  fields.field("front", attributes.front, "channels added before the map's", kLimits);
  fields.field("back", attributes.back, "channels added after the map's", kLimits);
  return std::make_unique<ShiftOp>(attributes);
}

OpPtr read_crop(config::Fields& fields) {
  ShiftAttributes attributes;
  attributes.kind = ShiftKind::crop;
  declare_margins(fields, attributes.margins, "pixels removed on each side; one number or [h, w]");
  return std::make_unique<ShiftOp>(attributes);
}

OpPtr read_slice(config::Fields& fields) {
  ShiftAttributes attributes;
  attributes.kind = ShiftKind::slice;
  fields.required("begin", attributes.begin, "the first element; below 0: counted from the end",
                  {.minimum = -kMostChannels, .maximum = kMostChannels});
  fields.field("end", attributes.end, "one past the last element; 0 or below: counted from the end",
               {.minimum = -kMostChannels, .maximum = kMostChannels});
  fields.field("axis", attributes.axis, "channels, height or width");
  fields.field("step", attributes.step, "takes every step-th element, from the first on",
               {.minimum = 1, .maximum = kMostChannels});
  return std::make_unique<ShiftOp>(attributes);
}

}  // namespace

ShiftOp::Origin ShiftOp::origin_in(const Shape& input) const {
  const Margins& margins = values().margins;
  switch (values().kind) {
    case ShiftKind::pad:
      return {.c = -values().front, .h = -margins.top, .w = -margins.left};
    case ShiftKind::crop:
      return {.h = margins.top, .w = margins.left};
    case ShiftKind::slice:
      break;
  }
  const std::int64_t first = range_in(input).first;
  const MapAxis axis = values().axis;
  return {.c = axis == MapAxis::channels ? first : 0,
          .h = axis == MapAxis::height ? first : 0,
          .w = axis == MapAxis::width ? first : 0};
}

ShiftOp::Range ShiftOp::range_in(const Shape& input) const {
  const std::int64_t extent = input[index_of(values().axis)];
  const std::int64_t begin = values().begin, end = values().end;
  return {begin < 0 ? extent + begin : begin, end <= 0 ? extent + end : end};
}

Shape ShiftOp::sliced(const Shape& input) const {
  require_features_or_images(input);
  const int axis = index_of(values().axis);
  if (values().axis != MapAxis::channels) require_images(input);
  const Range range = range_in(input);
  if (range.first < 0 || range.last > input[axis] || range.first >= range.last) {
    throw ShapeError(fmt::format("takes {} {} to {} of {}; expected at least one, all inside",
                                 name_of(values().axis), range.first, range.last, input[axis]));
  }
  return input.with(axis, (range.last - range.first + values().step - 1) / values().step);
}

Shape ShiftOp::with_margins(const Shape& input) const {
  require_images(input);
  const Margins& margins = values().margins;
  const std::int64_t sign = values().kind == ShiftKind::pad ? 1 : -1;
  const std::int64_t height = input.h() + sign * (margins.top + margins.bottom);
  const std::int64_t width = input.w() + sign * (margins.left + margins.right);
  if (height < 1 || width < 1) {
    throw ShapeError(fmt::format("removes {} rows and {} columns, and the map has {} by {}",
                                 margins.top + margins.bottom, margins.left + margins.right,
                                 input.h(), input.w()));
  }
  const std::int64_t channels = input.c() + values().front + values().back;
  return input.with(1, channels).with(2, height).with(3, width);
}

Signature ShiftOp::infer(std::span<const Shape> inputs) const {
  return {
      .outputs = {values().kind == ShiftKind::slice ? sliced(inputs[0]) : with_margins(inputs[0])}};
}

std::string ShiftOp::attributes() const {
  if (values().kind == ShiftKind::slice) {
    return fmt::format("{{begin: {}, end: {}, axis: {}{}}}", values().begin, values().end,
                       name_of(values().axis),
                       values().step == 1 ? "" : ", step: " + number_text(values().step));
  }
  const Margins& margins = values().margins;
  std::string out = fmt::format("{{top: {}, bottom: {}, left: {}, right: {}", margins.top,
                                margins.bottom, margins.left, margins.right);
  if (values().kind == ShiftKind::pad) out += ", value: " + number_text(values().value);
  if (values().front + values().back > 0) {
    out += fmt::format(", front: {}, back: {}", values().front, values().back);
  }
  return out + "}";
}

namespace {

constexpr std::string_view kAxisNames = "chw";

/// The order that "c", "h" and "w" name, each once.
std::optional<AxisOrder> order_of(const std::vector<std::string>& axes) {
  if (axes.size() != 3) return std::nullopt;
  AxisOrder order{};
  std::array<bool, 3> found{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t axis = axes[i].size() == 1 ? kAxisNames.find(axes[i][0]) : 3;
    if (axis >= 3 || found[axis]) return std::nullopt;
    found[axis] = true;
    order[i] = static_cast<int>(axis);
  }
  return order;
}

OpPtr read_permute(config::Fields& fields) {
  std::vector<std::string> axes{"c", "h", "w"};
  fields.rest("axes", axes, "the input's axes in the order of the output: c, h and w, each once");
  const std::optional<AxisOrder> order = order_of(axes);
  if (!order || !fields.given("axes")) {
    fields.error("axes", "expected c, h and w in some order, each once: permute: [h, w, c]");
  }
  return std::make_unique<PermuteOp>(order.value_or(AxisOrder{0, 1, 2}));
}

}  // namespace

AxisOrder PermuteOp::inverse() const {
  AxisOrder inverse{};
  for (int i = 0; i < 3; ++i) inverse[static_cast<std::size_t>(order_[i])] = i;
  return inverse;
}

Signature PermuteOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_images(input);
  return {
      .outputs = {{input.n(), input[1 + order_[0]], input[1 + order_[1]], input[1 + order_[2]]}}};
}

std::string PermuteOp::attributes() const {
  return fmt::format("{{axes: [{}, {}, {}]}}", kAxisNames[order_[0]], kAxisNames[order_[1]],
                     kAxisNames[order_[2]]);
}

namespace {

/// One or three extents of at least 1, of which one may be -1.
bool are_extents(const std::vector<std::int64_t>& extents) {
  if (extents.size() != 1 && extents.size() != 3) return false;
  const bool known =
      std::ranges::all_of(extents, [](std::int64_t extent) { return extent == -1 || extent > 0; });
  return known && std::ranges::count(extents, -1) <= 1;
}

OpPtr read_reshape(config::Fields& fields) {
  std::vector<std::int64_t> extents;
  fields.rest("shape", extents, "[features] or [channels, height, width]; -1: what is left over",
              {.minimum = -1, .maximum = kMostChannels});
  if (!are_extents(extents)) {
    fields.error("shape",
                 "expected [features] or [channels, height, width], at most one of them "
                 "-1, the others at least 1");
    extents = {-1};
  }
  return std::make_unique<ReshapeOp>(std::move(extents));
}

}  // namespace

Signature ReshapeOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_features_or_images(input);
  const std::int64_t values = size_product({input.c(), input.h(), input.w()});
  std::vector<std::int64_t> extents = extents_;
  std::int64_t known = 1;
  for (const std::int64_t extent : extents) {
    if (extent > 0) known = size_product({known, extent});
  }
  const auto open = std::ranges::find(extents, -1);
  if (open != extents.end() && values % known == 0) {
    *open = values / known;
    known = values;
  }
  if (known != values) {
    throw ShapeError(fmt::format("cannot reshape {} values per sample of {} to [{}]", values,
                                 input.text(), fmt::join(extents_, ", ")));
  }
  return {.outputs = {extents.size() == 1 ? Shape{input.n(), extents[0]}
                                          : Shape{input.n(), extents[0], extents[1], extents[2]}}};
}

std::string ReshapeOp::attributes() const {
  return fmt::format("{{shape: [{}]}}", fmt::join(extents_, ", "));
}

Signature FlattenOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_features_or_images(input);
  return {.outputs = {{input.n(), input.c() * input.h() * input.w()}}};
}

Contract FlattenOp::contract() const {
  return {.alias_forward = true, .layouts = Contract::Layouts::plain};
}

Signature OneHotOp::infer(std::span<const Shape> inputs) const {
  const Shape& tokens = inputs[0];
  require_tokens("one_hot", tokens);
  return {.outputs = {{tokens.n(), vocabulary_, 1, tokens.c()}}};
}

std::string OneHotOp::attributes() const {
  return "{vocabulary: " + std::to_string(vocabulary_) + "}";
}

namespace {

OpPtr read_one_hot(config::Fields& fields) {
  std::int64_t vocabulary = 1;
  declare_vocabulary(fields, vocabulary);
  return std::make_unique<OneHotOp>(vocabulary);
}

}  // namespace

std::span<const config::Kind<Op>> shape_kinds() {
  static const config::Kind<Op> kinds[] = {
      {"upsample", "larger maps by whole factors", &read_op<UpsampleOp, UpsampleAttributes>},
      {"pad", "a margin of one value around each map", &read_pad},
      {"crop", "each map without its margins", &read_crop},
      {"slice", "neighbouring channels, rows or columns", &read_slice},
      {"permute", "channels, height and width in another order", &read_permute},
      {"reshape", "the same values in another shape, row-major", &read_reshape},
      {"flatten", "images to features, row-major", &read_plain_op<FlattenOp>},
      {"one_hot", "each token as zeros with a 1 at its place", &read_one_hot},
  };
  return kinds;
}

}  // namespace trainyard
