// Batch normalisation (Ioffe and Szegedy 2015), optionally fused with the following ReLU, or with
// the sum and ReLU that end a residual block.
#pragma once

#include <string>

#include "ops/op.h"

namespace trainyard {

struct BnAttributes {
  double momentum = 0.99;  // weight of the old running value (keras2, mxnet, caffe)
  double eps = 1e-3;
  bool scale = true;   // gamma
  bool center = true;  // beta
  double gamma =
      1;  // its initial value; 0 in the last one of a residual branch (Goyal et al. 2017)
  /// How the batch variance enters the running one: biased, torch's n / (n - 1), or Keras's
  /// n / (n - 1 - eps) since 2018-01-26.
  enum class RunningVariance { biased, unbiased, keras } running_var = RunningVariance::biased;
  bool sync = false;  // statistics over the batches of all replicas
  // Set by the planner's fusion, never by YAML:
  bool relu = false;      // y = max(bn(x), 0)
  bool residual = false;  // with relu: y = max(bn(x) + z, 0), where z is the second input
  // Set by the run, never by YAML:
  int replicas = 1;    // with sync: replicas whose samples the unbiased running variance counts
  bool fixed = false;  // the running values are the batch's in training too, and stay as they are
};

/// Per channel over n, h, w (features [n, c]: over n). y = gamma * (x - mean) / sqrt(var + eps) +
/// beta with the biased batch variance; forward_eval uses the running values. Statistics:
/// running_mean, running_var (both [c]); in training the node writes the batch mean and the biased
/// batch variance. With sync the batch is that of all replicas, in the statistics and in the means
/// in the input's gradient; the parameters' gradients are sums over the replica's own batch, as in
/// other ops. Fixed statistics are constants: dx = dy * gamma / sqrt(var + eps) (PyTorch's
/// BatchNorm2d after eval()). Parameters: gamma, beta (each [c], if enabled). A residual has the
/// shape of x; its gradient is the output's where the ReLU was open.
class BnOp final : public Op {
 public:
  explicit BnOp(BnAttributes attributes) : attributes_(attributes) {}
  [[nodiscard]] const BnAttributes& values() const { return attributes_; }

  [[nodiscard]] std::string_view type() const override { return "bn"; }
  [[nodiscard]] int arity() const override { return attributes_.residual ? 2 : 1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] OpPtr with_relu() const override;
  [[nodiscard]] OpPtr with_sum_and_relu() const override;
  /// The same with fixed statistics, which need no `sync`.
  [[nodiscard]] OpPtr with_fixed_statistics() const;
  [[nodiscard]] std::string attributes() const override;

 private:
  BnAttributes attributes_;
};

/// Reads the attributes. In the torch profile `momentum` is written as the weight of the new value
/// (0.1) and converted; attributes() always writes the weight of the old one.
void declare(config::Fields& fields, BnAttributes& bn);
[[nodiscard]] std::span<const config::Kind<Op>> bn_kinds();
[[nodiscard]] constexpr config::Words<BnAttributes::RunningVariance> words(
    BnAttributes::RunningVariance) {
  return {"biased", "unbiased", "keras"};
}

}  // namespace trainyard
