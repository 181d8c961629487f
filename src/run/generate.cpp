#include "run/generate.h"

#include "base/plural.h"
#include "data/feed/step_mask.h"
#include "run/config/layer_rules.h"
#include "run/session/session_data.h"
#include "run/text_model.h"
#include "run/vocabulary_file.h"

namespace trainyard {
namespace {

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
