// A token drawn by the scores that a model gives each of them.
#pragma once

#include <cstdint>
#include <span>

namespace trainyard {

/// What the scores of a row are.
enum class ScoreForm { logits, probabilities };

/// A number in [0, 1) of 53 bits: a function of its arguments alone.
[[nodiscard]] double token_draw(std::uint64_t seed, std::uint32_t epoch, std::uint32_t text,
                                std::uint64_t position);

/// The token whose interval holds `draw`, of intervals whose lengths are the probabilities p_k to
/// the power 1 / temperature, normalised (as in Keras's example lstm_text_generation). Of logits
/// the same: exp(z_k / temperature), normalised. All in double, summed in order. Of temperature 0
/// the first token with the highest score. Throws Error{diverged} if a score is nan or none is
/// finite.
[[nodiscard]] std::int32_t sample_token(std::span<const float> scores, ScoreForm form,
                                        double temperature, double draw);

}  // namespace trainyard
