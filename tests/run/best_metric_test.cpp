// The metrics that select a run's best model and lower its learning rate.
#include <doctest/doctest.h>

#include "run/config/best_metric_choice.h"
#include "run_text.h"

using namespace trainyard;

namespace {

RunConfig judged_by(const std::string& best) {
  return test::read_run(R"(name: tiny
batch: {per_gpu: 2}
network: {input: [3, 8, 8], layers: [dense: 4]}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 100}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 18, split: test}
loss: cross_entropy
metrics: [accuracy, top_k: 3]
optimizer: sgd
epochs: 1
checkpoint: {best: )" + best +
                        "}\n");
}

BestConfig::Mode mode_of(const std::string& best) { return judged_by(best).checkpoint->best->mode; }

std::string refused(const std::string& best) {
  return test::refusal([&] { static_cast<void>(judged_by(best)); });
}

}  // namespace

TEST_CASE("losses and errors are minimised unless the run says otherwise") {
  using Mode = BestConfig::Mode;
  CHECK(mode_of("{metric: val_loss}") == Mode::min);
  CHECK(mode_of("{metric: val_accuracy}") == Mode::max);
  CHECK(mode_of("{metric: val_top3_accuracy}") == Mode::max);
  CHECK(mode_of("{metric: val_loss, mode: max}") == Mode::max);
  CHECK(mode_of("{metric: val_accuracy, mode: min}") == Mode::min);
}

TEST_CASE("a run selects its best model by a column of its validation split") {
  const std::string known = "val_loss, val_accuracy, val_top3_accuracy";
  const std::string place = "11:29: checkpoint.best: 'metric' must be one of " + known + ", found ";
  CHECK(refused("{metric: val_acuracy}") == place + "'val_acuracy'; did you mean 'val_accuracy'?");
  CHECK(refused("{metric: accuracy}") == place + "'accuracy'");
  CHECK(refused("{metric: ''}") == place + "''");
  CHECK(refused("val_los") == "11:20: checkpoint.best: 'metric' must be one of " + known +
                                  ", found 'val_los'; did you mean 'val_loss'?");
}

namespace {

RunConfig lowered_by(const std::string& plateau, const std::string& schedule = "constant") {
  return test::read_run(R"(name: tiny
batch: {per_gpu: 2}
network: {input: [3, 8, 8], layers: [dense: 4]}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 100}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 18, split: test}
loss: cross_entropy
metrics: [accuracy]
optimizer: sgd
epochs: 1
plateau: )" + plateau +
                        "\nschedule: " + schedule + "\n");
}

PlateauOptions options_of(const std::string& plateau) {
  const RunConfig run = lowered_by(plateau);
  return plateau_of(run, metric_names(run)).value();
}

}  // namespace

TEST_CASE("a plateau watches any column of metrics.csv, with Keras's defaults") {
  const PlateauOptions usual = options_of("{}");
  CHECK(usual.metric == -1);
  CHECK_FALSE(usual.of_training);
  CHECK_FALSE(usual.rule.larger_is_better);
  CHECK(usual.rule.factor == 0.1);
  CHECK(usual.rule.patience == 10);
  CHECK(usual.rule.min_delta == 1e-4);
  const PlateauOptions accuracy = options_of("{monitor: val_accuracy}");
  CHECK(accuracy.metric == 0);
  CHECK(accuracy.rule.larger_is_better);
  CHECK_FALSE(options_of("{monitor: accuracy, mode: min}").rule.larger_is_better);
  CHECK(options_of("{monitor: accuracy}").of_training);
  const PlateauOptions loss = options_of("{monitor: loss}");
  CHECK(loss.of_training);
  CHECK(loss.metric == -1);
  CHECK_FALSE(judged_by("{metric: val_loss}").plateau.has_value());
}

TEST_CASE("a plateau with an unknown column or a factor that does not lower is refused") {
  const auto refused_plateau = [](const std::string& plateau) {
    return test::refusal([&] { static_cast<void>(lowered_by(plateau)); });
  };
  CHECK(refused_plateau("{monitor: val_los}") ==
        "11:20: plateau: 'monitor' must be one of val_loss, val_accuracy, loss, accuracy, found "
        "'val_los'; did you mean 'val_loss'?");
  CHECK(refused_plateau("{factor: 1}").find("11:19: 'factor' must be") == 0);
}

TEST_CASE("a plateau beside a schedule that changes the rate multiplies it, with a warning") {
  CHECK(plateau_warning(lowered_by("{}", "cosine")) ==
        "'plateau' multiplies the learning rates of schedule 'cosine'; for a rate that only the "
        "plateau lowers, leave out 'schedule'");
  CHECK(plateau_warning(lowered_by("{}")).empty());
  CHECK(plateau_warning(judged_by("{metric: val_loss}")).empty());
}

TEST_CASE("the best epoch has the lowest error or perplexity, and the highest of another metric") {
  struct Case {
    const char *metric, *column;
    bool larger;
  };
  const Case cases[] = {{"mae", "val_mae", false},
                        {"rmse", "val_rmse", false},
                        {"perplexity", "val_perplexity", false},
                        {"r2", "val_r2", true},
                        {"micro_f1", "val_micro_f1", true},
                        {"weighted_f1", "val_weighted_f1", true},
                        {"balanced_accuracy", "val_balanced_accuracy", true},
                        {"mean_average_precision", "val_mean_average_precision", true}};
  const std::string run(test::kTinyRun);
  for (const Case& one : cases) {
    CAPTURE(one.metric);
    const std::string metrics = run + "metrics: [" + one.metric + "]\nearly_stop: {patience: 2}\n";
    const auto rule_of = [](const RunConfig& config) {
      return best_metric_of(config, metric_names(config));
    };
    const BestMetric usual = rule_of(test::read_run(metrics));
    CHECK(usual.metric == 0);
    CHECK(usual.larger_is_better == one.larger);
    const std::string best = metrics + "checkpoint: {best: {metric: " + one.column;
    CHECK(rule_of(test::read_run(best + "}}\n")).larger_is_better == one.larger);
    CHECK(rule_of(test::read_run(best + ", mode: max}}\n")).larger_is_better);
  }
}
