#include "ops/shift.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/text.h"
#include "ops/expect.h"

namespace trainyard {
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

std::unique_ptr<Op> read_pad(config::Fields& fields) {
  ShiftAttributes attributes;
  attributes.kind = ShiftKind::pad;
  declare_margins(fields, attributes.margins, "pixels added on each side; one number or [h, w]");
  fields.field("value", attributes.value, "value of the added pixels");
  return std::make_unique<ShiftOp>(attributes);
}

std::unique_ptr<Op> read_crop(config::Fields& fields) {
  ShiftAttributes attributes;
  attributes.kind = ShiftKind::crop;
  declare_margins(fields, attributes.margins, "pixels removed on each side; one number or [h, w]");
  return std::make_unique<ShiftOp>(attributes);
}

std::unique_ptr<Op> read_slice(config::Fields& fields) {
  ShiftAttributes attributes;
  attributes.kind = ShiftKind::slice;
  fields.required("begin", attributes.begin, "the first element; below 0: counted from the end",
                  {.minimum = -kMostChannels, .maximum = kMostChannels});
  fields.field("end", attributes.end, "one past the last element; 0 or below: counted from the end",
               {.minimum = -kMostChannels, .maximum = kMostChannels});
  fields.field("axis", attributes.axis, "channels, height or width");
  return std::make_unique<ShiftOp>(attributes);
}

}  // namespace

std::string_view ShiftOp::type() const {
  switch (attributes_.kind) {
    case ShiftKind::pad:
      return "pad";
    case ShiftKind::crop:
      return "crop";
    case ShiftKind::slice:
      break;
  }
  return "slice";
}

ShiftOp::Origin ShiftOp::origin_in(const Shape& input) const {
  const Margins& margins = attributes_.margins;
  switch (attributes_.kind) {
    case ShiftKind::pad:
      return {.h = -margins.top, .w = -margins.left};
    case ShiftKind::crop:
      return {.h = margins.top, .w = margins.left};
    case ShiftKind::slice:
      break;
  }
  const std::int64_t first = range_in(input).first;
  const MapAxis axis = attributes_.axis;
  return {.c = axis == MapAxis::channels ? first : 0,
          .h = axis == MapAxis::height ? first : 0,
          .w = axis == MapAxis::width ? first : 0};
}

ShiftOp::Range ShiftOp::range_in(const Shape& input) const {
  const std::int64_t extent = input[index_of(attributes_.axis)];
  const std::int64_t begin = attributes_.begin, end = attributes_.end;
  return {begin < 0 ? extent + begin : begin, end <= 0 ? extent + end : end};
}

Shape ShiftOp::sliced(const Shape& input) const {
  require_features_or_images(input);
  const int axis = index_of(attributes_.axis);
  if (attributes_.axis != MapAxis::channels) require_images(input);
  const Range range = range_in(input);
  if (range.first < 0 || range.last > input[axis] || range.first >= range.last) {
    throw ShapeError(fmt::format("takes {} {} to {} of {}; expected at least one, all inside",
                                 name_of(attributes_.axis), range.first, range.last, input[axis]));
  }
  return input.with(axis, range.last - range.first);
}

Shape ShiftOp::with_margins(const Shape& input) const {
  require_images(input);
  const Margins& margins = attributes_.margins;
  const std::int64_t sign = attributes_.kind == ShiftKind::pad ? 1 : -1;
  const std::int64_t height = input.h() + sign * (margins.top + margins.bottom);
  const std::int64_t width = input.w() + sign * (margins.left + margins.right);
  if (height < 1 || width < 1) {
    throw ShapeError(fmt::format("removes {} rows and {} columns, and the map has {} by {}",
                                 margins.top + margins.bottom, margins.left + margins.right,
                                 input.h(), input.w()));
  }
  return input.with(2, height).with(3, width);
}

Signature ShiftOp::infer(std::span<const Shape> inputs) const {
  Signature signature;
  signature.outputs = {attributes_.kind == ShiftKind::slice ? sliced(inputs[0])
                                                            : with_margins(inputs[0])};
  return signature;
}

std::string ShiftOp::attributes() const {
  if (attributes_.kind == ShiftKind::slice) {
    return fmt::format("{{begin: {}, end: {}, axis: {}}}", attributes_.begin, attributes_.end,
                       name_of(attributes_.axis));
  }
  const Margins& margins = attributes_.margins;
  std::string out = fmt::format("{{top: {}, bottom: {}, left: {}, right: {}", margins.top,
                                margins.bottom, margins.left, margins.right);
  if (attributes_.kind == ShiftKind::pad) out += ", value: " + number_text(attributes_.value);
  return out + "}";
}

config::Kind<Op> pad_kind() { return {"pad", "a margin of one value around each map", &read_pad}; }

config::Kind<Op> crop_kind() { return {"crop", "each map without its margins", &read_crop}; }

config::Kind<Op> slice_kind() {
  return {"slice", "neighbouring channels, rows or columns", &read_slice};
}

}  // namespace trainyard
