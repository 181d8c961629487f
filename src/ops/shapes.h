// Values moved to other places: larger maps, margins, parts, permutations, new shapes, and tokens
// as vectors.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ops/op_with.h"
#include "ops/window.h"

namespace trainyard {

struct UpsampleAttributes {
  enum class Mode { nearest, bilinear } mode = Mode::nearest;
  config::Pair size{2, 2};  // factors
};

[[nodiscard]] constexpr config::Words<UpsampleAttributes::Mode> words(UpsampleAttributes::Mode) {
  return {"nearest", "bilinear"};
}

/// [n, c, h, w] to [n, c, h * size.h, w * size.w].
class UpsampleOp final : public OpWith<UpsampleAttributes> {
 public:
  using OpWith::OpWith;
  [[nodiscard]] std::string_view type() const override { return "upsample"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override { return {.layouts = Contract::Layouts::same}; }
  [[nodiscard]] std::string attributes() const override;
};

enum class MapAxis { channels, height, width };
[[nodiscard]] constexpr config::Words<MapAxis> words(MapAxis) {
  return {"channels", "height", "width"};
}

struct ShiftAttributes {
  enum class Kind { pad, crop, slice } kind = Kind::pad;
  Margins margins;                   // added by pad, removed by crop
  std::int64_t front = 0, back = 0;  // channels that pad adds before and after
  double value = 0;                  // value that pad adds
  MapAxis axis = MapAxis::channels;  // slice
  std::int64_t begin = 0;            // slice; below 0: from the end
  std::int64_t end = 0;              // slice; 0 or below: from the end
  std::int64_t step = 1;             // slice: every step-th element
};
[[nodiscard]] constexpr config::Words<ShiftAttributes::Kind> words(ShiftAttributes::Kind) {
  return {"pad", "crop", "slice"};
}

/// [n, c, h, w] to a smaller or larger map; slice also [n, c] to fewer channels. YAML names: pad,
/// crop, slice.
class ShiftOp final : public OpWith<ShiftAttributes> {
 public:
  using OpWith::OpWith;
  /// Where the output\'s first element is in the input.
  struct Origin {
    std::int64_t c = 0, h = 0, w = 0;
  };
  [[nodiscard]] Origin origin_in(const Shape& input) const;
  [[nodiscard]] std::string_view type() const override { return config::word_of(values().kind); }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    const bool of_channels =
        values().kind == ShiftAttributes::Kind::slice && values().axis == MapAxis::channels;
    return {.keeps_steps = of_channels, .layouts = Contract::Layouts::same};
  }
  [[nodiscard]] std::string attributes() const override;

 private:
  /// The first element of a slice along its axis, and one past the last.
  struct Range {
    std::int64_t first, last;
  };
  [[nodiscard]] Range range_in(const Shape& input) const;
  [[nodiscard]] Shape sliced(const Shape& input) const;
  [[nodiscard]] Shape with_margins(const Shape& input) const;
};

/// Which axis of the input (0: channels, 1: height, 2: width) each axis of the output is.
using AxisOrder = std::array<int, 3>;

/// [n, c, h, w] to the same values with channels, height and width in another order.
class PermuteOp final : public Op {
 public:
  explicit PermuteOp(const AxisOrder& order) : order_(order) {}
  [[nodiscard]] const AxisOrder& order() const { return order_; }
  [[nodiscard]] AxisOrder inverse() const;
  [[nodiscard]] std::string_view type() const override { return "permute"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override { return {.layouts = Contract::Layouts::same}; }
  [[nodiscard]] std::string attributes() const override;

 private:
  AxisOrder order_;
};

/// [n, ...] to [n, extents], row-major: one extent gives features, three give images. Values do not
/// move, so the planner aliases input and output; run() copies.
class ReshapeOp final : public Op {
 public:
  /// One or three extents; at most one is -1: what is left over.
  explicit ReshapeOp(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}
  [[nodiscard]] std::string_view type() const override { return "reshape"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.alias_forward = true, .layouts = Contract::Layouts::plain};
  }
  [[nodiscard]] std::string attributes() const override;

 private:
  std::vector<std::int64_t> extents_;
};

/// [n, c, h, w] to [n, c * h * w], row-major; features pass unchanged. Values do not move, so the
/// planner aliases input and output wherever both are plain; run() copies.
class FlattenOp final : public Op {
 public:
  [[nodiscard]] std::string_view type() const override { return "flatten"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
};

/// Tokens i32 [n, t] to the sequence [n, vocabulary, 1, t].
class OneHotOp final : public Op {
 public:
  explicit OneHotOp(std::int64_t vocabulary) : vocabulary_(vocabulary) {}
  [[nodiscard]] std::int64_t vocabulary() const { return vocabulary_; }
  [[nodiscard]] std::string_view type() const override { return "one_hot"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.vocabulary = vocabulary_, .keeps_steps = true, .layouts = Contract::Layouts::rows};
  }
  [[nodiscard]] std::string attributes() const override;

 private:
  std::int64_t vocabulary_;
};

/// The ops above, in the order of the reference.
[[nodiscard]] std::span<const config::Kind<Op>> shape_kinds();

}  // namespace trainyard
