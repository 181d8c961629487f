#include "run/run_start.h"

#include "graph/summary.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_rules.h"
#include "run/config/resolved_config.h"
#include "run/new_run.h"
#include "run/resumed_run.h"

namespace trainyard {

namespace {

/// The table of `train summary`, with the activations of a rank.
std::string network_table(const RunConfig& config, int ranks) {
  const Graph graph = build_whole_network(config, replica_batch(config, ranks));
  return summary_text(summarise(graph, loss_computes_closing(config, graph)));
}

}  // namespace

void RunStart::describe_config(int ranks) {
  config_ = {.resolved = resolved_yaml(request_.config),
             .typed = typed_yaml(request_.config),
             .network = network_table(request_.config, ranks)};
  config_.hash = config_hash(config_.typed, init_hash_);
}

std::unique_ptr<RunStart> make_start(TrainingRequest& request) {
  if (request.resume.empty()) return std::make_unique<NewRun>(request);
  return std::make_unique<ResumedRun>(request);
}

}  // namespace trainyard
