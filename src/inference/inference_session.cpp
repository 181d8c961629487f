#include "inference/inference_session.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "config/diagnostics.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"
#include "run/reproduction.h"
#include "run/session/session_data.h"
#include "run/session/session_model.h"

namespace trainyard {
namespace {

/// The run's objectives with further metrics, of which those that it has already are left out.
RunConfig with_metrics(RunConfig run, const InferenceOptions& options) {
  for (const auto& metric : options.metrics) {
    bool known = false;
    for (const auto& own : run.metrics) known = known || column_of(*own) == column_of(*metric);
    if (!known) run.metrics.push_back(metric);
  }
  return run;
}

ModelOptions options_of(const RunConfig& run, const SessionDevice& device,
                        std::int64_t kept_outputs) {
  ModelOptions options = model_options(run, device, 1, nullptr, 0);
  options.train = false;
  options.slots = 0;
  options.average = std::nullopt;  // the stored weights are those that are evaluated
  options.kept_outputs = kept_outputs;
  return options;
}

FeederOptions feeding(const StoredModel& stored, const InferenceData& data, std::int64_t batch,
                      const RankGroup& ranks) {
  return {.batch = batch,
          .seed = static_cast<std::uint64_t>(stored.config.seed),
          .shuffle = false,
          .train = false,
          .workers = static_cast<int>(stored.config.data.workers),
          .prefetch = static_cast<int>(stored.config.data.prefetch),
          .weights = data.weights,
          .rank = ranks.rank(),
          .ranks = ranks.size()};
}

/// The fields of the samples; for those without targets also the ones that losses would read, and
/// labels as the losses would have them.
std::vector<SampleField> fields_for(const RunConfig& run, const Graph& network, const Dataset& set,
                                    bool unlabelled) {
  std::vector<SampleField> fields = set.fields();
  if (!unlabelled) return fields;
  for (const SampleField& field : usual_fields(run, network)) {
    const auto found = std::ranges::find(fields, field.name, &SampleField::name);
    if (found == fields.end()) {
      fields.push_back(field);
    } else if (field.name == kLabelField) {
      *found = field;
    }
  }
  return fields;
}

/// Fields that batches bring; labels without a meaning are left out.
std::vector<std::string> fed_fields(const TrainingGraph& graph, const Dataset& set,
                                    bool unlabelled) {
  const std::vector<SampleField> fields = set.fields();
  std::vector<std::string> fed;
  for (const std::string& name : field_names(graph)) {
    const bool meant = !unlabelled || name != kLabelField;
    const bool there = meant && std::ranges::find(fields, name, &SampleField::name) != fields.end();
    if (there || name == kMaskField) fed.push_back(name);
  }
  return fed;
}

}  // namespace

std::int64_t batch_of(const StoredModel& stored, const InferenceOptions& options) {
  return options.batch > 0 ? options.batch : replica_batch(stored.config, 1);
}

ValueId output_of_layer(const RunConfig& run, const Graph& network, const std::string& layer) {
  const auto found = std::ranges::find(network.nodes, layer, &Node::path);
  if (found != network.nodes.end()) return found->outputs.at(0);
  const Graph whole = build_whole_network(run, 1);
  std::vector<std::string> names;
  for (const Node& node : network.nodes) names.push_back(node.path);
  const bool closing = std::ranges::find(whole.nodes, layer, &Node::path) != whole.nodes.end();
  refuse_command(closing ? "--layer: '" + layer +
                               "' is computed with the loss, and its output is what predict gives "
                               "without --layer; name a layer before it"
                         : "--layer: the network has no layer '" + layer +
                               "', by the names that train summary prints" +
                               config::suggestion(layer, names));
}

SessionDevice inference_device(const StoredModel& stored, DeviceChoice choice, RankGroup& ranks) {
  choice.choices = choices_of(stored.run / "run.json");
  return make_device(choice, stored.config, &ranks);
}

InferenceSession::InferenceSession(const StoredModel& stored, SessionDevice& device,
                                   RankGroup& ranks, const InferenceData& data,
                                   const InferenceOptions& options)
    : give_up_(device.ranks.get()) {
  RunConfig run = with_metrics(stored.config, options);
  run.data.mix.reset();  // mixing is for training alone
  const std::int64_t batch = batch_of(stored, options);
  Graph network = build_network(run, batch);
  require_fit(run, network, *data.set, *data.pipeline);
  const std::vector<SampleField> fields = fields_for(run, network, *data.set, options.unlabelled);
  const ValueId output =
      options.layer.empty() ? network.output : output_of_layer(run, network, options.layer);
  TrainingGraph graph = training_graph_of(run, std::move(network), fields);
  graph.graph.output = output;  // only now: losses read the last layer's
  model_ =
      std::make_unique<Model>(graph, device.compute(),
                              options_of(run, device, options.keep_outputs ? data.set->size() : 0));
  if (device.relay && ranks.rank() == 0 && !device.relay->given()) {
    device.relay->give(device.executors->choices());
  }
  fill_model(*model_, stored);
  FeederOptions feeder = feeding(stored, data, batch, ranks);
  if (!graph.mask.empty() && !options.unlabelled) {
    if (!feeder.weights) feeder.weights.emplace();
    feeder.weights->mask = graph.mask;
  }
  feeder.fields = fed_fields(graph, *data.set, options.unlabelled);
  feeder_ = std::make_unique<Feeder>(*data.set, *data.pipeline, std::move(feeder));
}

}  // namespace trainyard
