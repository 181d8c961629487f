#include "data/augment/mixing.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/philox.h"
#include "data/augment/draws.h"

namespace trainyard {
namespace {

Random4 pair_words(const PairKey& key, std::uint32_t call) {
  return random4(key.seed, RandomStream::mix, key.epoch, call,
                 static_cast<std::uint64_t>(key.index));
}

/// In (0, 1).
double inside_unit(std::uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

/// A side of the box: `word` draws its centre in `extent` pixels, of which it takes `part`.
void box_side(std::int64_t extent, double part, std::uint32_t word, std::int32_t* ends) {
  const std::int64_t half = static_cast<std::int64_t>(static_cast<double>(extent) * part) / 2;
  const std::int64_t centre = drawn_index(extent - 1, word);
  ends[0] = static_cast<std::int32_t>(std::max<std::int64_t>(centre - half, 0));
  ends[1] = static_cast<std::int32_t>(std::min(centre + half, extent));
}

PairMix paste(double share, const PairKey& key, const Shape& shape) {
  PairMix mix{.kind = PairMix::Kind::paste};
  const Random4 random = pair_words(key, 1);
  const double part = std::sqrt(1 - share);
  box_side(shape[1], part, random.word[0], mix.box);
  box_side(shape[2], part, random.word[1], mix.box + 2);
  const double area = static_cast<double>(mix.box[1] - mix.box[0]) * (mix.box[3] - mix.box[2]);
  mix.share = static_cast<float>(1 - area / static_cast<double>(shape[1] * shape[2]));
  return mix;
}

}  // namespace

void declare(config::Fields& fields, MixOptions& mix) {
  if (!fields.keys_only("{mixup: 0.8, cutmix: 1}")) return;
  const config::Limits alpha{.minimum = 0, .maximum = 1000};
  fields.field(
      "mixup", mix.mixup,
      "a of Beta(a, a), from which the share of one of two blended images is drawn; 0: never",
      alpha);
  fields.field("cutmix", mix.cutmix, "the same for a box of another image that is pasted; 0: never",
               alpha);
  fields.field("switch", mix.switched, "chance of cutmix where both are given",
               {.minimum = 0, .maximum = 1});
  fields.field("probability", mix.probability, "chance of mixing a pair of samples",
               {.minimum = 0, .maximum = 1});
  if (fields.describing() || mix.mixup > 0 || mix.cutmix > 0) return;
  fields.error("", "'mix' requires 'mixup' or 'cutmix' above 0");
}

double symmetric_beta(double a, double u, double v) {
  const double cosine = std::cos(2 * std::numbers::pi * v);
  const double ratio = (std::pow(u, -1 / a) - 1) * cosine * cosine;  // t^2 / 2a
  return 0.5 + std::copysign(0.5, cosine) / std::sqrt(1 + 1 / ratio);
}

PairMix mix_of_pair(const MixOptions& options, const PairKey& key, const Shape& shape) {
  const Random4 random = pair_words(key, 0);
  if (!happens(options.probability, random.word[0])) return {};
  const bool both = options.mixup > 0 && options.cutmix > 0;
  const bool cuts = both ? happens(options.switched, random.word[1]) : options.cutmix > 0;
  const double share = symmetric_beta(cuts ? options.cutmix : options.mixup,
                                      inside_unit(random.word[2]), inside_unit(random.word[3]));
  if (cuts) return paste(share, key, shape);
  return {.kind = PairMix::Kind::blend, .share = static_cast<float>(share)};
}

void mix_samples(const PairMix& mix, const Shape& shape, float* first, float* second) {
  if (mix.kind == PairMix::Kind::none) return;
  for (std::int64_t row = 0; row < shape[0] * shape[1]; ++row) {
    for (std::int64_t x = 0; x < shape[2]; ++x, ++first, ++second) {
      const float own = *first, other = *second;
      const float part = mix.own_part(row % shape[1], x);
      *first = mixed_value(part, own, other);
      *second = mixed_value(part, other, own);
    }
  }
}

}  // namespace trainyard
