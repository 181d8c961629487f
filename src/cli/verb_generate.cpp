// `train generate`: text from the model of a run.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/checks.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "run/text_generator.h"

namespace trainyard::cli {
namespace {

struct GenerateFlags {
  RunFlags run;
  std::string folder;
  std::string prompt;
  std::vector<double> temperatures;
  std::optional<std::int64_t> length, seed;
};

int generate(const GenerateFlags& flags) {
  const StoredModel stored =
      open_stored_model(flags.folder, overrides_of(flags.run), print_warning);
  const RunConfig& run = stored.config;
  GenerateRequest request{.config = run.output.generate.value_or(GenerateConfig{}),
                          .prompt = {.text = flags.prompt},
                          .seed = static_cast<std::uint64_t>(flags.seed.value_or(run.seed))};
  if (!flags.temperatures.empty()) request.config.temperatures = flags.temperatures;
  if (flags.length) request.config.length = *flags.length;
  DeviceChoice choice = device_choice(flags.run);
  choice.warn = print_warning;
  const std::string text = text_of(generate_from(stored, choice, std::move(request)));
  print_data(text);
  return 0;
}

}  // namespace

void declare_generate(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<GenerateFlags>();  // shared with the action, which outlives parsing
  add_run(app, "run", flags->folder,
          "run folder, runs/NAME, or checkpoint, of a model that predicts tokens of text", context)
      ->required()
      ->type_name("RUN|CHECKPOINT");
  app.add_option("--prompt", flags->prompt, "text that the model continues")->type_name("WORDS");
  app.add_option(
         "--temperatures", flags->temperatures,
         "one text each, as 0.2,0.5,1; 0: always the most probable token; without it those of "
         "the run's output.generate, or 0.2,0.5,1,1.2")
      ->delimiter(',')
      ->check(number_between(0, 100))
      ->type_name("LIST");
  add_count(app, "--length", flags->length, "tokens of a text, 400 unless the run says otherwise",
            1, 1'000'000);
  add_count(app, "--seed", flags->seed, "seed of the draws; without it the run's", 0);
  add_device_flags(app, flags->run);
  action = [flags] { return generate(*flags); };
}

}  // namespace trainyard::cli
