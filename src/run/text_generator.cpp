#include "run/text_generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/philox.h"
#include "base/text.h"
#include "run/token_sampler.h"

namespace trainyard {
namespace {

constexpr std::uint32_t kBeginDraw = 0xffffffff;  // texts have the draws from 0

/// The field of this name among those of the graph; past the end if the network reads none.
std::size_t field_of(const TrainingGraph& graph, const char* name) {
  const auto found = std::ranges::find(graph.fields, name, &GraphField::name);
  return static_cast<std::size_t>(found - graph.fields.begin());
}

std::span<std::int32_t> numbers_in(std::vector<std::byte>& field) {
  return {reinterpret_cast<std::int32_t*>(field.data()), field.size() / sizeof(std::int32_t)};
}

}  // namespace

TextGenerator::TextGenerator(Model& model, const Dataset& set, int threads)
    : model_(model),
      set_(set),
      outputs_(model, threads),
      rows_(model.memory().batch()),
      steps_(0),
      tokens_field_(field_of(model.graph(), kTokensField)),
      mask_field_(field_of(model.graph(), kMaskField)),
      index_(static_cast<std::size_t>(rows_), 0) {
  require_scores();
  for (const GraphField& field : model.graph().fields) {
    const Value& value = model.graph().graph.values[field.value];
    fields_.emplace_back(static_cast<std::size_t>(value.shape.elements()) * size_of(value.type));
  }
  if (mask_field_ < fields_.size()) std::ranges::fill(numbers_in(fields_[mask_field_]), 1);
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

bool TextGenerator::pads() const {
  const TrainingGraph& graph = model_.graph();
  const ValueId tokens = graph.fields[tokens_field_].value;  // embedding's mask_zero: they mask
  return std::ranges::any_of(graph.graph.masks, [&](const auto& mask) {
    return mask.second == tokens || mask.second == graph.graph.mask;
  });
}

TextGenerator::Tokens TextGenerator::sample_window(const GenerateRequest& request) const {
  const Random4 random =
      random4(request.seed, RandomStream::generated, request.epoch, kBeginDraw, 0);
  const std::uint64_t word = (std::uint64_t{random.word[1]} << 32) | random.word[0];
  const auto index = static_cast<std::int64_t>(word % static_cast<std::uint64_t>(set_.size()));
  Tokens window(static_cast<std::size_t>(steps_));
  set_.read_field(1, index, reinterpret_cast<std::byte*>(window.data()));
  return window;
}

TextGenerator::Tokens TextGenerator::begin_of(const GenerateRequest& request) const {
  const Tokens& prompt = request.prompt.tokens;
  if (!prompt.empty() && (pads() || std::ssize(prompt) >= steps_)) return prompt;
  Tokens begin = sample_window(request);
  begin.insert(begin.end(), prompt.begin(), prompt.end());
  return begin;
}

/// The last tokens of a text, before them padding if it has fewer than the network reads.
void TextGenerator::set_window(std::size_t row, const Tokens& text) {
  const std::int64_t kept = std::min(std::ssize(text), steps_);
  const std::size_t first = row * static_cast<std::size_t>(steps_);
  const auto window =
      numbers_in(fields_[tokens_field_]).subspan(first, static_cast<std::size_t>(steps_));
  std::fill(window.begin(), window.end() - kept, 0);
  std::copy(text.end() - kept, text.end(), window.end() - kept);
  if (mask_field_ == fields_.size()) return;
  const auto mask =
      numbers_in(fields_[mask_field_]).subspan(first, static_cast<std::size_t>(steps_));
  std::fill(mask.begin(), mask.end() - kept, 0);
  std::fill(mask.end() - kept, mask.end(), 1);
}

/// Evaluates the last tokens of each text, one row each; other rows keep what they have.
void TextGenerator::run_windows(std::span<const Tokens> texts) {
  for (std::size_t row = 0; row < texts.size(); ++row) set_window(row, texts[row]);
  // No row is valid, so that nothing counts them.
  model_.load({.fields = {fields_.begin(), fields_.end()}, .sample_index = index_, .valid = 0});
  model_.take_batch(EvaluatedSplit::validation);
  model_.eval().forward();
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

/// Appends the token of this position to each text, of which the first has the place `first` in the
/// list.
void TextGenerator::append_tokens(const GenerateRequest& request, std::size_t first,
                                  std::int64_t position, std::vector<Tokens>& texts) {
  run_windows(texts);
  const std::vector<float> outputs = outputs_.read();
  const Graph& graph = model_.graph().graph;
  const bool closed = graph.closing_activation == "softmax" && !graph.output_is_logits;
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const std::size_t place = first + row;
    const double draw = token_draw(request.seed, request.epoch, static_cast<std::uint32_t>(place),
                                   static_cast<std::uint64_t>(position));
    texts[row].push_back(sample_token(scores_of(outputs, static_cast<std::int64_t>(row)),
                                      closed ? ScoreForm::probabilities : ScoreForm::logits,
                                      request.config.temperatures[place], draw));
  }
}

GeneratedTexts TextGenerator::generate(const GenerateRequest& request) {
  const Tokens begin = begin_of(request);
  const std::vector<double>& temperatures = request.config.temperatures;
  const Prompt& prompt = request.prompt;
  GeneratedTexts generated{.begin = prompt.tokens.empty() ? set_.vocabulary()->text_of(begin)
                                                          : prompt.text};
  for (std::size_t first = 0; first < temperatures.size();
       first += static_cast<std::size_t>(rows_)) {
    const std::size_t count =
        std::min(temperatures.size() - first, static_cast<std::size_t>(rows_));
    std::vector<Tokens> texts(count, begin);
    for (std::int64_t i = 0; i < request.config.length; ++i) {
      append_tokens(request, first, i, texts);
    }
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
