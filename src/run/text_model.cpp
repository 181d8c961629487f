#include "run/text_model.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "run/config/layer_rules.h"
#include "run/session/session_model.h"

namespace trainyard {

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

}  // namespace trainyard
