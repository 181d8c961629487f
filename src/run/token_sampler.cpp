#include "run/token_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/math.h"
#include "base/philox.h"

namespace trainyard {

double token_draw(std::uint64_t seed, std::uint32_t epoch, std::uint32_t text,
                  std::uint64_t position) {
  const Random4 random = random4(seed, RandomStream::generated, epoch, text, position);
  const auto high = static_cast<double>(random.word[0] >> 5);  // 27 bits
  const auto low = static_cast<double>(random.word[1] >> 6);   // 26 bits
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

std::int32_t sample_token(std::span<const float> scores, ScoreForm form, double temperature,
                          double draw) {
  std::vector<double> weights;
  double most = -std::numeric_limits<double>::infinity();
  for (const float score : scores) {
    const double logit = form == ScoreForm::logits ? score : math::log(double{score});
    weights.push_back(temperature > 0 ? logit / temperature : logit);
    most = std::max(most, weights.back());
  }
  double sum = 0;
  for (double& weight : weights) sum += weight = math::exp(weight - most);
  if (!(std::isfinite(most) && sum >= 1)) {
    throw Error(
        ErrorKind::diverged,
        "the network's scores of the next token are not finite: no text can be written with "
        "these weights; take those of an earlier checkpoint");
  }
  if (temperature == 0) {
    return static_cast<std::int32_t>(std::ranges::max_element(scores) - scores.begin());
  }
  double rest = draw * sum;
  std::int32_t last = 0;  // of those with a weight: for sums that rounding leaves below draw * sum
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] == 0) continue;
    last = static_cast<std::int32_t>(k);
    if (rest < weights[k]) return last;
    rest -= weights[k];
  }
  return last;
}

}  // namespace trainyard
