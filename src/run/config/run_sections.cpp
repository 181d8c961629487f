#include "run/config/run_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "config/schema.h"
#include "data/sets/subset.h"
#include "run/config/run_config.h"

namespace trainyard {

namespace {

constexpr const char* kDefaultRoot = "data";

/// True if the source's own declarations give `root` a value.
bool has_default_root(const std::string& source) {
  const auto kinds = dataset_kinds();
  const auto kind = std::ranges::find(kinds, source, &config::Kind<DatasetSource>::name);
  if (kind == kinds.end()) return false;
  config::Fields fields(config::Profile::keras2);
  static_cast<void>(kind->read(fields));
  return std::ranges::any_of(fields.descriptions(), [](const config::FieldDescription& field) {
    return field.key == "root" && !field.required && field.default_text == kDefaultRoot;
  });
}

}  // namespace

std::optional<Interval> interval_of(std::string_view text) {
  Interval interval;
  const char* end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, interval.count);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const bool epochs = unit == " epoch" || unit == " epochs";
  const bool steps = unit == " step" || unit == " steps";
  if (status != std::errc{} || interval.count < 1 || (!epochs && !steps)) return std::nullopt;
  interval.unit = steps ? Interval::Unit::step : Interval::Unit::epoch;
  return interval;
}

void declare_weights(config::Fields& fields, WeightsConfig& weights) {
  fields.field(
      "class_weights", weights.classes,
      "weights of the classes in the loss, by name or number: {cat: 2, 3: 0.5}; the others "
      "have 1; 'balanced': each class has an equal part");
  fields.field("ignore_label", weights.ignore_label,
               "samples with this label are in no loss, metric or gradient");
  fields.field("sample_weights", weights.samples,
               "field of the data with a weight for each sample, float32");
  fields.field("weigh_validation", weights.validation,
               "weigh the validation loss too; else its samples count alike");
}

constexpr config::Words<AverageConfig::Judged> words(AverageConfig::Judged) {
  return {"average", "trained"};
}

void declare(config::Fields& fields, InitConfig& init) {
  fields.required("from", init.from,
                  "a safetensors file, a checkpoint folder or a run (its best checkpoint)");
  fields.field("skip", init.skip,
               "layers that keep their random initial values, such as a new head: [dense1]");
}

void declare(config::Fields& fields, AverageConfig& average) {
  fields.required("ema", average.ema,
                  "decay of the exponential moving average of weights and running statistics",
                  {.minimum = 0});
  fields.field("every", average.every, "steps between two updates of the average", {.minimum = 1});
  fields.field("warmup", average.warmup,
               "begin with a smaller decay: min(ema, (1 + t) / (10 + t)) after t steps");
  fields.field("judged", average.judged,
               "the copy that is evaluated, chosen as the best, and saved in weights/");
  if (!fields.describing() && average.ema >= 1) {
    fields.error("ema", fmt::format("'ema' must be below 1, found {}: an average with that decay "
                                    "would never change",
                                    average.ema));
  }
}

void declare(config::Fields& fields, PlateauConfig& plateau) {
  PlateauPolicy& rule = plateau.rule;
  if (!fields.keys_only("{factor: 0.1, patience: 10}")) return;
  fields.field("monitor", plateau.monitor, "column of metrics.csv that should improve");
  fields.field("factor", rule.factor, "factor of the learning rate when it does not",
               {.minimum = 0, .maximum = 0.999999});
  fields.field("patience", rule.patience, "epochs without improvement before the rate falls",
               {.minimum = 1});
  fields.field("min_delta", rule.min_delta, "smallest change that counts as an improvement",
               {.minimum = 0});
  fields.field("cooldown", rule.cooldown, "epochs after a fall in which none is counted",
               {.minimum = 0});
  fields.field("min_lr", rule.min_rate, "the learning rate does not fall below it", {.minimum = 0});
  BestConfig::Mode mode = usual_mode(plateau.monitor);
  fields.field("mode", mode,
               "whether lower or higher is better; left out: lower for a loss or an error");
  rule.larger_is_better = mode == BestConfig::Mode::max;
}

std::string plateau_warning(const RunConfig& run) {
  if (!run.plateau || !run.schedule || run.schedule->name() == "constant") return "";
  return "'plateau' multiplies the learning rates of schedule '" +
         std::string(run.schedule->name()) +
         "'; for a rate that only the plateau lowers, leave out 'schedule'";
}

constexpr config::Words<RanksConfig::Transport> words(RanksConfig::Transport) {
  return {"fp32", "bf16", "fp16"};
}

std::string_view name_of(RanksConfig::Transport transport) { return config::word_of(transport); }

void declare(config::Fields& fields, RanksConfig& ranks) {
  fields.field("check_weights", ranks.check_weights,
               "steps between comparisons of a hash of all ranks' weights, optimizer state and "
               "statistics; 0: never",
               {.minimum = 0});
  fields.field(
      "transport", ranks.transport,
      "dtype that gradients are rounded to for the all-reduce between ranks; a single rank "
      "sends none and rounds none");
}

void declare(config::Fields& fields, RankLimits& limits) {
  const config::Limits seconds{.minimum = 0.1, .maximum = 86400};
  fields.field("first_step", limits.first_step,
               "seconds for all ranks to join, and then for the first step", seconds);
  fields.field("step", limits.step,
               "seconds a rank may go without progress, or 20 of its median steps if longer",
               seconds);
  fields.field("silence", limits.silence, "seconds a rank may go without a heartbeat", seconds);
}

void declare_length(config::Fields& fields, RunLength& length) {
  constexpr std::string_view kEpochs =
      "passes over the training split; a fraction ends within the last one";
  const config::Limits above_zero{.minimum = 0, .maximum = 1e9, .exclusive_minimum = true};
  if (fields.describing() || fields.given("steps")) {
    fields.field("epochs", length.epochs, kEpochs, above_zero);
  } else {
    fields.required("epochs", length.epochs, kEpochs, above_zero);
  }
  fields.field("steps", length.steps, "length of the run in steps, instead of 'epochs'",
               {.minimum = 1});
  if (length.epochs && length.steps) {
    fields.error("steps", "'epochs' and 'steps' exclude each other; remove one of them");
  }
}

std::int64_t RunLength::all_steps(std::int64_t steps_per_epoch) const {
  if (steps) return *steps;
  constexpr double kRounding = 1e-9;  // 9.9 * 10 may give a little more than 99
  return std::llround(
      std::ceil(epochs.value_or(1) * static_cast<double>(steps_per_epoch) - kRounding));
}

void declare(config::Fields& fields, TrainEvalConfig& clean) {
  constexpr std::string_view kForm = "a number of epochs, such as '5 epochs'";
  fields.saying(kForm).required("every", clean.every, "how often: 'every 5 epochs', or '5 epochs'");
  fields.field(
      "samples", clean.samples,
      "training samples to measure, drawn from the seed, the same each time; 0: as many as "
      "the validation split has",
      {.minimum = 0});
  constexpr std::string_view kEvery = "every ";
  const std::string_view text = clean.every;
  const auto interval = interval_of(text.starts_with(kEvery) ? text.substr(kEvery.size()) : text);
  if (interval && interval->unit == Interval::Unit::epoch) {
    clean.epochs = interval->count;
  } else if (!fields.describing() && !text.empty()) {
    fields.error("every",
                 "'every' must be " + std::string(kForm) + ", found '" + clean.every + "'");
  }
}

void declare(config::Fields& fields, GenerateConfig& generate) {
  fields.field("temperatures", generate.temperatures,
               "one text each; probabilities to the power 1 / temperature, so that low ones write "
               "what is likely, and 0 only what is most likely",
               {.minimum = 0, .maximum = 100});
  fields.field("length", generate.length, "tokens of a text", {.minimum = 1, .maximum = 1'000'000});
  if (generate.temperatures.empty()) {
    fields.error("temperatures", "expected at least one temperature");
  }
}

void declare(config::Fields& fields, HookCommands& hooks) {
  if (!fields.keys_only("{end: 'notify.sh'}")) return;
  fields.field("epoch", hooks.epoch, "shell command that is started after each epoch");
  fields.field("best", hooks.best, "after the weights of a better epoch are saved");
  fields.field("end", hooks.end, "at the end of the run, however it ends");
  fields.field("time_limit", hooks.time_limit, "seconds after which a command is killed",
               {.minimum = 0.1, .maximum = 86400});
}

std::string hooks_text(const std::optional<HookCommands>& hooks) {
  if (!hooks) return "";
  std::vector<std::string> names;
  const auto add = [&](Hook hook, const std::string& command) {
    if (!command.empty()) names.emplace_back(name_of(hook));
  };
  add(Hook::epoch, hooks->epoch);
  add(Hook::best, hooks->best);
  add(Hook::end, hooks->end);
  if (names.empty()) return "";
  return "hooks: " + joined(names) + ": shell commands that a run starts, not this";
}

using config::Fields;

void declare(config::Fields& fields, PlotConfig& plot) {
  fields.field("title", plot.title, "title of the plots");
  fields.field("style", plot.style,
               "'panels': loss above metrics, named like the columns of metrics.csv; 'guide': one "
               "panel, named as in the Keras multi-GPU guide");
}

void declare(config::Fields& fields, OutputConfig& output) {
  fields.feature("plot", output.plot, "the plots of the run");
  fields.field("steps", output.steps, "write steps.csv, one row per step");
  fields.field("classes", output.classes,
               "after each epoch write eval/classes.csv, with the precision, recall, F1 and AUC of "
               "each class, eval/confusion.csv and eval/mistakes.csv, all on the validation split");
  fields.field("tensorboard", output.tensorboard,
               "write tensorboard/, event files with the curves of metrics.csv and, with 'steps', "
               "those of steps.csv");
  fields.feature("generate", output.generate,
                 "after each epoch write texts of a model of tokens into samples/epoch-N.txt");
}

using config::Fields;

void declare(Fields& fields, SamplerConfig& sampler) {
  if (!fields.keys_only("{balanced: 1}")) return;
  fields.field("repeats", sampler.repeats,
               "repeated augmentation: an epoch takes a part 1 / repeats of the samples, each that "
               "often, augmented differently; not with 'balanced'",
               {.minimum = 1, .maximum = 1000});
  if (sampler.repeats > 1) sampler.balanced = 0;
  fields.field("balanced", sampler.balanced,
               "1: samples of every class are equally frequent; 0: as they are; between: in "
               "proportion to count^(1 - balanced)",
               {.minimum = 0, .maximum = 1});
  if (sampler.repeats > 1 && sampler.balanced > 0) {
    fields.error("repeats",
                 "'repeats' and 'balanced' exclude each other: both say how often a sample comes; "
                 "remove one of the two");
  }
}

void declare(Fields& fields, SplitConfig& split) {
  fields.select("source", split.source, "where the samples come from", dataset_kinds());
  if (!fields.describing()) split.where = fields.where("source");
  fields.field("shuffle", split.shuffle, "a new order every epoch (training only)");
  fields.feature(
      "sampler", split.sampler,
      "how often an epoch takes samples (training only): {balanced: 1} draws all classes "
      "equally often, {repeats: 4} takes a quarter of the samples four times; left out: each once");
  if (fields.describing() || !split.sampler || split.shuffle) return;
  fields.error("sampler",
               "'sampler' draws a new order every epoch, but 'shuffle' is false; leave out one of "
               "the two");
}

namespace {

/// The validation split: the file's own, or a part of the training samples.
void declare_val(Fields& fields, DataConfig& data) {
  std::optional<SplitConfig> val;
  fields.field("val", val, "the validation split, evaluated in full after each epoch");
  fields.field("val_fraction", data.val_fraction,
               "instead of 'val': this share of the training samples, and of every class, chosen "
               "by the seed, is kept for validation",
               {.minimum = 0, .maximum = 0.9, .exclusive_minimum = true});
  if (fields.describing()) return;
  if (fields.given("val") == data.val_fraction.has_value()) {
    fields.error("", "'data' requires either 'val' or 'val_fraction'");
  }
  if (val && val->sampler) {
    fields.error("val",
                 "'val' has a 'sampler', but validation takes every sample once; 'sampler' is for "
                 "'train'");
  }
  if (val) data.val = std::move(*val);
  if (!data.val_fraction || data.train.source == nullptr) return;
  const auto whole = data.train.source;
  data.val.source = part_source(whole, *data.val_fraction, Part::val);
  data.train.source = part_source(whole, *data.val_fraction, Part::train);
}

}  // namespace

void declare(Fields& fields, DataConfig& data) {
  fields.required("train", data.train, "the training split");
  declare_val(fields, data);
  fields.feature("preprocess", data.preprocess, "applied to every sample, in order",
                 preprocess_kinds());
  fields.feature("augment", data.augment, "applied to training samples before preprocess, in order",
                 augmentation_kinds());
  fields.feature(
      "mix", data.mix,
      "mixes pairs of training samples and their labels after preprocess: mixup, cutmix");
  if (!fields.describing()) {
    data.preprocess_at = fields.where("preprocess");
    data.augment_at = fields.where("augment");
    data.mix_at = fields.where("mix");
  }
  fields.field("workers", data.workers, "threads that prepare batches; 0: no separate threads",
               {.minimum = 0, .maximum = 256});
  fields.field("resident", data.resident,
               "keep 8-bit images on the device and assemble batches there; auto: on a GPU if they "
               "take at most a quarter of its free memory, else they are copied with each batch");
  fields.field("prefetch", data.prefetch, "batches prepared ahead", {.minimum = 1, .maximum = 64});
}

void put_default_root(config::Node& run, const std::string& folder) {
  config::Node* data = run.find("data");
  if (folder.empty() || data == nullptr) return;
  for (const char* split : {"train", "val"}) {
    config::Node* map = data->find(split);
    if (map == nullptr) continue;
    const config::Node* given = map->find("root");
    if (given != nullptr && given->kind != config::Node::Kind::null) continue;
    std::erase_if(map->entries, [](const config::Entry& entry) { return entry.key == "root"; });
    const config::Node* source = map->find("source");
    if (source == nullptr || !has_default_root(source->text)) continue;
    // Its position is in no file, so that it is relative to the current folder.
    config::Node root = config::scalar_node(folder, true, {"$TRAINYARD_DATA", 1, 1});
    root.typed_path = kDefaultRoot;
    map->entries.push_back({.key = "root", .where = map->where, .value = std::move(root)});
  }
}

}  // namespace trainyard
