#include "run/config/run_sections.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "run/config/run_config.h"

namespace trainyard {

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

void declare(config::Fields& fields, AverageConfig& average) {
  fields.required("ema", average.ema,
                  "decay of the exponential moving average of weights and running statistics",
                  {.minimum = 0});
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

}  // namespace trainyard
