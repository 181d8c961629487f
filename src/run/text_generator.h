// Text that a model of tokens writes: the prompt, the draw of each token, the model with a row for
// each text, and `train generate`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/sets/dataset.h"
#include "data/sets/vocabulary.h"
#include "model/batch_outputs.h"
#include "model/model.h"
#include "run/config/run_config.h"
#include "run/config/run_sections.h"
#include "run/session/session_device.h"
#include "run/stored_model.h"

namespace trainyard {

/// What the scores of a row are.
enum class ScoreForm { logits, probabilities };

/// A number in [0, 1) of 53 bits: a function of its arguments alone.
[[nodiscard]] double token_draw(std::uint64_t seed, std::uint32_t epoch, std::uint32_t text,
                                std::uint64_t position);

/// The token whose interval holds `draw`, of intervals whose lengths are the probabilities p_k to
/// the power 1 / temperature, normalised (as in Keras's example lstm_text_generation). Logits
/// likewise: exp(z_k / temperature), normalised. All in double, summed in order. With temperature 0
/// the first token with the highest score. Throws Error{diverged} if a score is nan or none is
/// finite.
[[nodiscard]] std::int32_t sample_token(std::span<const float> scores, ScoreForm form,
                                        double temperature, double draw);

struct Prompt {
  std::string text;  // "": none
  std::vector<std::int32_t> tokens;
  std::vector<std::string> unknown;  // units that the vocabulary lacks, each once, in their order
};

/// The prompt as the tokens that the training split of `run` would make of it. Throws
/// Error{command_line} if it is not UTF-8, or lacks a token and the vocabulary has none for what is
/// unknown.
[[nodiscard]] Prompt read_prompt(const std::string& text, const Vocabulary& vocabulary,
                                 const RunConfig& run);

/// "--prompt: the run's vocabulary lacks ...", or "" if all tokens are known.
[[nodiscard]] std::string unknown_warning(const Prompt& prompt);

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
  std::vector<std::vector<std::byte>> fields_;     // a batch's, in the order of the graph's fields
  std::size_t tokens_field_ = 0, mask_field_ = 0;  // past the end: there is none
  std::vector<std::int64_t> index_;
};

/// For people: the beginning, then each text under its temperature.
[[nodiscard]] std::string text_of(const GeneratedTexts& generated);

/// The network of `run` for batches of `rows` texts, for evaluation alone: a token then costs a
/// batch of that size, not one of the run's. Its weights are not set. `set` has the fields of its
/// data, and `device` outlives it. Throws Error{config}, Error{memory}.
[[nodiscard]] std::unique_ptr<Model> make_text_model(const RunConfig& run,
                                                     const SessionDevice& device,
                                                     const Dataset& set, std::int64_t rows);

/// The run with a network that leaves out padding (input: {..., lengths: true}), whose outputs for
/// whole samples are the same; none if a layer cannot.
[[nodiscard]] std::optional<RunConfig> padded_run(const RunConfig& run);

/// Enqueues copying the weights of `from` that are evaluated to `to`, a model of the same network
/// on the same queue.
void copy_judged_weights(Model& from, Model& to);

/// Texts that the model writes with its stored weights. Opens the run's data. Only the text of the
/// request's prompt matters; `choice.warn` gets a line if it has unknown tokens, and one if it is
/// too short for a network that cannot do with less. Throws as TextGenerator and read_prompt();
/// Error{checkpoint} for weights of another network, or data with another vocabulary than the
/// run's.
[[nodiscard]] GeneratedTexts generate_from(const StoredModel& stored, const DeviceChoice& choice,
                                           GenerateRequest request);

}  // namespace trainyard
