#include "run/config/run_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "config/diagnostics.h"
#include "config/expression.h"
#include "config/load.h"
#include "config/schema.h"
#include "graph/build.h"
#include "ops/all.h"
#include "optim/step_functors.h"
#include "run/config/batch_rate.h"
#include "run/config/best_metric_choice.h"
#include "run/config/default_root.h"
#include "run/config/shards.h"

namespace trainyard {

using config::Fields;
using config::Limits;

std::span<const config::Word<BatchConfig::Remainder>> words(BatchConfig::Remainder) {
  static constexpr std::array list{
      config::Word<BatchConfig::Remainder>{BatchConfig::Remainder::drop, "drop"}};
  return list;
}

std::span<const config::Word<Resident>> words(Resident) {
  static constexpr std::array list{config::Word<Resident>{Resident::automatic, "auto"},
                                   config::Word<Resident>{Resident::always, "always"},
                                   config::Word<Resident>{Resident::never, "never"}};
  return list;
}

std::span<const config::Word<BestConfig::Mode>> words(BestConfig::Mode) {
  static constexpr std::array list{config::Word<BestConfig::Mode>{BestConfig::Mode::min, "min"},
                                   config::Word<BestConfig::Mode>{BestConfig::Mode::max, "max"}};
  return list;
}

std::span<const config::Word<Precision>> words(Precision) {
  static constexpr std::array list{config::Word<Precision>{Precision::fp32, "fp32"},
                                   config::Word<Precision>{Precision::tf32, "tf32"},
                                   config::Word<Precision>{Precision::bf16, "bf16"},
                                   config::Word<Precision>{Precision::fp16, "fp16"},
                                   config::Word<Precision>{Precision::fp64, "fp64"}};
  return list;
}

std::span<const config::Word<PlotConfig::Style>> words(PlotConfig::Style) {
  using Style = PlotConfig::Style;
  static constexpr std::array list{config::Word<Style>{Style::panels, "panels"},
                                   config::Word<Style>{Style::guide, "guide"}};
  return list;
}

std::span<const config::Word<RanksConfig::Transport>> words(RanksConfig::Transport) {
  using Transport = RanksConfig::Transport;
  static constexpr std::array list{config::Word<Transport>{Transport::fp32, "fp32"},
                                   config::Word<Transport>{Transport::bf16, "bf16"},
                                   config::Word<Transport>{Transport::fp16, "fp16"}};
  return list;
}

namespace config {

std::span<const Word<Profile>> words(Profile) {
  static constexpr std::array list{Word<Profile>{Profile::keras2, "keras2"},
                                   Word<Profile>{Profile::torch, "torch"}};
  return list;
}

}  // namespace config

void declare(Fields& fields, SplitConfig& split) {
  fields.select("source", split.source, "where the samples come from", dataset_kinds());
  fields.field("shuffle", split.shuffle, "a new order every epoch (training only)");
}

void declare(Fields& fields, DataConfig& data) {
  fields.required("train", data.train, "the training split");
  fields.required("val", data.val, "the validation split, evaluated whole after each epoch");
  fields.list_of("preprocess", data.preprocess, "applied to every sample, in order",
                 preprocess_kinds());
  fields.list_of("augment", data.augment, "applied to training samples before preprocess, in order",
                 augmentation_kinds());
  fields.field("workers", data.workers, "threads that prepare batches; 0: none of their own",
               {.minimum = 0, .maximum = 256});
  fields.field("resident", data.resident,
               "keep 8-bit images on the device, which makes the batches; auto: on a GPU where "
               "they take at most a quarter of its free memory, else they cross with each batch");
  fields.field("prefetch", data.prefetch, "batches ready ahead", {.minimum = 1, .maximum = 64});
}

void declare(Fields& fields, BatchConfig& batch) {
  if (!fields.keys_only("{per_gpu: 64}")) return;
  const Limits positive{.minimum = 1};
  fields.field("per_gpu", batch.per_gpu, "samples a step on each device", positive);
  fields.field("total", batch.total, "samples a step on all devices together", positive);
  fields.field("shards", batch.shards,
               "equal parts of total, a power of two, each computed by itself with its own batch "
               "norm and summed in one order: the same bits on any number of ranks that divides it",
               {.minimum = 1, .maximum = kMostShards});
  fields.field("remainder", batch.remainder,
               "the samples of an epoch that do not fill a batch: dropped");
  if (!fields.describing() && batch.per_gpu.has_value() == batch.total.has_value()) {
    fields.error("", "'batch' wants either 'per_gpu' or 'total'");
  }
  if (!fields.describing()) check_shards(fields, batch);
}

void declare(Fields& fields, BestConfig& best) {
  fields.required("metric", best.metric, "val_ column of metrics.csv to judge by");
  const bool minimised = best.metric.find("loss") != std::string::npos ||
                         best.metric.find("error") != std::string::npos;
  best.mode = minimised ? BestConfig::Mode::min : BestConfig::Mode::max;
  fields.field("mode", best.mode,
               "whether more or less of it is better; left out: less of a loss or an error");
}

void declare(Fields& fields, CheckpointConfig& checkpoint) {
  fields.field("every", checkpoint.every, "how often: '1 epoch', '500 steps'");
  fields.field("keep", checkpoint.keep, "newest checkpoints kept, best and last apart",
               {.minimum = 1});
  fields.field("best", checkpoint.best, "which checkpoint is the best one");
}

void declare(Fields& fields, EarlyStopConfig& stop) {
  fields.field("patience", stop.patience, "epochs without a better value before training ends",
               {.minimum = 1});
  fields.field("min_delta", stop.min_delta, "least change that counts as better", {.minimum = 0});
}

void declare(Fields& fields, LossScaleConfig& scale) {
  fields.field("start", scale.start, "factor of the loss at first, a power of two",
               {.minimum = 1, .maximum = LossScale::kMost});
  fields.field("dynamic", scale.dynamic, "halve it where gradients overflow, and skip the update");
  fields.field("growth", scale.growth, "updates without overflow until a dynamic one is doubled",
               {.minimum = 1});
  if (!fields.describing() && std::exp2(std::round(std::log2(scale.start))) != scale.start) {
    fields.error("start", fmt::format("'start' wants a power of two, found {}", scale.start));
  }
}

void declare(Fields& fields, PlotConfig& plot) {
  fields.field("title", plot.title, "title of the curves");
  fields.field("style", plot.style,
               "'panels': loss above metrics, named as the columns of metrics.csv; 'guide': one "
               "panel, named as in the Keras multi-GPU guide");
}

void declare(Fields& fields, RanksConfig& ranks) {
  fields.field("check_weights", ranks.check_weights,
               "updates after which ranks compare a hash of their weights, optimizer state and "
               "statistics, again and again; 0: never",
               {.minimum = 0});
  fields.field("transport", ranks.transport,
               "what gradients are rounded to on their way between ranks; one rank sends none, and "
               "rounds none");
}

void declare(Fields& fields, RankLimits& limits) {
  const Limits seconds{.minimum = 0.1, .maximum = 86400};
  fields.field("first_step", limits.first_step,
               "seconds for all ranks to appear, and then for the first update", seconds);
  fields.field("step", limits.step,
               "seconds without progress of a rank, or 20 of its median updates if that is longer",
               seconds);
  fields.field("silence", limits.silence, "seconds without a sign of life of a rank", seconds);
}

void declare(Fields& fields, OutputConfig& output) {
  fields.field("plot", output.plot, "the pictures of the run");
  fields.field("steps", output.steps, "write steps.csv, a row a step");
}

namespace {

Interval parse_interval(const std::string& text, Fields& fields) {
  Interval interval;
  const char* end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, interval.count);
  const std::string unit(rest, end);
  const bool epochs = unit == " epoch" || unit == " epochs";
  const bool steps = unit == " step" || unit == " steps";
  if (status != std::errc{} || interval.count < 1 || (!epochs && !steps)) {
    if (!fields.describing()) {
      fields.error("checkpoint",
                   "'every' wants a number of epochs or steps, such as '1 epoch' or "
                   "'500 steps', found '" +
                       text + "'");
    }
    return {};
  }
  interval.unit = steps ? Interval::Unit::step : Interval::Unit::epoch;
  return interval;
}

/// Evaluates the run's own expressions; those of an inline network have their own variables.
config::Node without_expressions(const config::Node& file, config::Diagnostics& diagnostics) {
  config::Node tree = file;
  for (config::Entry& entry : tree.entries) {
    if (entry.key != "network") entry.value = config::resolved(entry.value, {}, diagnostics);
  }
  return tree;
}

void declare_training(Fields& fields, RunConfig& run) {
  fields.required_one_of("loss", run.loss, "what is minimised", loss_kinds());
  fields.list_of("metrics", run.metrics, "what else is measured", metric_kinds());
  fields.required_one_of("optimizer", run.optimizer, "how weights are updated", optimizer_kinds());
  fields.one_of("schedule", run.schedule, "the learning rate over time", schedule_kinds());
  fields.one_of("lr_scaling", run.lr_scaling,
                "what the rate does when the global batch is another than it was chosen for; left "
                "out: nothing, with a warning on several ranks",
                rate_scaling_kinds());
  fields.required("epochs", run.epochs, "passes over the training split", {.minimum = 1});
  fields.field("seed", run.seed, "of every random draw", {.minimum = 0});
  fields.field("freeze", run.freeze, "layers whose parameters stay: [conv1, stage1.*]");
  fields.field("lr_mult", run.lr_mult, "factors of the learning rate by layer: {dense1: 10}");
  fields.field("clip_norm", run.clip_norm, "largest norm of the gradient; 0: no limit",
               {.minimum = 0});
  fields.field("accumulate", run.accumulate, "batches whose gradients make one update",
               {.minimum = 1});
  fields.field("threads", run.threads, "processor threads a rank; 0: all cores",
               {.minimum = 0, .maximum = 1024});
  fields.field("precision", run.precision,
               "what is computed in; left out: fp32 (--device reference: fp64)");
  fields.field("deterministic", run.deterministic,
               "only engines that give the same bits twice; what runs on the CPU always does");
  fields.field("loss_scale", run.loss_scale,
               "factor that keeps small gradients from vanishing in 16 bits; fp16: 1024");
}

void check_transport(Fields& fields, const RunConfig& run) {
  if (run.ranks.transport == RanksConfig::Transport::fp32 || !run.batch.shards) return;
  fields.error("ranks",
               fmt::format("'transport: {}' rounds once a rank, and 'batch.shards' wants bits that "
                           "do not depend on the number of ranks; leave out one of the two",
                           name_of(run.ranks.transport)));
}

}  // namespace

void declare(Fields& fields, RunConfig& run) {
  fields.required("name", run.name, "of the run folder: runs/NAME/0001");
  fields.field("profile", run.profile, "whose conventions give the defaults");
  fields.required("network", run.network,
                  "the network: {file, vars, defaults}, or its keys inline");
  fields.required("data", run.data, "what is learnt");
  fields.required("batch", run.batch, "samples a step");
  declare_training(fields, run);
  check_shards_fill(fields, run);
  check_rate_scaling(fields, run);
  fields.field("checkpoint", run.checkpoint, "what is saved, and when");
  run.checkpoint_every = parse_interval(run.checkpoint.every, fields);
  fields.field("early_stop", run.early_stop, "end when nothing improves any more");
  fields.field("output", run.output, "what the run leaves");
  fields.field("ranks", run.ranks, "how several ranks work together");
  if (!fields.describing()) check_transport(fields, run);
  fields.field("limits", run.limits, "when a rank of several counts as stuck, and ends them all");
}

std::span<const config::ExclusiveKeys> run_rivals() {
  static const std::array list{
      config::ExclusiveKeys{"optimizer", {}}, config::ExclusiveKeys{"schedule", {}},
      config::ExclusiveKeys{"loss", {}}, config::ExclusiveKeys{"batch", {"per_gpu", "total"}},
      config::ExclusiveKeys{"network", {"file", "layers"}}};
  return list;
}

RunConfig read_run_config(const std::filesystem::path& path, std::span<const std::string> overrides,
                          const std::string& data_folder) {
  const config::Node file = config::load_run(path, overrides, run_rivals());
  config::Diagnostics diagnostics;
  config::Node tree = without_expressions(file, diagnostics);
  put_default_root(tree, data_folder);
  config::Profile profile = config::Profile::keras2;
  if (const config::Node* named = tree.find("profile"); named != nullptr) {
    if (named->text == "torch") profile = config::Profile::torch;
  }
  RunConfig run;
  Fields fields(tree, nullptr, "run", profile, diagnostics);
  declare(fields, run);
  fields.finish();
  check_best_metric(run, tree, diagnostics);
  diagnostics.raise();
  run.settled = fields.settled();
  return run;
}

std::string_view name_of(RanksConfig::Transport transport) {
  const auto list = words(transport);
  return std::ranges::find(list, transport, &config::Word<RanksConfig::Transport>::value)->word;
}

void require_transport(const RunConfig& run, Precision precision) {
  if (run.ranks.transport == RanksConfig::Transport::fp32 || precision != Precision::fp64) return;
  throw Error(ErrorKind::config,
              fmt::format("'ranks.transport: {}' would round the gradients of 'precision: fp64' to "
                          "16 bits; leave it out, or choose another precision",
                          name_of(run.ranks.transport)));
}

void settle_threads(RunConfig& run, std::int64_t threads) {
  run.threads = threads;
  if (config::Node* key = run.settled.find("threads")) {
    *key = config::scalar_node(std::to_string(threads), false, key->where);
  }
}

namespace {

/// Puts `key` into the settled map behind `before`, in the order of the declarations, so that the
/// map reads back to itself.
void settle(RunConfig& run, const std::string& key, const std::string& before, config::Node value) {
  if (config::Node* known = run.settled.find(key)) {
    *known = std::move(value);
    return;
  }
  auto& entries = run.settled.entries;
  const auto found = std::ranges::find(entries, before, &config::Entry::key);
  entries.insert(found == entries.end() ? found : found + 1, {key, {}, std::move(value)});
}

}  // namespace

void settle_precision(RunConfig& run, Precision precision) {
  run.precision = precision;
  settle(run, "precision", "threads",
         config::scalar_node(std::string(name_of(precision)), false, {}));
  if (precision != Precision::fp16 || run.loss_scale) return;
  const LossScaleConfig& scale = run.loss_scale.emplace();
  settle(run, "loss_scale", "deterministic",
         config::parse_yaml(fmt::format("{{start: {}, dynamic: {}, growth: {}}}", scale.start,
                                        scale.dynamic, scale.growth),
                            "loss_scale"));
}

std::vector<config::FieldDescription> describe_run() {
  Fields fields(config::Profile::keras2);
  RunConfig run;
  declare(fields, run);
  std::vector<config::FieldDescription> list = fields.descriptions();
  // A file that extends another may leave out what that one says.
  for (config::FieldDescription& field : list) field.required = false;
  list.insert(list.begin(), {.key = "extends",
                             .help = "another run file, beside this one, that this one changes",
                             .type = "text"});
  return list;
}

namespace {

/// `fil: net.yaml` is no inline network that lacks its layers.
void refuse_misspelt_file(const config::Node& network, config::Diagnostics& diagnostics) {
  const std::vector<std::string> key{"file"};
  for (const config::Entry& entry : network.entries) {
    if (config::nearest(entry.key, key).empty()) continue;
    diagnostics.error(entry.where, "unknown key '" + entry.key + "' in 'network'" +
                                       config::suggestion(entry.key, key));
  }
  diagnostics.raise();
}

}  // namespace

config::Node network_of(const RunConfig& run) {
  const config::Node* file = run.network.find("file");
  config::Diagnostics diagnostics;
  if (file == nullptr) {
    refuse_misspelt_file(run.network, diagnostics);
    return run.network;
  }
  const std::vector<std::string> beside{"vars", "defaults"};
  for (const config::Entry& entry : run.network.entries) {
    if (entry.key != "file" && std::ranges::find(beside, entry.key) == beside.end()) {
      diagnostics.error(entry.where, "'" + entry.key +
                                         "' cannot stand beside 'network.file'; "
                                         "only 'vars' and 'defaults' can" +
                                         config::suggestion(entry.key, beside));
    }
  }
  diagnostics.raise();
  const std::filesystem::path base = std::filesystem::path(file->where.file).parent_path();
  const config::Node network = config::load_yaml(base / file->text);
  const config::Node merged =
      with_overrides(network, run.network.find("vars"), run.network.find("defaults"), diagnostics);
  diagnostics.raise();
  return merged;
}

}  // namespace trainyard
