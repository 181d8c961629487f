#include "run/generate.h"

#include "run/config/layer_rules.h"
#include "run/session/session_data.h"
#include "run/session/session_model.h"
#include "run/vocabulary_file.h"

namespace trainyard {

GeneratedTexts generate_from(const StoredModel& stored, const DeviceChoice& choice,
                             const GenerateRequest& request) {
  const RunConfig& run = stored.config;
  const SessionDevice device = make_device(choice, run);
  RankGroup alone(RankGroupOptions{});
  const SessionData data = open_data(run, nullptr, device.threads, alone,
                                     {.seed = static_cast<std::uint64_t>(run.seed),
                                      .cache_folder = choice.cache_folder,
                                      .warn = choice.warn});
  require_vocabulary_of_run(stored.run, data.train->vocabulary());
  Graph network = build_network(run, std::ssize(request.config.temperatures));
  require_fit(run, network, *data.train, *data.pipeline);
  const TrainingGraph graph = training_graph_of(run, std::move(network), data.train->fields());
  ModelOptions options = model_options(run, device, 1, nullptr, 0);
  options.train = false;
  options.slots = 0;
  options.average = std::nullopt;
  Model model(graph, device.compute(), options);
  fill_model(model, stored);
  return TextGenerator(model, *data.train, device.threads).generate(request);
}

}  // namespace trainyard
