// Random crops of the padded image.
#pragma once

#include <optional>

#include "data/augment/warp.h"

namespace trainyard {

struct PadCropOptions {
  std::int64_t pad = 4;              // pixels on each side
  double value = 0;                  // of constant padding, before preprocessing
  Fill fill = Fill::constant;        // how the padding is made
  std::optional<config::Pair> size;  // of the crop; the input's size if empty
};
void declare(config::Fields& fields, PadCropOptions& options);

/// Pads on all sides and cuts a window at one of the (h + 2 pad - size + 1) positions of each axis,
/// all equally likely (words 0, y, and 1, x, of the draw). Evaluation takes the centre, or the
/// upper left of two central positions.
class PadCrop final : public Augmentation {
 public:
  static constexpr std::string_view kName = "pad_crop";
  static constexpr std::string_view kHelp =
      "random crop of the padded image; the centre in evaluation";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  explicit PadCrop(PadCropOptions options) : options_(options) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  [[nodiscard]] SpatialStep step(const SampleKey& key, std::uint32_t draw,
                                 const Shape& shape) const override;
  [[nodiscard]] SpatialStep eval_step(const Shape& shape) const override;

 private:
  /// The upper left corner in the padded image.
  struct Corner {
    std::int64_t y = 0;
    std::int64_t x = 0;
  };
  /// The largest corner: positions along each axis, minus one.
  [[nodiscard]] Corner last_corner(const Shape& shape) const;
  [[nodiscard]] SpatialStep crop(const Corner& corner, const Shape& shape) const;

  PadCropOptions options_;
};

}  // namespace trainyard
