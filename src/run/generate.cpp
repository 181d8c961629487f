#include "run/generate.h"

#include "run/config/layer_rules.h"
#include "run/session/session_data.h"
#include "run/text_model.h"
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
  const std::int64_t rows = std::ssize(request.config.temperatures);
  require_fit(run, build_network(run, rows), *data.train, *data.pipeline);
  const std::unique_ptr<Model> model = make_text_model(run, device, *data.train, rows);
  fill_model(*model, stored);
  return TextGenerator(*model, *data.train, device.threads).generate(request);
}

}  // namespace trainyard
