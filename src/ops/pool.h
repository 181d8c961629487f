// Maximum and average pooling, over windows or over the whole map, and power-average pooling.
#pragma once

#include <string>

#include "ops/op_with.h"
#include "ops/window.h"

namespace trainyard {

struct PoolAttributes {
  enum class Kind { max, average, power } kind = Kind::max;
  bool global = false;  // one window over the whole map; the output is [n, c]
  config::Pair size{2, 2};
  config::Pair stride{0, 0};  // 0: as size
  Padding pad;
  bool ceil = false;       // round the output size up (Caffe, MXNet-full)
  bool count_pad = false;  // average: padding counts in the divisor (Caffe, MXNet)
  double p = 2;            // power: y = (sum of |x|^p)^(1 / p)
};

/// [n, c, h, w] to [n, c, oh, ow] (global: [n, c]). YAML names: max_pool, avg_pool,
/// global_max_pool, global_avg_pool, lp_pool. Padding never wins a maximum.
class PoolOp final : public OpWith<PoolAttributes> {
 public:
  using OpWith::OpWith;
  /// Window, stride and margins for an input of this shape (global resolved).
  struct Geometry {
    config::Pair size, stride;
    Margins margins;  // ceil mode may add to bottom and right
    /// The padding as written: an average with count_pad counts it, but never what ceil mode adds
    /// (Caffe and PyTorch clip the divisor's window there).
    Margins counted;
    std::int64_t output_h = 1, output_w = 1;
  };
  [[nodiscard]] Geometry geometry(const Shape& input) const;

  [[nodiscard]] std::string_view type() const override;
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] std::string attributes() const override;
};

[[nodiscard]] std::span<const config::Kind<Op>> pool_kinds();

}  // namespace trainyard
