// The run file's keys that are maps of their own: `data`, those on the weights of samples,
// `init`, `average`, `plateau`, `ranks`, `limits`, `train_eval`, `hooks`, `output` and its
// `generate`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "config/node.h"
#include "data/augment/pipeline.h"
#include "data/sets/dataset.h"
#include "optim/schedule.h"
#include "ranks/rendezvous/failure.h"
#include "report/hooks.h"

namespace trainyard {

/// "1 epoch", "500 steps".
struct Interval {
  std::int64_t count = 1;
  enum class Unit { epoch, step } unit = Unit::epoch;
};

/// Empty for a text that is not an interval, or one of less than 1.
[[nodiscard]] std::optional<Interval> interval_of(std::string_view text);

/// The weights of samples in losses.
struct WeightsConfig {
  config::Node classes{.kind = config::Node::Kind::map};  // class: weight, or 'balanced'
  std::optional<std::int64_t> ignore_label;
  std::string samples;      // field of the data; "": none
  bool validation = false;  // also in validation

  /// True if samples have weights.
  [[nodiscard]] bool any() const {
    return classes.kind != config::Node::Kind::map || !classes.entries.empty() || ignore_label ||
           !samples.empty();
  }
};

/// Declares them in the map of the run itself.
void declare_weights(config::Fields& fields, WeightsConfig& weights);

/// Where the initial weights come from.
struct InitConfig {
  config::FilePath from;
  std::vector<std::string> skip;  // patterns of layers
};

void declare(config::Fields& fields, InitConfig& init);

struct AverageConfig {
  double ema = 0.999;  // see AveragePolicy, like the next two
  std::int64_t every = 1;
  bool warmup = false;
  /// The copy that is evaluated, chosen as the best, and saved as the run's weights.
  enum class Judged { average, trained } judged = Judged::average;
};

void declare(config::Fields& fields, AverageConfig& average);

struct PlateauConfig {
  std::string monitor = "val_loss";
  PlateauPolicy rule;
};

void declare(config::Fields& fields, PlateauConfig& plateau);

struct RunConfig;
/// A warning for a plateau beside a schedule, which it multiplies; else "".
[[nodiscard]] std::string plateau_warning(const RunConfig& run);

/// How ranks work together.
struct RanksConfig {
  enum class Transport { fp32, bf16, fp16 } transport = Transport::fp32;
  std::int64_t check_weights = 0;  // steps between comparisons of all ranks' models
};

/// "bf16".
[[nodiscard]] std::string_view name_of(RanksConfig::Transport transport);

void declare(config::Fields& fields, RanksConfig& ranks);
void declare(config::Fields& fields, RankLimits& limits);

/// How long a run trains: one of the two is given, or it is one epoch.
struct RunLength {
  std::optional<double> epochs;  // above 0; a fraction ends the run within its last epoch
  std::optional<std::int64_t> steps;

  /// Steps of the run; a fraction of a step counts as one.
  [[nodiscard]] std::int64_t all_steps(std::int64_t steps_per_epoch) const;
  /// Epochs of the run; the last may have fewer steps.
  [[nodiscard]] std::int64_t all_epochs(std::int64_t steps_per_epoch) const {
    return (all_steps(steps_per_epoch) + steps_per_epoch - 1) / steps_per_epoch;
  }
};

/// `epochs` and `steps`, keys of the run file itself.
void declare_length(config::Fields& fields, RunLength& length);

struct TrainEvalConfig {
  std::string every;
  std::int64_t epochs = 1;   // from `every`
  std::int64_t samples = 0;  // 0: as many as the validation split has
};

void declare(config::Fields& fields, TrainEvalConfig& clean);

/// Texts of `length` tokens, one for each temperature.
struct GenerateConfig {
  std::vector<double> temperatures{0.2, 0.5, 1.0, 1.2};
  std::int64_t length = 400;
};

void declare(config::Fields& fields, GenerateConfig& generate);

void declare(config::Fields& fields, HookCommands& hooks);

/// What a verb says that trains nothing: "hooks: epoch, end: shell commands that a run starts, not
/// this"; "" without commands.
[[nodiscard]] std::string hooks_text(const std::optional<HookCommands>& hooks);

struct PlotConfig {
  enum class Style { panels, guide } style = Style::panels;
  std::string title;
};

[[nodiscard]] constexpr config::Words<PlotConfig::Style> words(PlotConfig::Style) {
  return {"panels", "guide"};
}

struct OutputConfig {
  std::optional<PlotConfig> plot = PlotConfig{};
  bool steps = false;
  bool classes = false;
  bool tensorboard = false;
  std::optional<GenerateConfig> generate;
};

void declare(config::Fields& fields, PlotConfig& plot);
void declare(config::Fields& fields, OutputConfig& output);

/// How the samples of an epoch are drawn, in place of each once.
struct SamplerConfig {
  double balanced = 1;       // strength, see BalancedSampler; 0 with repeats
  std::int64_t repeats = 1;  // see EpochOrder
};

/// One split: a source with its keys, and in which order it is taken.
struct SplitConfig {
  std::shared_ptr<const DatasetSource> source;
  Position where;  // position of the source's name
  bool shuffle = true;
  std::optional<SamplerConfig> sampler = {};  // training only
  [[nodiscard]] std::int64_t repeats() const { return sampler ? sampler->repeats : 1; }
};

/// Whether data sets stay on the device.
enum class Resident { automatic, always, never };

struct DataConfig {
  SplitConfig train;
  SplitConfig val;  // the file's, or the part of the training samples that `val_fraction` takes
  std::optional<double> val_fraction;
  std::vector<std::shared_ptr<const Preprocess>> preprocess;
  std::vector<std::shared_ptr<const Augmentation>> augment;
  std::optional<MixOptions> mix;
  Position preprocess_at, augment_at, mix_at;  // in the file
  std::int64_t workers = 1;
  Resident resident = Resident::automatic;
  std::int64_t prefetch = 2;
};

[[nodiscard]] constexpr config::Words<Resident> words(Resident) {
  return {"auto", "always", "never"};
}
void declare(config::Fields& fields, DataConfig& data);

/// Writes `root: FOLDER` into `data.train` and `data.val` of a run file's map if they name a source
/// whose `root` has a default and give none. An empty `folder` changes nothing.
void put_default_root(config::Node& run, const std::string& folder);

}  // namespace trainyard
