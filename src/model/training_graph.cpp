#include "model/training_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "config/diagnostics.h"
#include "ops/bn.h"
#include "ops/convolution.h"

namespace trainyard {
namespace {

/// A batch norm that syncs; else null.
const BnOp* synced(const Node& node) {
  const auto* const bn = dynamic_cast<const BnOp*>(node.op.get());
  return bn != nullptr && bn->values().sync ? bn : nullptr;
}

/// The statistics of the node, counted over `replicas`.
void count_replicas(const Graph& graph, Node& node, int replicas) {
  const BnOp* const bn = synced(node);
  if (bn == nullptr) return;
  BnAttributes attributes = bn->values();
  attributes.replicas = replicas;
  node.op = std::make_shared<BnOp>(attributes);
  std::vector<Shape> inputs;
  for (const ValueId input : node.inputs) inputs.push_back(graph.values[input].shape);
  node.signature.statistics = node.op->infer(inputs).statistics;
}

/// "'a', 'b'".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

/// Appends the parts of a training graph to a network.
class Attacher {
 public:
  Attacher(Graph network, const Objectives& objectives) : objectives_(objectives) {
    result_.graph = std::move(network);
  }

  TrainingGraph run() {
    add_fields();
    add_losses();
    const std::int64_t batch = graph_.values[graph_.inputs[0]].shape.n();
    result_.positions = graph_.values[result_.loss].shape.n() / batch;
    for (const auto& metric : objectives_.metrics) {
      if (metric->of_split()) {
        add_split_metric(metric);
        continue;
      }
      const ValueId output = append(node_path(metric->output, std::string(metric->type())), metric,
                                    {output_named(graph_, metric->output), compared_with(*metric)});
      add_metric(metric, column_of(*metric), output);
    }
    add_columns_of_losses();
    graph_.outputs.clear();
    return std::move(result_);
  }

 private:
  static std::string node_path(const std::string& output, const std::string& name) {
    return output.empty() ? name : output + "_" + name;
  }

  void add_fields() {
    add_network_input();
    result_.mask = label_shape().rank() == 0 ? "" : mask_of_losses();
    const bool read = std::ranges::any_of(objectives_.metrics, [](const auto& metric) {
      return !metric->of_split() && !metric->of_target();
    });
    if (read) labels_ = field(kLabelField);
    for (const auto& loss : objectives_.losses) static_cast<void>(field(loss->values().target));
    if (objectives_.mixed) {
      mixed_ = add_input({.name = kMixField, .shape = {2}, .type = DType::f32});
    }
    if (objectives_.weighted || !result_.mask.empty()) {
      result_.sample_weights =
          add_input({.name = kWeightField, .shape = label_shape(), .type = DType::f32});
    }
  }

  /// Shape of a sample's labels: rank 0, or [t] with one for each position.
  [[nodiscard]] Shape label_shape() const {
    const auto label = std::ranges::find(objectives_.fields, kLabelField, &SampleField::name);
    return label == objectives_.fields.end() ? Shape{} : label->shape;
  }

  void add_network_input() {
    if (graph_.vocabulary > 0) {
      result_.fields.push_back({kTokensField, graph_.inputs[0]});
    } else {
      result_.images = graph_.inputs[0];
    }
    const auto& inputs = graph_.inputs;
    if (std::ranges::find(inputs, graph_.mask) != inputs.end()) {
      result_.fields.push_back({kMaskField, graph_.mask});
    }
  }

  /// The field that masks the positions of the losses; "": none does.
  [[nodiscard]] std::string mask_of_losses() const {
    std::set<std::string> masks;
    for (const auto& loss : objectives_.losses) {
      const auto mask = graph_.masks.find(output_named(graph_, loss->values().output));
      if (mask == graph_.masks.end()) {
        masks.insert("");
      } else {
        masks.insert(mask->second == graph_.mask ? kMaskField : kTokensField);
      }
    }
    if (masks.size() == 1) return *masks.begin();
    throw config_error(
        "the losses are of sequences with and without padding, but share the weights of their "
        "positions; mask all of these outputs, or none");
  }

  /// The input of this field, added if it is new.
  ValueId field(const std::string& name) {
    const auto known = std::ranges::find(result_.fields, name, &GraphField::name);
    if (known != result_.fields.end()) return known->value;
    const auto found = std::ranges::find(objectives_.fields, name, &SampleField::name);
    if (found != objectives_.fields.end()) return add_input(*found);
    std::vector<std::string> names;
    for (const SampleField& one : objectives_.fields) names.push_back(one.name);
    throw config_error("the data have no field '" + name + "'; their fields are " + listed(names));
  }

  ValueId add_input(const SampleField& of) {
    const std::int64_t batch = graph_.values[graph_.inputs[0]].shape.n();
    const auto value = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back({.shape = of.batched(batch), .type = of.type, .exact = true});
    graph_.inputs.push_back(value);
    result_.fields.push_back({of.name, value});
    return value;
  }

  /// What a metric compares its output with.
  ValueId compared_with(const Metric& metric) {
    if (!metric.of_target()) return labels_;
    for (const auto& loss : objectives_.losses) {
      if (loss->values().output == metric.output) return field(loss->values().target);
    }
    throw config_error(
        "metric '" + column_of(metric) + "' compares " +
        (metric.output.empty() ? "the last layer" : "output '" + metric.output + "'") +
        " with the target of its loss, but no loss is on it; add one to 'heads' or remove the "
        "metric");
  }

  ValueId append(const std::string& path, std::shared_ptr<const Op> op,
                 std::vector<ValueId> inputs) {
    Node node{.path = path, .op = std::move(op), .inputs = std::move(inputs)};
    return graph_.nodes[append_node(graph_, std::move(node))].outputs[0];
  }

  void add_losses() {
    const bool several = objectives_.losses.size() > 1;
    std::vector<double> weights;
    for (const auto& loss : objectives_.losses) {
      const LossAttributes& of = loss->values();
      std::vector<ValueId> inputs{output_named(graph_, of.output), field(of.target)};
      if (result_.sample_weights >= 0) inputs.push_back(result_.sample_weights);
      if (mixed_ >= 0) inputs.push_back(mixed_);
      losses_.push_back(append(several ? column_of(*loss) : "loss", loss, std::move(inputs)));
      weights.push_back(of.weight);
    }
    const bool plain = !several && weights[0] == 1;
    result_.loss = plain ? losses_[0]
                         : append(several ? "loss" : "weighted_loss",
                                  std::make_shared<LossSumOp>(weights), losses_);
  }

  void add_metric(std::shared_ptr<const Metric> op, std::string column, ValueId output) {
    const std::int64_t rows = graph_.values[output].shape.n();
    const std::int64_t loss_rows = graph_.values[result_.loss].shape.n();
    if (rows != loss_rows) {
      throw config_error("metric '" + column + "' counts " + std::to_string(rows) +
                         " rows in a batch, the loss " + std::to_string(loss_rows) +
                         "; both are of samples, or both of positions");
    }
    const std::int64_t width = metric_width(graph_.values[output].shape);
    result_.metrics.push_back({std::move(op), std::move(column), output, width});
  }

  void add_split_metric(const std::shared_ptr<const Metric>& op) {
    if (result_.positions > 1) {
      throw config_error("metric '" + column_of(*op) +
                         "' needs one label of each sample, but the network predicts at " +
                         std::to_string(result_.positions) + " positions; remove it");
    }
    result_.metrics.push_back({.op = op, .column = column_of(*op), .output = -1, .width = 0});
  }

  void add_columns_of_losses() {
    if (losses_.size() == 1) return;
    for (std::size_t i = 0; i < losses_.size(); ++i) {
      add_metric(nullptr, column_of(*objectives_.losses[i]), losses_[i]);
    }
  }

  const Objectives& objectives_;
  TrainingGraph result_;
  Graph& graph_ = result_.graph;
  ValueId labels_ = -1, mixed_ = -1;
  std::vector<ValueId> losses_;
};

}  // namespace

TrainingGraph attach_objectives(Graph network, const Objectives& objectives) {
  return Attacher(std::move(network), objectives).run();
}

ValueId output_named(const Graph& network, const std::string& name) {
  if (name.empty()) return network.output;
  const auto found = std::ranges::find(network.outputs, name, &NamedOutput::name);
  if (found != network.outputs.end()) return found->value;
  std::vector<std::string> names;
  for (const NamedOutput& output : network.outputs) names.push_back(output.name);
  throw config_error("the network has no output '" + name + "'; its named outputs are " +
                     listed(names) + " (the key 'outputs' of the network names them)");
}

std::vector<std::string> field_names(const TrainingGraph& graph) {
  std::vector<std::string> names;
  for (const GraphField& field : graph.fields) {
    if (field.value != graph.sample_weights) names.push_back(field.name);
  }
  return names;
}

std::int64_t metric_sums(const TrainingGraph& graph) {
  std::int64_t sums = 0;
  for (const GraphMetric& metric : graph.metrics) sums += metric.width;
  return graph.sample_weights < 0 ? sums : sums + 2;
}

std::optional<std::int64_t> weight_sums(const TrainingGraph& graph) {
  if (graph.sample_weights < 0) return std::nullopt;
  return metric_sums(graph) - 2;
}

double total_weight(const TrainingGraph& graph, std::span<const double> sums,
                    std::int64_t samples) {
  const auto at = weight_sums(graph);
  return at ? sums[static_cast<std::size_t>(*at)] : static_cast<double>(samples);
}

std::int64_t counted_rows(const TrainingGraph& graph, std::span<const double> sums,
                          std::int64_t samples) {
  const auto at = weight_sums(graph);
  return at ? static_cast<std::int64_t>(sums[static_cast<std::size_t>(*at) + 1])
            : samples * graph.positions;
}

std::vector<double> metric_values(const TrainingGraph& graph, std::span<const double> sums,
                                  std::int64_t samples) {
  const double weight = total_weight(graph, sums, samples);
  const std::int64_t counted = counted_rows(graph, sums, samples);
  std::vector<double> values;
  for (const GraphMetric& metric : graph.metrics) {
    const auto width = static_cast<std::size_t>(metric.width);
    values.push_back(metric.op == nullptr ? sums[0] / weight
                                          : metric.op->finish(sums.first(width), counted));
    sums = sums.subspan(width);
  }
  return values;
}

std::optional<std::int64_t> sum_of_metric(const TrainingGraph& graph, std::string_view column) {
  std::int64_t first = 0;
  for (const GraphMetric& metric : graph.metrics) {
    if (metric.column == column) return first;
    first += metric.width;
  }
  return std::nullopt;
}

TrainingGraph with_batch(const TrainingGraph& graph, std::int64_t batch) {
  TrainingGraph result = graph;
  result.graph = with_batch(graph.graph, batch);
  return result;
}

void require_whitenable(const Graph& network) {
  for (const Node& node : network.nodes) {
    const auto own = own_parameters(node);
    if (own.empty() || own[0].initializer.kind != Initializer::Kind::whitening) continue;
    const auto* const conv = dynamic_cast<const ConvOp*>(node.op.get());
    const std::int64_t values = own[0].shape.elements() / own[0].shape[0];
    const bool plain = conv != nullptr && node.inputs[0] == network.inputs[0] &&
                       conv->values().groups == 1 && conv->values().dilation == config::Pair{};
    if (plain && own[0].shape[0] == 2 * values) continue;
    throw config_error(
        fmt::format("{}: 'init: whitening' requires a convolution of the network's input, without "
                    "groups and dilation, with two filters for each value of a patch, found {}",
                    node.where.text(),
                    plain ? fmt::format("{} filters; use {}", own[0].shape[0], 2 * values)
                          : "'" + node.path + "'"));
  }
}

void require_batch_variance(const Graph& network, int replicas) {
  config::Diagnostics diagnostics;
  for (const Node& node : network.nodes) {
    const auto* const bn = dynamic_cast<const BnOp*>(node.op.get());
    if (bn == nullptr || bn->values().fixed) continue;
    const Shape& input = network.values[node.inputs[0]].shape;
    const bool sync = bn->values().sync;
    if (input.n() * input.h() * input.w() * (sync ? replicas : 1) > 1) continue;
    diagnostics.error(node.where,
                      "bn '" + node.path +
                          "' has one value per channel, a batch of 1 with one pixel each: its mean "
                          "is the value, so the output does not depend on the input and nothing "
                          "before it learns; raise 'batch' or remove the layer");
  }
  diagnostics.raise();
}

TrainingGraph with_replicas(const TrainingGraph& graph, int replicas) {
  TY_CHECK(replicas >= 1, "a network is trained by at least one replica");
  TrainingGraph result = graph;
  if (replicas == 1) return result;
  for (Node& node : result.graph.nodes) count_replicas(result.graph, node, replicas);
  return result;
}

bool syncs_batch_norms(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) { return synced(node) != nullptr; });
}

}  // namespace trainyard
