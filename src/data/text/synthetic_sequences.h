// Sequences drawn from random numbers: for benchmarks, checks and tests without data.
#pragma once

#include "data/sets/source.h"
#include "data/sets/token_set.h"

namespace trainyard {

/// What the labels of synthetic sequences are: a class, the next token, or it for each position.
enum class SequenceLabels { classes, next, every };
[[nodiscard]] constexpr config::Words<SequenceLabels> words(SequenceLabels) {
  return {"classes", "next", "every"};
}

struct SyntheticSequencesOptions : SourceOptions {
  static constexpr std::string_view kName = "synthetic_sequences";
  std::int64_t steps = 40;
  std::int64_t features = 0;    // features of a numeric sequence
  std::int64_t vocabulary = 0;  // tokens of a sequence; just one of the two is not 0
  bool lengths = false;         // numeric sequences have a field `length`, from 1 to steps
  std::int64_t classes = 10;    // classes of SequenceLabels::classes
  SequenceLabels labels = SequenceLabels::classes;
  std::int64_t size = 1024;
  Split split = Split::train;  // two parts with the same rule and different samples
  bool learnable = false;
};
void declare(config::Fields& fields, SyntheticSequencesOptions& options);

/// A sample is a pure function of (seed, split, index) and is drawn when it is read.
/// Numeric: an image [features, 1, steps] of zeros and ones; sample i has class i mod classes.
/// Learnable: of each four values one is drawn, and three are its class's.
/// With lengths, drawn too, what follows is 0.
/// Tokens of classes: sample i has class i mod classes. Learnable: of each four tokens one is
/// drawn, and three are its class's at that position. Tokens followed by the next one: drawn.
/// Learnable: of each four, three are the token before plus 1 (modulo the vocabulary).
[[nodiscard]] DatasetPtr open_synthetic_sequences(const SyntheticSequencesOptions& options,
                                                  std::uint64_t seed);

}  // namespace trainyard
