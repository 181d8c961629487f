// A run file: what is trained, on which data, how, and what is written.
//
// The folder run/config reads and checks run files; it trains nothing and opens no device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/fields.h"
#include "config/load.h"
#include "config/node.h"
#include "ops/loss.h"
#include "ops/metric.h"
#include "optim/lookahead.h"
#include "optim/optimizer.h"
#include "optim/rate_scaling.h"
#include "optim/schedule.h"
#include "plan/target.h"
#include "run/config/run_sections.h"

namespace trainyard {

/// `per_gpu` or `total`, never a bare number.
struct BatchConfig {
  std::optional<std::int64_t> per_gpu;
  std::optional<std::int64_t> total;
  std::optional<std::int64_t> shards;  // shards of `total`; see run/config/shards.h
  enum class Remainder { drop } remainder = Remainder::drop;
};

struct BestConfig {
  std::string metric;
  enum class Mode { min, max } mode = Mode::max;
};

struct CheckpointConfig {
  std::string every = "1 epoch";
  std::int64_t keep = 3;
  std::optional<BestConfig> best;
};

[[nodiscard]] constexpr config::Words<BestConfig::Mode> words(BestConfig::Mode) {
  return {"min", "max"};
}

/// The forms of Winograd's convolutions that the CPU may take: none, those with small rounding
/// errors, or all.
enum class WinogradForms { none, accurate, fast };
[[nodiscard]] constexpr config::Words<WinogradForms> words(WinogradForms) {
  return {"false", "accurate", "fast"};
}

/// How a metric is compared if the file does not say so: see lower_is_better().
[[nodiscard]] BestConfig::Mode usual_mode(const std::string& metric);

struct EarlyStopConfig {
  std::int64_t patience = 10;
  double min_delta = 0;
};

/// See LossScale.
struct LossScaleConfig {
  double start = 1024;
  bool dynamic = false;
  std::int64_t growth = 2000;
};

/// A value: what is built from it shares its members, which never change.
struct RunConfig {
  std::string name;
  config::Profile profile = config::Profile::keras2;
  config::Node network;  // inline keys, or {file, vars, defaults}
  DataConfig data;
  BatchConfig batch;
  std::shared_ptr<const LossOp> loss;
  std::vector<std::shared_ptr<const LossOp>> heads;  // losses on other outputs, or further ones
  std::vector<std::shared_ptr<const Metric>> metrics;
  WeightsConfig weights;
  std::shared_ptr<const Optimizer> optimizer;
  std::shared_ptr<const Schedule> schedule;  // schedule of the file, see schedule_of()
  /// Not given: none, with a warning where that matters.
  std::shared_ptr<const RateScaling> lr_scaling;
  RunLength length;
  std::int64_t seed = 42;
  std::optional<InitConfig> init;
  config::Node freeze{.kind = config::Node::Kind::list};  // patterns of layers
  config::Node freeze_statistics{.kind = config::Node::Kind::list};
  config::Node lr_mult{.kind = config::Node::Kind::map};     // pattern: factor
  config::Node parameters{.kind = config::Node::Kind::map};  // pattern: see parameter_overrides.h
  double clip_norm = 0;                                      // 0: none
  std::int64_t accumulate = 1;                               // micro-batches per step
  std::int64_t threads = 0;                                  // per rank; 0: all cores
  std::optional<Precision> precision;  // not given: the device's own (default_precision)
  bool deterministic = true;           // for a GPU's engines
  bool overlap = true;  // overlap of a GPU's kernels with the end of those before them
  WinogradForms winograd = WinogradForms::accurate;  // on the CPU, where it is faster
  std::optional<LossScaleConfig> loss_scale;         // not given: 1024 in fp16, else none
  std::optional<CheckpointConfig> checkpoint = CheckpointConfig{};
  Interval checkpoint_every;  // from checkpoint.every
  std::optional<AverageConfig> average;
  std::optional<Lookahead> lookahead;
  std::optional<TrainEvalConfig> train_eval;
  std::optional<EarlyStopConfig> early_stop;
  std::optional<PlateauConfig> plateau;
  OutputConfig output;
  std::optional<HookCommands> hooks;
  RanksConfig ranks;
  RankLimits limits;

  config::Node settled;  // the file with every default explicit
  std::string file;      // the file itself
};

/// Mutually exclusive keys of a run file, for extends and --set.
[[nodiscard]] std::span<const config::ExclusiveKeys> run_rivals();

/// Reads a run file with its overrides. `data_folder` replaces "data" as the default of a data
/// source's `root`; "" leaves it. Throws Error{config} with all errors of the file.
[[nodiscard]] RunConfig read_run_config(const std::filesystem::path& path,
                                        std::span<const std::string> overrides,
                                        const std::string& data_folder = "");

/// Throws Error{config} for gradients that are sent in 16 bits and computed in 64.
void require_transport(const RunConfig& run, Precision precision);

/// Fixes the thread count of a run, in its settled map too.
void settle_threads(RunConfig& run, std::int64_t threads);
/// Fixes the precision of a run, in its settled map too, and the loss scale that it requires,
/// unless that is off.
void settle_precision(RunConfig& run, Precision precision);

/// The declarations of a run file, for the schema and the reference.
[[nodiscard]] std::vector<config::FieldDescription> describe_run();

/// The network map of a run: the loaded file with vars and defaults applied, or the inline one.
/// Throws Error{config}.
[[nodiscard]] config::Node network_of(const RunConfig& run);

}  // namespace trainyard
