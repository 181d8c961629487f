#include "run/text_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/philox.h"
#include "base/text.h"
#include "data/text_units.h"
#include "run/token_sampler.h"

namespace trainyard {
namespace {

constexpr std::uint32_t kBeginDraw = 0xffffffff;  // texts have the draws from 0

/// A window has no padding.
void fill_with_ones(std::vector<std::byte>& mask) {
  std::ranges::fill(
      std::span(reinterpret_cast<std::int32_t*>(mask.data()), mask.size() / sizeof(std::int32_t)),
      1);
}

/// The field of tokens among those of the graph; past the end if the network reads none.
std::size_t tokens_field_of(const TrainingGraph& graph) {
  const auto found = std::ranges::find(graph.fields, kTokensField, &GraphField::name);
  return static_cast<std::size_t>(found - graph.fields.begin());
}

}  // namespace

TextGenerator::TextGenerator(Model& model, const Dataset& set, int threads)
    : model_(model),
      set_(set),
      outputs_(model, threads),
      rows_(model.memory().batch()),
      steps_(0),
      tokens_field_(tokens_field_of(model.graph())),
      index_(static_cast<std::size_t>(rows_), 0) {
  require_scores();
  for (const GraphField& field : model.graph().fields) {
    const Value& value = model.graph().graph.values[field.value];
    fields_.emplace_back(static_cast<std::size_t>(value.shape.elements()) * size_of(value.type));
    if (field.name == kMaskField) fill_with_ones(fields_.back());
  }
  steps_ = model.graph().graph.values[model.graph().fields[tokens_field_].value].shape[1];
}

void TextGenerator::require_scores() const {
  const Vocabulary* const vocabulary = set_.vocabulary();
  const bool reads_tokens = tokens_field_ < model_.graph().fields.size();
  const std::int64_t scores = outputs_.shape().c();
  if (reads_tokens && vocabulary != nullptr && vocabulary->size() == scores) return;
  throw Error(ErrorKind::config,
              "text is written by a network that reads tokens and scores the next one: " +
                  (!reads_tokens || vocabulary == nullptr
                       ? std::string("this one reads no tokens")
                       : "this one gives " + std::to_string(scores) + " numbers for " +
                             std::to_string(vocabulary->size()) + " tokens"));
}

TextGenerator::Tokens TextGenerator::first_window(const GenerateRequest& request) const {
  const Random4 random =
      random4(request.seed, RandomStream::generated, request.epoch, kBeginDraw, 0);
  const std::uint64_t word = (std::uint64_t{random.word[1]} << 32) | random.word[0];
  const auto index = static_cast<std::int64_t>(word % static_cast<std::uint64_t>(set_.size()));
  Tokens window(static_cast<std::size_t>(steps_));
  set_.read_field(1, index, reinterpret_cast<std::byte*>(window.data()));
  if (request.prompt.empty()) return window;
  try {
    const Vocabulary& vocabulary = *set_.vocabulary();
    if (vocabulary.unit() != TextUnit::bytes) require_utf8(request.prompt, "--prompt", "");
    const Tokens prompt = tokens_of_text(request.prompt, vocabulary, "--prompt");
    window.insert(window.end(), prompt.begin(), prompt.end());
  } catch (const Error& error) {
    throw Error(ErrorKind::command_line, error.what());
  }
  return {window.end() - steps_, window.end()};
}

/// Evaluates the last tokens of each text, one row each; other rows keep what they have.
void TextGenerator::run_windows(std::span<const Tokens> texts) {
  const std::size_t bytes = static_cast<std::size_t>(steps_) * sizeof(std::int32_t);
  std::vector<std::byte>& tokens = fields_[tokens_field_];
  for (std::size_t row = 0; row < texts.size(); ++row) {
    std::memcpy(tokens.data() + row * bytes, texts[row].data() + std::ssize(texts[row]) - steps_,
                bytes);
  }
  // No row is valid, so that nothing counts them.
  model_.load({.fields = {fields_.begin(), fields_.end()}, .sample_index = index_, .valid = 0});
  model_.take_batch(EvaluatedSplit::validation);
  model_.eval().run();
}

std::vector<float> TextGenerator::scores_of(const std::vector<float>& outputs,
                                            std::int64_t row) const {
  const Shape shape = outputs_.shape();
  const std::int64_t positions = shape.h() * shape.w();
  std::vector<float> scores;
  for (std::int64_t token = 0; token < shape.c(); ++token) {
    const std::int64_t place = (row * shape.c() + token + 1) * positions - 1;
    scores.push_back(outputs[static_cast<std::size_t>(place)]);
  }
  return scores;
}

/// Appends a token to each text, of which the first has the place `first` in the list.
void TextGenerator::append_tokens(const GenerateRequest& request, std::size_t first,
                                  std::vector<Tokens>& texts) {
  run_windows(texts);
  const std::vector<float> outputs = outputs_.read();
  const Graph& graph = model_.graph().graph;
  const bool closed = graph.closing_activation == "softmax" && !graph.output_is_logits;
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const std::size_t place = first + row;
    const double draw = token_draw(request.seed, request.epoch, static_cast<std::uint32_t>(place),
                                   static_cast<std::uint64_t>(std::ssize(texts[row]) - steps_));
    texts[row].push_back(sample_token(scores_of(outputs, static_cast<std::int64_t>(row)),
                                      closed ? ScoreForm::probabilities : ScoreForm::logits,
                                      request.config.temperatures[place], draw));
  }
}

GeneratedTexts TextGenerator::generate(const GenerateRequest& request) {
  const Tokens begin = first_window(request);
  const std::vector<double>& temperatures = request.config.temperatures;
  GeneratedTexts generated{.begin = set_.vocabulary()->text_of(begin)};
  for (std::size_t first = 0; first < temperatures.size();
       first += static_cast<std::size_t>(rows_)) {
    const std::size_t count =
        std::min(temperatures.size() - first, static_cast<std::size_t>(rows_));
    std::vector<Tokens> texts(count, begin);
    for (std::int64_t i = 0; i < request.config.length; ++i) append_tokens(request, first, texts);
    for (std::size_t row = 0; row < count; ++row) {
      const auto written = std::span(texts[row]).subspan(begin.size());
      generated.texts.push_back({temperatures[first + row], set_.vocabulary()->text_of(written)});
    }
  }
  return generated;
}

std::string text_of(const GeneratedTexts& generated) {
  std::string text = fmt::format("--- begin:\n{}\n", generated.begin);
  for (const GeneratedText& one : generated.texts) {
    text += fmt::format("--- temperature {}:\n{}\n", number_text(one.temperature), one.text);
  }
  return text;
}

}  // namespace trainyard
