// Text that a model of tokens writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/sets/dataset.h"
#include "model/batch_outputs.h"
#include "model/model.h"
#include "run/config/generate_config.h"
#include "run/prompt.h"

namespace trainyard {

/// What to write.
struct GenerateRequest {
  GenerateConfig config;
  Prompt prompt;  // without one texts begin with a sample of the data
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;  // finished epochs: each has draws of its own
};

struct GeneratedText {
  double temperature = 1;
  std::string text;
};

/// Texts that begin alike, one for each temperature.
struct GeneratedTexts {
  std::string begin;  // the prompt, or what the first window stands for
  std::vector<GeneratedText> texts;
};

/// Runs a model's evaluation program for a token at a time: each row of a batch has the last tokens
/// of one text, as many as the network reads, and the scores of the next token, which
/// sample_token() draws. A text is a function of weights, data, request and its temperature's place
/// in the list.
class TextGenerator {
 public:
  /// Both must outlive it. Throws Error{config} unless the network reads tokens and scores those of
  /// the data's vocabulary: [n, vocabulary], or [n, vocabulary, 1, t], whose last position counts.
  TextGenerator(Model& model, const Dataset& set, int threads);
  /// Begins with the end of the prompt, or with a sample of the data, drawn by seed and epoch. What
  /// a prompt lacks to the network's tokens is padding, or if !pads() the end of such a sample.
  [[nodiscard]] GeneratedTexts generate(const GenerateRequest& request);
  /// True if the network leaves out padding, so that it reads as few tokens as there are.
  [[nodiscard]] bool pads() const;
  /// Tokens that the network reads.
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  using Tokens = std::vector<std::int32_t>;
  void require_scores() const;
  [[nodiscard]] Tokens sample_window(const GenerateRequest& request) const;
  [[nodiscard]] Tokens begin_of(const GenerateRequest& request) const;
  void append_tokens(const GenerateRequest& request, std::size_t first, std::int64_t position,
                     std::vector<Tokens>& texts);
  void set_window(std::size_t row, const Tokens& text);
  void run_windows(std::span<const Tokens> texts);
  [[nodiscard]] std::vector<float> scores_of(const std::vector<float>& outputs,
                                             std::int64_t row) const;

  Model& model_;
  const Dataset& set_;
  BatchOutputs outputs_;
  std::int64_t rows_, steps_;
  std::vector<std::vector<std::byte>> fields_;     // of a batch, in the order of the graph's fields
  std::size_t tokens_field_ = 0, mask_field_ = 0;  // past the end: there is none
  std::vector<std::int64_t> index_;
};

/// For people: the beginning, then each text under its temperature.
[[nodiscard]] std::string text_of(const GeneratedTexts& generated);

}  // namespace trainyard
