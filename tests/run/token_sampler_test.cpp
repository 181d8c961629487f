#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "../base/error_of.h"
#include "run/text_generator.h"

namespace trainyard {

namespace {

/// How often each token comes of `count` draws spread evenly over [0, 1).
std::vector<int> sampled_counts(const std::vector<float>& scores, ScoreForm form,
                                double temperature, int count) {
  std::vector<int> counts(scores.size(), 0);
  for (int i = 0; i < count; ++i) {
    const std::int32_t token = sample_token(scores, form, temperature, (i + 0.5) / count);
    ++counts[static_cast<std::size_t>(token)];
  }
  return counts;
}

using Counts = std::vector<int>;
const std::vector<float> kProbabilities{0.125f, 0.25f, 0.625f};

}  // namespace

TEST_CASE("tokens come in proportion to their probability to the power 1 / temperature") {
  CHECK(sampled_counts(kProbabilities, ScoreForm::probabilities, 1, 8000) ==
        Counts{1000, 2000, 5000});
  // 1, 4 and 25 of 30.
  CHECK(sampled_counts(kProbabilities, ScoreForm::probabilities, 0.5, 30000) ==
        Counts{1000, 4000, 25000});
  // In the limits the most probable one alone, and all alike.
  CHECK(sampled_counts(kProbabilities, ScoreForm::probabilities, 1e-3, 1000) == Counts{0, 0, 1000});
  const Counts even = sampled_counts(kProbabilities, ScoreForm::probabilities, 1e6, 3000);
  for (const int count : even) CHECK(std::abs(count - 1000) <= 1);
}

TEST_CASE("temperature 0 takes the most probable token, the first of equal ones") {
  for (const ScoreForm form : {ScoreForm::probabilities, ScoreForm::logits}) {
    CHECK(sampled_counts(kProbabilities, form, 0, 10) == Counts{0, 0, 10});
    CHECK(sampled_counts({0.25f, 0.375f, 0.375f}, form, 0, 10) == Counts{0, 10, 0});
    // Scores that a double rounds to one weight differ still.
    CHECK(sampled_counts({1e-30f, 2e-30f}, form, 0, 10) == Counts{0, 10});
  }
}

TEST_CASE("logits are sampled as their softmax, also far from 0") {
  const auto logit = [](double probability) { return static_cast<float>(std::log(probability)); };
  for (const float shift : {0.0f, 512.0f, -512.0f}) {
    // The logits are rounded to 2^-14 at 512, so that counts move by up to 1 of 8,000.
    const Counts counts =
        sampled_counts({logit(0.125) + shift, logit(0.25) + shift, logit(0.625) + shift},
                       ScoreForm::logits, 1, 8000);
    CHECK(std::abs(counts[0] - 1000) <= 1);
    CHECK(std::abs(counts[1] - 2000) <= 1);
    CHECK(std::abs(counts[2] - 5000) <= 1);
  }
}

TEST_CASE("a token without probability is never drawn") {
  const float never = -std::numeric_limits<float>::infinity();
  CHECK(sampled_counts({never, 1, never, 1, never}, ScoreForm::logits, 0.7, 100) ==
        Counts{0, 50, 0, 50, 0});
  CHECK(sample_token(std::vector<float>{0, 1, 0}, ScoreForm::probabilities, 1, 0) == 1);
  CHECK(sample_token(std::vector<float>{0, 1, 0}, ScoreForm::probabilities, 1, 1 - 0x1p-53) == 1);
}

TEST_CASE("scores of which one is nan or none is finite are an error that says so") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& scores :
       {std::vector<float>{kNan, kNan}, {0, kNan, 1}, {1, kInfinity}, {-kInfinity, -kInfinity}}) {
    for (const ScoreForm form : {ScoreForm::logits, ScoreForm::probabilities}) {
      const std::string text = testing::error_of(
          ErrorKind::diverged, [&] { static_cast<void>(sample_token(scores, form, 1, 0.5)); });
      CHECK(text.starts_with("the network's scores of the next token are not finite"));
    }
  }
}

TEST_CASE("a draw is a function of seed, epoch, text and position, in [0, 1)") {
  // From a second implementation of Philox in Python.
  CHECK(token_draw(1, 2, 3, 4) == 0.5588678043857231);
  CHECK(token_draw(2, 2, 3, 4) != token_draw(1, 2, 3, 4));
  CHECK(token_draw(1, 3, 3, 4) != token_draw(1, 2, 3, 4));
  CHECK(token_draw(1, 2, 4, 4) != token_draw(1, 2, 3, 4));
  CHECK(token_draw(1, 2, 3, 5) != token_draw(1, 2, 3, 4));
  double sum = 0;
  for (std::uint64_t position = 0; position < 4000; ++position) {
    const double draw = token_draw(1, 0, 0, position);
    CHECK((draw >= 0 && draw < 1));
    sum += draw;
  }
  CHECK(std::abs(sum / 4000 - 0.5) < 0.023);  // five deviations of 0.29 / sqrt(4000)
}

}  // namespace trainyard
