// Test-time augmentation: views of a sample's image, whose outputs are averaged.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "config/fields.h"
#include "data/feed/feeder.h"

namespace trainyard {

/// Which views: the image; it and its mirror image; airbench's six (Jordan 2024, arXiv 2404.00498,
/// infer_mirror_translate): those two, a quarter of the mean each, and both ways one pixel further
/// along each diagonal, an eighth each.
enum class ViewSet { none, flip, shifts };
[[nodiscard]] constexpr config::Words<ViewSet> words(ViewSet) { return {"none", "flip", "shifts"}; }

struct View {
  bool mirrored = false;   // left-right, of what is shifted
  std::int64_t shift = 0;  // pixels that rows and columns are read further on; beyond the edge the
                           // image is reflected without the edge itself (PyTorch's `reflect`)
  double weight = 1;       // in the mean
};
/// The views of each sample, in the order of the sum; weights add up to 1.
[[nodiscard]] std::span<const View> views_of(ViewSet set);

/// Throws Error{command_line} for views of samples that are no images: `image` is [c, h, w].
void require_images(ViewSet set, const Shape& image);

/// Makes the views of a batch's images, of [c, h, w] each.
class ViewMaker {
 public:
  explicit ViewMaker(const Shape& image) : image_(image) {}
  /// `batch` as `view` sees it; valid until the next call.
  [[nodiscard]] Batch view(const Batch& batch, const View& view);

 private:
  Shape image_;
  std::vector<float> seen_;
};

/// The mean over views of a batch's outputs, in double, rounded once.
class ViewMean {
 public:
  explicit ViewMean(ViewSet set) : views_(views_of(set)) {}
  /// Adds the outputs of the next view. The mean, if it was the batch's last one.
  [[nodiscard]] std::optional<std::vector<float>> add(std::span<const float> outputs);

 private:
  std::span<const View> views_;
  std::size_t next_ = 0;
  std::vector<double> sum_;
};

}  // namespace trainyard
