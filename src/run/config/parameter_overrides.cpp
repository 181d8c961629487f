#include "run/config/parameter_overrides.h"

#include <fmt/format.h>

#include <algorithm>

#include "run/config/layer_overrides.h"

namespace trainyard {
namespace {

/// The value of one pattern.
struct ParameterKeys {
  std::shared_ptr<const Optimizer> optimizer;
  std::optional<double> lr_mult;
  std::optional<double> weight_decay;
  std::optional<std::string> from;
  std::optional<std::string> until;
};

constexpr std::string_view kTimeForm =
    "a number of epochs or steps, such as '2 epochs' or '500 steps'";

void declare(config::Fields& fields, ParameterKeys& keys) {
  if (!fields.keys_only("{lr_mult: 64, weight_decay: 0}")) return;
  fields.one_of("optimizer", keys.optimizer, "in place of the run's; its lr follows the schedule",
                optimizer_kinds());
  fields.field("lr_mult", keys.lr_mult, "factor of the learning rate", {.minimum = 0});
  fields.field("weight_decay", keys.weight_decay, "in place of the optimizer's", {.minimum = 0});
  fields.saying(kTimeForm).field("from", keys.from,
                                 "when its training begins: '2 epochs', '500 steps'");
  fields.saying(kTimeForm).field("until", keys.until, "when its training ends");
}

/// A time in steps, if it is given.
std::optional<std::int64_t> steps_of(const std::optional<std::string>& time, const char* key,
                                     std::int64_t steps, config::Fields& fields) {
  if (!time) return std::nullopt;
  const std::optional<Interval> interval = interval_of(*time);
  if (!interval) {
    fields.error(key, "'" + std::string(key) + "' must be " + std::string(kTimeForm) + ", found '" +
                          *time + "'");
    return std::nullopt;
  }
  return interval->count * (interval->unit == Interval::Unit::epoch ? steps : 1);
}

ParameterOverride read_override(const RunConfig& run, const config::Node& node, std::int64_t steps,
                                config::Diagnostics& diagnostics) {
  config::Fields fields(node, nullptr, "parameters", run.profile, diagnostics);
  ParameterKeys keys;
  declare(fields, keys);
  fields.finish();
  if (keys.optimizer && run.optimizer && run.optimizer->rate == 0) {
    fields.error("optimizer",
                 "'optimizer' of parameters needs an 'lr' above 0 of the run's optimizer, to whose "
                 "schedule its own is in proportion");
  }
  return {.optimizer = keys.optimizer,
          .rate_multiplier = keys.lr_mult,
          .weight_decay = keys.weight_decay,
          .first_step = steps_of(keys.from, "from", steps, fields),
          .end_step = steps_of(keys.until, "until", steps, fields)};
}

template <class T>
void replace(std::optional<T>& value, const std::optional<T>& by) {
  if (by) value = by;
}

/// Adds what `later` gives to `own`, or replaces it.
void merge(ParameterOverride& own, const ParameterOverride& later) {
  if (later.optimizer) own.optimizer = later.optimizer;
  replace(own.rate_multiplier, later.rate_multiplier);
  replace(own.weight_decay, later.weight_decay);
  replace(own.first_step, later.first_step);
  replace(own.end_step, later.end_step);
}

/// Gives parameters that are no matrices the `rest` of an optimizer of matrices; the first one
/// without any is an error.
void give_rest(const Optimizer& usual, const Graph& graph, ParameterOverrides& overrides,
               config::Diagnostics& diagnostics) {
  for (const Node& node : graph.nodes) {
    for (const ParameterSpec& spec : own_parameters(node)) {
      const std::string name = node.path + "." + spec.name;
      const Optimizer& own = optimizer_of(name, usual, overrides);
      if (!of_matrices(own.rule) || spec.shape.rank() > 1) continue;
      if (own.rest == nullptr) {
        return diagnostics.error(
            own.where,
            fmt::format("{} is for matrices, and '{}' is not one: give it an optimizer for "
                        "such parameters, 'rest: {{adamw: {{lr: 3e-4}}}}'",
                        own.name, name));
      }
      overrides[name].optimizer = own.rest;
    }
  }
}

std::vector<std::string> parameter_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    for (const ParameterSpec& spec : own_parameters(node)) {
      names.push_back(node.path + "." + spec.name);
    }
  }
  return names;
}

}  // namespace

ParameterOverrides parameter_overrides(const RunConfig& run, const Graph& graph, std::int64_t steps,
                                       config::Diagnostics& diagnostics) {
  ParameterOverrides overrides;
  if (run.parameters.kind != config::Node::Kind::map) {
    diagnostics.error(run.parameters.where,
                      "parameters: expected a map of parameters to their keys, found " +
                          config::describe(run.parameters));
  }
  const std::vector<std::string> names = parameter_names(graph);
  for (const auto& [pattern, where, keys] : run.parameters.entries) {
    const ParameterOverride own = read_override(run, keys, steps, diagnostics);
    bool any = false;
    for (const std::string& name : names) {
      if (!names_layer(pattern, name)) continue;
      merge(overrides[name], own);
      any = true;
    }
    if (any) continue;
    diagnostics.error(where, "parameters: no parameter is named by '" + pattern + "'" +
                                 config::suggestion(pattern, names));
  }
  if (run.optimizer) give_rest(*run.optimizer, graph, overrides, diagnostics);
  return overrides;
}

int state_blocks(const RunConfig& run) {
  std::size_t most = 0;
  const auto count = [&most](const Optimizer& own) {
    most = std::max(most, own.slots.size());
    if (own.rest) most = std::max(most, own.rest->slots.size());
  };
  count(*run.optimizer);
  for (const config::Entry& entry : run.parameters.entries) {
    config::Diagnostics diagnostics;  // they are checked with the network
    const ParameterOverride own = read_override(run, entry.value, 1, diagnostics);
    if (own.optimizer) count(*own.optimizer);
  }
  return static_cast<int>(most);
}

}  // namespace trainyard
