#include "compute/conv/cudnn/engine_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/offset_allocator.h"

namespace trainyard::cudnn {
namespace {

fs::path path_in(const fs::path& folder, const std::string& gpu, const std::string& cudnn_version) {
  if (folder.empty()) return {};
  return folder / ChoiceCache::file_name(gpu + "_cudnn-" + cudnn_version + ".json");
}

[[noreturn]] void differs_from_first(const std::string& key, const std::string& problem) {
  throw device_error(fmt::format(
      "{} ({}); all ranks of a run need the same GPU model and the same cuDNN", problem, key));
}

// Candidates to time. Engines of graphs that add the bias are compiled for them, up to a second
// each, so there are few of those.
constexpr std::size_t kMostPlain = 8;
constexpr std::size_t kMostWithBias = 3;

/// One convolution that needs an engine.
struct Wanted {
  const ConvGraph& graph;
  std::int64_t bias;
  const EnginePolicy& rules;
  std::string key;

  /// The graph of a choice.
  [[nodiscard]] ConvGraph graph_of(const EngineChoice& choice) const {
    const ConvGraph own = choice.adds_result ? graph : without_adding(graph);
    return choice.adds_bias ? with_bias(own) : own;
  }
  /// A result that is not added by its graph is in the workspace first.
  [[nodiscard]] EnginePolicy rules_of(bool adds_result) const {
    EnginePolicy own = rules;
    if (graph.adds_result && !adds_result) own.workspace_cap -= result_workspace(graph);
    return own;
  }
  /// Whether the graph may add the bias: there is no padding after its channels.
  [[nodiscard]] bool may_add_bias() const { return bias > 0 && bias == graph.output.extents[1]; }
};

/// Why a plan that is not timed does not run, or cannot be recorded; or "".
std::string failure_of(const EngineSearch& search, const Wanted& wanted, const EnginePlan& plan) {
  return search
      .make_trial({.graph = wanted.graph,
                   .bias = wanted.bias,
                   .workspace_bytes = static_cast<std::size_t>(plan.workspace_bytes),
                   .timed = false})
      ->refusal_of(plan);
}

/// Sets `plan`, or returns why the choice is unusable.
std::string remake(const EngineSearch& search, const Wanted& wanted, const EngineChoice& choice,
                   EnginePlan& plan) {
  if (choice.adds_bias && !wanted.may_add_bias()) return "it adds a bias that may not be added";
  if (choice.adds_result && !wanted.graph.adds_result) return "it adds what may not be added";
  try {
    plan = remake_plan(make_operation_graph(search.library, wanted.graph_of(choice)), search.device,
                       choice);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::device) throw;
    return error.what();
  }
  const std::string_view reason =
      refusal({.workspace_bytes = plan.workspace_bytes}, wanted.rules_of(choice.adds_result));
  return reason.empty() ? failure_of(search, wanted, plan) : std::string(reason);
}

std::optional<EnginePlan> known_plan(const EngineSearch& search, const Wanted& wanted) {
  const std::optional<EngineChoice> choice = search.book.known(wanted.key);
  if (!choice) return std::nullopt;
  search.tick();
  EnginePlan plan;
  const std::string problem = remake(search, wanted, *choice, plan);
  if (problem.empty()) return plan;
  search.check_gpu();
  search.book.reject(wanted.key, problem);
  return std::nullopt;
}

/// Engine plans of graphs that add their result, or of graphs that overwrite it.
std::vector<EnginePlan> candidates(const EngineSearch& search, const Wanted& wanted,
                                   bool adds_result, RefusalCount& refused) {
  const ConvGraph graph = wanted.graph_of({.adds_result = adds_result});
  PlanQuery query{.operation_graph = make_operation_graph(search.library, graph),
                  .device = search.device,
                  .adds_result = adds_result,
                  .rules = wanted.rules_of(adds_result),
                  .most = search.tune ? kMostPlain : 1,
                  .tick = search.tick};
  if (!search.tune) {
    query.refusal_of = [&](const EnginePlan& plan) { return failure_of(search, wanted, plan); };
  }
  std::vector<EnginePlan> plans = find_plans(query, refused);
  if (!search.tune || !wanted.may_add_bias()) return plans;
  query.operation_graph = make_operation_graph(search.library, with_bias(graph));
  query.adds_bias = true;
  query.most = kMostWithBias;
  std::ranges::move(find_plans(query, refused), std::back_inserter(plans));
  return plans;
}

/// The first of the fastest, saved for other runs; nothing if none runs.
std::optional<EnginePlan> fastest(const EngineSearch& search, const Wanted& wanted,
                                  const std::vector<EnginePlan>& plans, RefusalCount& refused) {
  std::int64_t workspace = 0;
  for (const EnginePlan& plan : plans) workspace = std::max(workspace, plan.workspace_bytes);
  const std::unique_ptr<EngineTrial> trial =
      search.make_trial({.graph = wanted.graph,
                         .bias = wanted.bias,
                         .workspace_bytes = static_cast<std::size_t>(workspace)});
  double best = std::numeric_limits<double>::infinity();
  const EnginePlan* winner = nullptr;
  for (const EnginePlan& plan : plans) {
    search.tick();
    const TrialResult result = trial->run(plan, best);
    if (!result.refusal.empty()) refused.add(result.refusal);
    if (!result.refusal.empty() || result.milliseconds >= best) continue;
    best = result.milliseconds;
    winner = &plan;
  }
  if (winner == nullptr) return std::nullopt;
  search.book.keep(wanted.key, winner->choice, best * 1000);
  return *winner;
}

/// One that adds its result if that is wanted and such an engine runs, else one that does not.
EnginePlan new_plan(const EngineSearch& search, const Wanted& wanted) {
  RefusalCount refused;
  std::optional<EnginePlan> chosen;
  for (const bool adds : {true, false}) {
    if (chosen || (adds && !wanted.graph.adds_result)) continue;
    const std::vector<EnginePlan> plans = candidates(search, wanted, adds, refused);
    if (!plans.empty()) chosen = search.tune ? fastest(search, wanted, plans, refused) : plans[0];
  }
  if (chosen) return *chosen;
  search.check_gpu();
  throw device_error(
      fmt::format("no cuDNN engine is left for {}: {}; 'deterministic: false' or another precision "
                  "may permit one",
                  wanted.key, refused.text()));
}

}  // namespace

EngineCache::EngineCache(const fs::path& folder, const std::string& gpu,
                         const std::string& cudnn_version, Warn warn)
    : ChoiceCache(
          {.path = path_in(folder, gpu, cudnn_version),
           .owner = gpu + " with cuDNN " + cudnn_version,
           .identity = {{"gpu", gpu}, {"cudnn", cudnn_version}},
           .check = [](const Json& json,
                       const std::string& source) { static_cast<void>(choice_of(json, source)); },
           .warn = std::move(warn)}) {}

std::optional<EngineChoice> EngineCache::find(const std::string& key) const {
  const std::optional<Json> found = ChoiceCache::find(key);
  if (!found) return std::nullopt;
  return choice_of(*found, path().string());
}

EngineBook::EngineBook(const CudaExecutorSettings& settings, const std::string& cudnn_version)
    : tune_(settings.tune),
      follows_(settings.engines_of == EngineSource::first_rank),
      warn_(settings.warn),
      cache_(settings.engine_folder, settings.gpu, cudnn_version, settings.warn),
      earlier_(earlier_choices(settings.engines, settings.engines_of, false, choice_of)) {}

std::optional<EnginePlan> EngineBook::used(const std::string& key) const {
  const auto found = used_.find(key);
  return found == used_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<EngineChoice> EngineBook::known(const std::string& key) const {
  if (const auto found = earlier_.find(key); found != earlier_.end()) return found->second;
  if (follows_) differs_from_first(key, "rank 0 chose no cuDNN engine for a convolution here");
  return tune_ ? cache_.find(key) : std::nullopt;
}

void EngineBook::reject(const std::string& key, const std::string& reason) {
  if (follows_) {
    differs_from_first(key, "the cuDNN engine that rank 0 chose is unusable here: " + reason);
  }
  if (earlier_.erase(key) == 0) return cache_.forget(key, key + ": " + reason);
  warn_(
      fmt::format("a cuDNN engine that this run began with is unusable here, and {}: the "
                  "last bits of its results may differ from those of an uninterrupted run "
                  "({}: {})",
                  tune_ ? "engines are timed again" : "another one is taken", key, reason));
}

void EngineBook::keep(const std::string& key, const EngineChoice& choice, double microseconds) {
  cache_.keep(key, choice, microseconds);
  cache_.save();
}

std::string EngineBook::chosen() const {
  Json all = Json::object();
  for (const auto& [key, plan] : used_) all[key] = json_of(plan.choice);
  return json_text(all);
}

std::int64_t result_workspace(const ConvGraph& graph) {
  return static_cast<std::int64_t>(aligned_bytes(graph.result().bytes()));
}

std::string choice_key(const ConvGraph& graph, std::int64_t bias, const EnginePolicy& rules) {
  const std::string sum = bias > 0 ? fmt::format(", and a bias of {}", bias) : "";
  return fmt::format("{}{}; {}", text_of(graph), sum, text_of(rules));
}

EnginePlan choose_engine(const EngineSearch& search, const ConvGraph& graph, std::int64_t bias,
                         const EnginePolicy& rules) {
  const Wanted wanted{graph, bias, rules, choice_key(graph, bias, rules)};
  if (std::optional<EnginePlan> shared = search.book.used(wanted.key)) return *shared;
  std::optional<EnginePlan> chosen = known_plan(search, wanted);
  if (!chosen) chosen = new_plan(search, wanted);
  search.book.use(wanted.key, *chosen);
  return *chosen;
}

}  // namespace trainyard::cudnn
