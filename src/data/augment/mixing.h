// mixup and cutmix: pairs of an epoch's samples become mixtures, and so do their targets.
#pragma once

#include <cstdint>

#include "config/fields.h"
#include "data/augment/pair_mix.h"
#include "tensor/shape.h"

namespace trainyard {

/// `mix` of a run: the parameters a of the distributions Beta(a, a) that a pair's share is drawn
/// from, 0: not used; at least one is above 0.
struct MixOptions {
  double mixup = 0;       // Zhang et al., "mixup: Beyond Empirical Risk Minimization", ICLR 2018
  double cutmix = 0;      // Yun et al., "CutMix", ICCV 2019 (arXiv 1905.04899)
  double switched = 0.5;  // chance of cutmix where both are given (timm's `switch_prob`), in [0, 1]
  double probability = 1;  // chance of mixing a pair at all, in [0, 1]
};

void declare(config::Fields& fields, MixOptions& mix);

/// A pair of samples: those at positions 2 * index and 2 * index + 1 of the epoch's order.
struct PairKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;  // finished epochs
  std::int64_t index = 0;   // index of the pair
};

/// A number of the distribution Beta(a, a), a > 0, from u in (0, 1) and v in [0, 1]: 1/2 + t /
/// (2 sqrt(2a + t^2)), where t = sqrt(2a (u^(-1/a) - 1)) cos(2 pi v) has Student's distribution
/// with 2a degrees of freedom (Bailey, "Polar generation of random variates with the
/// t-distribution", 1994; Devroye, "Random variate generation in one line of code", 1996). Exact,
/// without rejection.
[[nodiscard]] double symmetric_beta(double a, double u, double v);

/// How a pair of samples of `shape` ([c, h, w]) is mixed: a pure function of the key, in a stream
/// of its own. Call 0 has whether it is (word 0), whether by cutmix (1), u (2) and v (3) of the
/// share; call 1 the centre of cutmix's box, any pixel (0: y, 1: x). With a share of lambda the box
/// has int(h sqrt(1 - lambda)) div 2 pixels on either side of the centre, columns alike, of which
/// those in the image count; the share becomes the part of the image outside it (the paper's code,
/// and timm's).
[[nodiscard]] PairMix mix_of_pair(const MixOptions& options, const PairKey& key,
                                  const Shape& shape);

/// Mixes two samples of `shape` ([c, h, w]) in place.
void mix_samples(const PairMix& mix, const Shape& shape, float* first, float* second);

}  // namespace trainyard
