#include "run/config/run_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "config/diagnostics.h"
#include "config/schema.h"
#include "graph/build.h"
#include "graph/include.h"
#include "optim/step_functors.h"
#include "run/config/batch_numbers.h"
#include "run/config/best_metric_choice.h"
#include "run/config/key_paths.h"
#include "run/config/losses.h"
#include "run/config/run_expressions.h"

namespace trainyard {

using config::Fields;
using config::Limits;

constexpr config::Words<BatchConfig::Remainder> words(BatchConfig::Remainder) { return {"drop"}; }

constexpr config::Words<Precision> words(Precision) {
  return {"fp32", "tf32", "bf16", "fp16", "fp64"};
}

void declare(Fields& fields, BatchConfig& batch) {
  if (!fields.keys_only("{per_gpu: 64}")) return;
  const Limits positive{.minimum = 1};
  fields.field("per_gpu", batch.per_gpu, "samples per micro-batch on each device", positive);
  fields.field("total", batch.total, "samples per step on all devices together", positive);
  fields.field(
      "shards", batch.shards,
      "number of equal parts of 'total', a power of two; each is computed separately with "
      "its own batch norm and summed in a fixed order: bit-identical on any number of ranks "
      "that divides it",
      {.minimum = 1, .maximum = kMostShards});
  fields.field("remainder", batch.remainder,
               "samples of an epoch that do not fill a batch: dropped");
  if (!fields.describing() && batch.per_gpu.has_value() == batch.total.has_value()) {
    fields.error("", "'batch' requires either 'per_gpu' or 'total'");
  }
  if (!fields.describing()) check_shards(fields, batch);
}

BestConfig::Mode usual_mode(const std::string& metric) {
  return lower_is_better(metric) ? BestConfig::Mode::min : BestConfig::Mode::max;
}

void declare(Fields& fields, BestConfig& best) {
  fields.required("metric", best.metric, "val_ column of metrics.csv to select by");
  best.mode = usual_mode(best.metric);
  fields.field("mode", best.mode,
               "whether lower or higher is better; left out: lower for a loss, an error or a "
               "perplexity");
}

namespace {

constexpr std::string_view kEveryForm =
    "a number of epochs or steps, such as '1 epoch' or '500 steps'";
}  // namespace

void declare(Fields& fields, CheckpointConfig& checkpoint) {
  fields.saying(kEveryForm).field("every", checkpoint.every, "how often: '1 epoch', '500 steps'");
  fields.field("keep", checkpoint.keep, "newest checkpoints to keep, besides best and last",
               {.minimum = 1});
  fields.field("best", checkpoint.best, "how the best checkpoint is chosen");
}

void declare(Fields& fields, EarlyStopConfig& stop) {
  fields.field("patience", stop.patience, "epochs without improvement before training ends",
               {.minimum = 1});
  fields.field("min_delta", stop.min_delta, "smallest change that counts as an improvement",
               {.minimum = 0});
}

void declare(Fields& fields, LossScaleConfig& scale) {
  fields.field("start", scale.start, "initial loss scale, a power of two",
               {.minimum = 1, .maximum = LossScale::kMost});
  fields.field("dynamic", scale.dynamic, "halve it when gradients overflow, and skip the step");
  fields.field("growth", scale.growth, "steps without overflow before a dynamic scale is doubled",
               {.minimum = 1});
  if (!fields.describing() && std::exp2(std::round(std::log2(scale.start))) != scale.start) {
    fields.error("start", fmt::format("'start' must be a power of two, found {}", scale.start));
  }
}

namespace {

Interval parse_interval(const std::string& text, Fields& fields) {
  const std::optional<Interval> interval = interval_of(text);
  if (!interval && !fields.describing()) {
    fields.error("checkpoint",
                 "'every' must be " + std::string(kEveryForm) + ", found '" + text + "'");
  }
  return interval.value_or(Interval{});
}

void declare_training(Fields& fields, RunConfig& run) {
  fields.required_one_of("loss", run.loss, "the loss to minimise", loss_kinds());
  fields.feature("heads", run.heads,
                 "further losses, as on auxiliary outputs; the sum of all is minimised",
                 loss_kinds());
  fields.feature("metrics", run.metrics, "measured besides the loss", metric_kinds());
  declare_weights(fields, run.weights);
  fields.required_one_of("optimizer", run.optimizer, "how weights are updated", optimizer_kinds());
  fields.feature("schedule", run.schedule, "the learning rate over time", schedule_kinds());
  fields.feature("lr_scaling", run.lr_scaling,
                 "how the learning rate changes when the global batch is not the one it was chosen "
                 "for; left out: it does not, with a warning on several ranks",
                 rate_scaling_kinds());
  declare_length(fields, run.length);
  fields.field("seed", run.seed, "seed of all random draws", {.minimum = 0});
  fields.feature("init", run.init,
                 "the weights to start from in place of random ones; --init replaces it");
  fields.field("freeze", run.freeze, "layers whose parameters stay fixed: [conv1, stage1.*]");
  fields.field("freeze_statistics", run.freeze_statistics,
               "batch norms that use their running statistics in training too, and keep them: "
               "[\"*\"]");
  fields.field("lr_mult", run.lr_mult, "learning rate multipliers by layer: {dense1: 10}");
  fields.field(
      "parameters", run.parameters,
      "optimizer, learning rate, weight decay and time of training by parameter: {\"*.bn*.beta\": "
      "{lr_mult: 64, weight_decay: 0, from: 1 epoch, until: 3 epochs}}");
  fields.field("clip_norm", run.clip_norm, "maximum norm of the gradient; 0: no limit",
               {.minimum = 0});
  fields.field("accumulate", run.accumulate, "micro-batches per step, whose gradients are combined",
               {.minimum = 1});
  fields.field("threads", run.threads, "CPU threads per rank; 0: all cores",
               {.minimum = 0, .maximum = 1024});
  fields.field("precision", run.precision,
               "precision of the arithmetic; left out: fp32 (--device reference: fp64)");
  fields.field("deterministic", run.deterministic,
               "use only engines that are bit-reproducible; on the CPU all are");
  fields.field("overlap", run.overlap,
               "on one GPU, from Hopper on: kernels of a recorded step begin while those before "
               "them end; no result depends on it");
  fields.field("winograd", run.winograd,
               "CPU: Winograd's forms of convolutions of 3x3 at stride 1, where they are faster: "
               "accurate, with small rounding errors; fast, all; false, none");
  fields.feature(
      "loss_scale", run.loss_scale,
      "loss factor that keeps small gradients from vanishing in 16 bits; left out in fp16: 1024");
}

void check_sampler(Fields& fields, const RunConfig& run) {
  const config::Node& weights = run.weights.classes;
  const bool balances = weights.kind == config::Node::Kind::text && weights.text == "balanced";
  if (!balances || !run.data.train.sampler) return;
  fields.error("class_weights",
               "'class_weights: balanced' and the 'sampler' of 'data.train' both make up for rare "
               "classes, which would then count too much; leave out one of the two");
}

void check_transport(Fields& fields, const RunConfig& run) {
  if (run.ranks.transport == RanksConfig::Transport::fp32 || !run.batch.shards) return;
  fields.error("ranks",
               fmt::format("'transport: {}' rounds once per rank, but 'batch.shards' requires bits "
                           "that do not depend on the number of ranks; leave out one of the two",
                           name_of(run.ranks.transport)));
}

}  // namespace

void declare(Fields& fields, RunConfig& run) {
  fields.required("name", run.name, "name of the run folder: runs/NAME/0001");
  fields.field("profile", run.profile, "the conventions that give the defaults");
  if (fields.describing()) {  // taken before the rest is read
    config::Node vars;
    fields.field(
        "vars", vars,
        "values of names in this file's expressions: with {classes: 100}, $classes is 100");
  }
  fields.required("network", run.network,
                  "the network: {file, vars, defaults}, or its keys inline");
  fields.required("data", run.data, "training and validation data");
  fields.required("batch", run.batch, "samples per step");
  declare_training(fields, run);
  if (!fields.describing()) {
    check_heads(fields, run);
    check_mix(fields, run);
    check_metrics(fields, run);
    check_sampler(fields, run);
  }
  check_shards_fill(fields, run);
  check_rate_scaling(fields, run);
  fields.feature("checkpoint", run.checkpoint, "what is saved, and when");
  if (run.checkpoint) run.checkpoint_every = parse_interval(run.checkpoint->every, fields);
  fields.feature("average", run.average,
                 "an average of the weights over the steps, usually evaluated in their place");
  fields.feature("lookahead", run.lookahead,
                 "slow weights, to which the trained ones return every few steps (Zhang et al. "
                 "2019)");
  if (run.average && run.lookahead) {
    fields.error("lookahead",
                 "'lookahead' and 'average' exclude each other: each keeps the second "
                 "copy of the weights; remove one of them");
  }
  fields.feature("train_eval", run.train_eval,
                 "training metrics without augmentation and dropout, on a fixed subset");
  fields.feature("early_stop", run.early_stop, "stop when nothing improves any more");
  fields.feature("plateau", run.plateau,
                 "lower the learning rate when a metric stops improving (Keras's "
                 "ReduceLROnPlateau)");
  fields.field("output", run.output, "what the run writes");
  fields.feature("hooks", run.hooks, "shell commands that the run starts at its events");
  fields.field("ranks", run.ranks, "how several ranks work together");
  if (!fields.describing()) check_transport(fields, run);
  fields.field("limits", run.limits, "when a rank of several counts as stuck, which ends them all");
}

std::span<const config::ExclusiveKeys> run_rivals() {
  static const std::array list{config::ExclusiveKeys{"optimizer", {}},
                               config::ExclusiveKeys{"schedule", {}},
                               config::ExclusiveKeys{"loss", {}},
                               config::ExclusiveKeys{"", {"epochs", "steps"}},
                               config::ExclusiveKeys{"batch", {"per_gpu", "total"}},
                               config::ExclusiveKeys{"data", {"val", "val_fraction"}},
                               config::ExclusiveKeys{"network", {"file", "layers"}}};
  return list;
}

namespace {

/// Settled values have no positions; an error found later names that of this key.
void keep_position(config::Node& settled, const config::Node& tree, const std::string& key) {
  config::Node* const known = settled.find(key);
  const config::Node* const written = tree.find(key);
  if (known != nullptr && written != nullptr) known->where = written->where;
}

}  // namespace

RunConfig read_run_config(const std::filesystem::path& path, std::span<const std::string> overrides,
                          const std::string& data_folder) {
  const config::Node file = config::load_run(path, overrides, run_rivals());
  config::Diagnostics diagnostics;
  config::Node tree = without_expressions(file, diagnostics);
  diagnostics.look_elsewhere(
      [&](const std::string& key, const config::Entry& entry, const std::string& what) {
        return place_text(key, entry, what, tree);
      });
  put_default_root(tree, data_folder);
  config::Profile profile = config::Profile::keras2;
  if (const config::Node* named = tree.find("profile"); named != nullptr) {
    profile = config::profile_named(named->text).value_or(profile);  // a wrong name is reported
  }
  RunConfig run;
  Fields fields(tree, nullptr, "run", profile, diagnostics);
  declare(fields, run);
  fields.finish();
  check_monitored(run, tree, diagnostics);
  diagnostics.raise();
  run.settled = fields.settled();
  run.file = path.string();
  keep_position(run.settled, tree, "precision");
  return run;
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

/// Inserts `key` into the settled map after `before`, in the order of the declarations, so that the
/// map reads back as itself.
void settle(RunConfig& run, const std::string& key, const std::string& before, config::Node value) {
  if (config::Node* known = run.settled.find(key)) {
    value.where = known->where;
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
  const config::Node* scale_key = run.settled.find("loss_scale");
  const bool off = scale_key != nullptr && scale_key->kind == config::Node::Kind::boolean;
  if (precision != Precision::fp16 || run.loss_scale || off) return;
  const LossScaleConfig& scale = run.loss_scale.emplace();
  settle(run, "loss_scale", "winograd",
         config::parse_yaml(fmt::format("{{start: {}, dynamic: {}, growth: {}}}", scale.start,
                                        scale.dynamic, scale.growth),
                            "loss_scale"));
}

std::vector<config::FieldDescription> describe_run() {
  Fields fields(config::Profile::keras2);
  RunConfig run;
  declare(fields, run);
  std::vector<config::FieldDescription> list = fields.descriptions();
  // A file that extends another may leave out the keys of that one.
  for (config::FieldDescription& field : list) field.required = false;
  list.insert(list.begin(),
              {.key = "extends",
               .help = "another run file, relative to this one, that this one modifies",
               .type = "text"});
  return list;
}

namespace {

/// Refuses `fil: net.yaml`, which is not an inline network without layers.
void refuse_misspelt_file(const config::Node& network, config::Diagnostics& diagnostics) {
  const std::vector<std::string> key{"file"};
  for (const config::Entry& entry : network.entries) {
    if (config::nearest(entry.key, key).empty()) continue;
    diagnostics.error(entry.where, "unknown key '" + entry.key + "' in 'network'" +
                                       config::suggestion(entry.key, key));
  }
  diagnostics.raise();
}

std::filesystem::path network_file(const config::Node& name, const std::string& run) {
  const std::string advice =
      config::elsewhere(config::file_path(name.where, name.text, "network.file", run));
  std::filesystem::path path = config::path_from(name.where, name.text);
  if (advice.empty()) return path;
  throw Error(ErrorKind::config, name.where.text() + ": there is no '" +
                                     config::absolute_path(path).string() + "'" + advice);
}

}  // namespace

config::Node network_of(const RunConfig& run) {
  const config::Node* file = run.network.find("file");
  config::Diagnostics diagnostics;
  if (file == nullptr) {
    refuse_misspelt_file(run.network, diagnostics);
    return with_includes(run.network);
  }
  const std::vector<std::string> allowed{"vars", "defaults"};
  for (const config::Entry& entry : run.network.entries) {
    if (entry.key != "file" && std::ranges::find(allowed, entry.key) == allowed.end()) {
      diagnostics.error(entry.where, "'" + entry.key +
                                         "' is not allowed with 'network.file'; "
                                         "only 'vars' and 'defaults' are" +
                                         config::suggestion(entry.key, allowed));
    }
  }
  diagnostics.raise();
  const config::Node network = load_network(network_file(*file, run.file));
  const config::Node merged =
      with_overrides(network, run.network.find("vars"), run.network.find("defaults"), diagnostics);
  diagnostics.raise();
  return merged;
}

}  // namespace trainyard
