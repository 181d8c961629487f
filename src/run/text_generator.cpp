#include "run/text_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/math.h"
#include "base/philox.h"
#include "base/text.h"
#include "data/feed/batch_fields.h"
#include "data/text/text_units.h"
#include "run/config/layer_overrides.h"
#include "run/session/session_data.h"
#include "run/session/session_model.h"
#include "run/training_files.h"

namespace trainyard {

namespace {

constexpr const char* kFlag = "--prompt";
constexpr std::size_t kMostListed = 10;

bool makes_lower_case(const RunConfig& run) {
  const config::Node* const key = run.settled.find("data")->find("train")->find("lower_case");
  return key != nullptr && key->boolean;
}

std::vector<std::string> unknown_units(const std::string& text, const Vocabulary& vocabulary) {
  std::vector<std::string> units;
  for_each_unit(text, vocabulary.unit(), kFlag, [&](std::string_view one) {
    if (vocabulary.find(one) != vocabulary.unknown()) return;
    if (std::ranges::find(units, one) == units.end()) units.emplace_back(one);
  });
  return units;
}

constexpr std::uint32_t kBeginDraw = 0xffffffff;  // texts have the draws from 0

/// The field of this name among those of the graph; past the end if the network reads none.
std::size_t field_of(const TrainingGraph& graph, const char* name) {
  const auto found = std::ranges::find(graph.fields, name, &GraphField::name);
  return static_cast<std::size_t>(found - graph.fields.begin());
}

std::span<std::int32_t> numbers_in(std::vector<std::byte>& field) {
  return {reinterpret_cast<std::int32_t*>(field.data()), field.size() / sizeof(std::int32_t)};
}

std::string filled_warning(const Prompt& prompt, std::int64_t steps) {
  const std::int64_t tokens = std::ssize(prompt.tokens);
  return "--prompt has " + count_text(tokens, "token") + ", and this network always reads " +
         std::to_string(steps) +
         ": those before the prompt are taken from the training text, and not printed";
}

/// Reads the request's prompt, for samples of `set`.
void take_prompt(GenerateRequest& request, const Dataset& set, const RunConfig& run,
                 const DeviceChoice& choice) {
  if (request.prompt.text.empty() || set.vocabulary() == nullptr) return;
  request.prompt = read_prompt(request.prompt.text, *set.vocabulary(), run);
  const std::string warning = unknown_warning(request.prompt);
  if (!warning.empty()) choice.warn(warning);
}

/// The run's own network, unless it is to read fewer tokens than its samples have, and can.
RunConfig run_for(const Prompt& prompt, const Dataset& set, const RunConfig& run) {
  const bool whole = prompt.tokens.empty() || std::ssize(prompt.tokens) >= sequence_steps(set);
  return whole ? run : padded_run(run).value_or(run);
}

}  // namespace

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
  std::int32_t last = 0;  // last one with a weight: for sums that rounding leaves below draw * sum
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] == 0) continue;
    last = static_cast<std::int32_t>(k);
    if (rest < weights[k]) return last;
    rest -= weights[k];
  }
  return last;
}

Prompt read_prompt(const std::string& text, const Vocabulary& vocabulary, const RunConfig& run) {
  const std::string read = makes_lower_case(run) ? lower_case(text) : text;
  try {
    if (vocabulary.unit() != TextUnit::bytes) require_utf8(read, kFlag, "");
    Prompt prompt{.text = text, .tokens = tokens_of_text(read, vocabulary, kFlag), .unknown = {}};
    if (vocabulary.unknown()) prompt.unknown = unknown_units(read, vocabulary);
    return prompt;
  } catch (const Error& error) {
    refuse_command(error.what());
  }
}

std::string unknown_warning(const Prompt& prompt) {
  if (prompt.unknown.empty()) return "";
  std::string listed;
  for (const std::string& unit : prompt.unknown) {
    if (&unit == &prompt.unknown.front() + kMostListed) {
      listed += " and " + std::to_string(prompt.unknown.size() - kMostListed) + " more";
      break;
    }
    listed += (listed.empty() ? "" : ", ") + json_quoted(shortened(unit));
  }
  return std::string(kFlag) + ": the run's vocabulary lacks " + listed +
         "; the model reads each as unknown";
}

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
  throw config_error("text is written by a network that reads tokens and scores the next one: " +
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

std::unique_ptr<Model> make_text_model(const RunConfig& run, const SessionDevice& device,
                                       const Dataset& set, std::int64_t rows) {
  Graph network = build_network(run, rows);
  const TrainingGraph graph = training_graph_of(run, std::move(network), set.fields());
  ModelOptions options = model_options(run, device, 1, nullptr, 0);
  options.train = false;
  options.slots = 0;
  options.average = std::nullopt;
  return std::make_unique<Model>(graph, device.compute(), options);
}

std::optional<RunConfig> padded_run(const RunConfig& run) {
  RunConfig padded = run;
  padded.network = network_of(run);
  config::Node* const input = padded.network.find("input");
  if (input == nullptr || input->kind != config::Node::Kind::map) return std::nullopt;
  std::erase_if(input->entries, [](const config::Entry& entry) { return entry.key == "lengths"; });
  input->entries.push_back(
      {"lengths", input->where, config::scalar_node("true", false, input->where)});
  try {
    static_cast<void>(build_network(padded, 1));
  } catch (const Error&) {  // a layer mixes the steps of a sequence
    return std::nullopt;
  }
  return padded;
}

void copy_judged_weights(Model& from, Model& to) {
  const BlockLayout &a = from.blocks(), &b = to.blocks();
  TY_CHECK(a.parameter_elements == b.parameter_elements &&
               a.statistic_elements == b.statistic_elements &&
               from.memory().type() == to.memory().type(),
           "two models of one network");
  const std::size_t element = size_of(from.memory().type());
  const WeightBlocks read = from.judged_weights(), written = to.memory().trained();
  Queue& queue = to.compute().queue;
  queue.copy(written.weights, read.weights,
             static_cast<std::size_t>(a.parameter_elements) * element);
  queue.copy(written.running, read.running,
             static_cast<std::size_t>(a.statistic_elements) * element);
  to.publish_weights(WeightChange::load);
}

GeneratedTexts generate_from(const StoredModel& stored, const DeviceChoice& choice,
                             GenerateRequest request) {
  const RunConfig& run = stored.config;
  const SessionDevice device = make_device(choice, run);
  RankGroup alone(RankGroupOptions{});
  const SessionData data = open_data(run, nullptr, device.threads, alone,
                                     {.seed = static_cast<std::uint64_t>(run.seed),
                                      .cache_folder = choice.cache_folder,
                                      .warn = choice.warn});
  require_vocabulary_of_run(stored.run, data.train->vocabulary());
  const std::int64_t rows = std::ssize(request.config.temperatures);
  require_fit(run, build_network(run, rows), *data.train, *data.pipeline);
  take_prompt(request, *data.train, run, choice);
  const RunConfig used = run_for(request.prompt, *data.train, run);
  const std::unique_ptr<Model> model = make_text_model(used, device, *data.train, rows);
  fill_model(*model, stored);
  TextGenerator generator(*model, *data.train, device.threads);
  const std::int64_t given = std::ssize(request.prompt.tokens);
  if (given > 0 && given < generator.steps() && !generator.pads()) {
    choice.warn(filled_warning(request.prompt, generator.steps()));
  }
  return generator.generate(request);
}

}  // namespace trainyard
