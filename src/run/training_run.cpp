#include "run/training_run.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/host.h"
#include "graph/network_input.h"
#include "ranks/spawn/rank_output.h"
#include "ranks/stop_vote.h"
#include "run/browse.h"
#include "run/config/batch_numbers.h"
#include "run/config/best_metric_choice.h"
#include "run/config/resolved_config.h"
#include "run/readiness.h"
#include "run/run_keeper.h"
#include "run/run_start.h"
#include "run/session/session.h"
#include "run/session/session_model.h"
#include "run/session/session_weights.h"
#include "run/snapshot.h"
#include "run/split_results.h"
#include "run/text_generator.h"
#include "train/trainer.h"

namespace trainyard {
namespace {

/// Number of tensor names on the console; train.log has all of them.
constexpr std::size_t kFewNames = 4, kAllNames = std::numeric_limits<std::size_t>::max();

/// One run on one rank.
class TrainingRun final : public TrainerHost {
 public:
  TrainingRun(TrainingRequest request, const Disk& disk, const Clock& clock,
              const StopSignals& signals, RankGroup& ranks)
      : request_(std::move(request)),
        disk_(disk),
        clock_(clock),
        ranks_(ranks),
        stop_causes_(stop_causes(signals, clock, request_.max_seconds)),
        start_(make_start(request_)) {}

  ~TrainingRun() override {
    ranks_.set_last_words({});
    if (keeper_ && !lasts_) keeper_->give_up();
  }
  TrainingRun(const TrainingRun&) = delete;
  TrainingRun& operator=(const TrainingRun&) = delete;

  /// How it ended. `hooks` gets those of rank 0, which still have to be waited for.
  RunEnd run(std::shared_ptr<Hooks>& hooks) {
    try {
      RunEnd end = naming_gpu(request_.device, [this] {
        prepare();
        return train();
      });
      hooks = hooks_;
      return end;
    } catch (const Error& error) {
      const Error first = first_of_ranks(ranks_, error);
      tell_failure(first);
      throw first;
    }
  }

 private:
  void prepare();
  void open_keeper();
  void tell_failure(const Error& error);
  void join_vote();
  void share_log_folder();
  void open_sinks();
  [[nodiscard]] Hooks* make_hooks();
  /// With at most `names` names in the text about `--init`.
  [[nodiscard]] Banner banner(std::size_t names);
  [[nodiscard]] TrainerParts trainer_parts();
  RunEnd train();
  double now() override { return clock_.seconds(); }
  std::optional<Outcome> stop_reason(const TrainingState& state, bool edge) override {
    return stop_vote_->reason(state.step, edge);
  }
  void save(const TrainingState& state, bool best) override;
  void begin(RunPhase phase) override {
    if (keeper_) keeper_->note(phase);
  }
  /// On rank 0, as all ranks would say the same.
  void warn(const std::string& text) override {
    if (keeper_) keeper_->warn(text);
  }
  void take(std::span<const float> outputs) override;
  void judge(const Metric& metric, std::span<const float> outputs, MetricValue& value) override;
  void end_epoch(const TrainingState& state) override;
  std::optional<double> gpu_mem_mib() override { return session_->device().used_mib(); }
  std::optional<double> gpu_busy_percent() override { return session_->device().busy_percent(); }
  void tell_hashes();
  void write_texts(const TrainingState& state);
  [[nodiscard]] RunEnd end_of(Outcome outcome, const TrainingState& state) const;
  RunEnd finish(Outcome outcome, const TrainingState& state);

  TrainingRequest request_;
  const Disk& disk_;
  const Clock& clock_;
  RankGroup& ranks_;
  StopCauses stop_causes_;
  std::unique_ptr<RunStart> start_;
  std::unique_ptr<StopVote> stop_vote_;  // vote on the session's steps
  std::unique_ptr<Session> session_;
  std::optional<SplitMetrics> split_metrics_;
  std::shared_ptr<Hooks> hooks_;              // on rank 0, if the run has any
  std::unique_ptr<RunKeeper> keeper_;         // on rank 0 alone
  std::optional<DataFiles> data_files_;       // there too
  std::optional<HashNews> hash_news_;         // news for several ranks that read files
  std::unique_ptr<Model> text_model_;         // on rank 0, if the run writes texts
  std::unique_ptr<TextGenerator> generator_;  // generator for text_model_
  /// False: a failure removes the folder, so that an error in config or data leaves none.
  bool lasts_ = false;
  NullSink no_sink_;
  TrainingState from_;
  std::vector<std::string> warnings_;  // from the start
  std::string judged_;  // name of the metric that selects the best model, "val_accuracy"
};

void TrainingRun::prepare() {
  start_->describe_config(ranks_.size());
  require_request(request_, *start_, ranks_, disk_);
  open_keeper();
  request_.device.begins = [this](RunPhase phase) { begin(phase); };
  const RunStart::Warn warn_all = [this](const std::string& text) {
    keeper_ ? keeper_->warn(text) : request_.warn(text);
  };
  request_.device.warn = warn_all;
  session_ = start_->make_session(ranks_, warn_all);
  from_ = start_->fill(*session_, warn_all);
  if (keeper_ && session_->config().output.generate) {
    const Dataset& train = *session_->data().train;
    text_model_ = make_text_model(session_->config(), session_->device(), train,
                                  std::ssize(session_->config().output.generate->temperatures));
    generator_ = std::make_unique<TextGenerator>(*text_model_, train, session_->device().threads);
  }
  if (measures_split(session_->config())) {
    split_metrics_.emplace(session_->config(), *session_->data().val,
                           class_weight_policy(session_->config(), *session_->data().train));
  }
  join_vote();
  require_agreement(*session_, ranks_, start_->config().typed, from_.step);
  if (keeper_) warnings_ = require_room(*session_, request_, *start_, disk_);
  lasts_ = true;
  share_log_folder();
  if (!keeper_) return;
  // Before its record changes, a complete run stops to be one: if killed now, it is extended.
  if (keeper_->is_complete()) keeper_->write_status(RunState::starting);
  start_->write_record(keeper_->folder(), *session_);
  open_sinks();
}

void TrainingRun::open_keeper() {
  if (ranks_.rank() != 0) return;
  const RankLimits& limits = request_.config.limits;
  lasts_ = start_->has_folder();
  keeper_ = std::make_unique<RunKeeper>(
      disk_, clock_, start_->open_folder(disk_),
      ProgressLimits{.first_step = limits.first_step, .step = limits.step}, request_.warn);
  keeper_->status().host = host_name();
  keeper_->status().config_hash = start_->config().hash;
  keeper_->status().epochs = std::llround(std::ceil(request_.config.length.epochs.value_or(0)));
  if (lasts_) keeper_->recall();
  if (!keeper_->is_complete()) keeper_->write_status(RunState::starting);
  ranks_.set_last_words([this](const Failure& failure) { tell_failure(error_of(failure)); });
}

void TrainingRun::tell_failure(const Error& error) {
  if (!keeper_) return;
  if (!lasts_) return keeper_->give_up();
  keeper_->fail(error);
  if (!hooks_) return;
  constexpr double kSecondsOfFailure = 8;  // less than RankGroupOptions::leave
  if (ranks_.size() > 1) hooks_->hurry(kSecondsOfFailure);
  hooks_->finish();
}

/// From now on all ranks stop after the same step.
void TrainingRun::join_vote() {
  stop_vote_ = std::make_unique<StopVote>(ranks_.communicator(), ranks_.queue(), stop_causes_,
                                          session_->device().results_kept);
  session_->step().sum_with_results(stop_vote_->request());
}

/// Ranks other than 0 write their output into the run folder, if they see it.
void TrainingRun::share_log_folder() {
  if (ranks_.size() == 1) return;
  const std::string own = keeper_ ? fs::absolute(keeper_->folder().subfolder("logs")).string() : "";
  const fs::path folder = ranks_.from_first(own);
  if (!keeper_) request_.log_to(folder / output_name(ranks_.rank()));
}

Banner TrainingRun::banner(std::size_t names) {
  Banner banner = banner_of(*session_);
  banner.run = keeper_->folder().path().string();
  banner.init = request_.init ? text_of(*request_.init, names) : "";
  banner.judged = judged_;
  banner.resumed = start_->resumed();
  return banner;
}

void TrainingRun::open_sinks() {
  const RunConfig& config = session_->config();
  judged_ = best_metric_column(best_metric_of(config, session_->metric_names()),
                               session_->metric_names());
  const PlotConfig plot = config.output.plot.value_or(PlotConfig{});
  SinkOptions kept{
      .columns = {.regularisation = session_->step().optimizer_step().has_regularisation(),
                  .clean = config.train_eval.has_value()},
      .from = {.epoch = from_.epoch, .step = from_.step},
      .steps = config.output.steps,
      .tensorboard = {},
      .hooks = make_hooks(),
      .plots = {.title = plot.title.empty() ? config.name : plot.title,
                .metrics = session_->metric_names(),
                .steps = config.output.steps,
                .clean = config.train_eval.has_value(),
                .schedule = config.plateau ? std::vector<RatePoint>()
                                           : scheduled_rates(config, session_->batch(), 2000),
                .guide = plot.style == PlotConfig::Style::guide},
      .gnuplot = config.output.plot ? request_.gnuplot : fs::path(),
      .output = start_->image(),
      .stopped = [this] { return stop_vote_->signalled(); },
      .banner = banner(kAllNames),
      .epochs = session_->batch().epochs};
  if (config.output.tensorboard) {
    kept.tensorboard = tensorboard_head(*session_, start_->config().resolved, from_.epoch);
  }
  for (const std::string& name : session_->metric_names()) {
    if (name != "accuracy") kept.columns.extra_metrics.push_back(name);
  }
  keeper_->open_sinks(kept, request_.console(banner(kFewNames), kept.epochs));
  for (const std::string& warning : warnings_) warn(warning);
}

Hooks* TrainingRun::make_hooks() {
  const auto& commands = session_->config().hooks;
  if (!commands) return nullptr;
  hooks_ = std::make_shared<Hooks>(disk_, *commands, keeper_->folder().subfolder("logs"),
                                   request_.environment,
                                   [this](const std::string& text) { warn(text); });
  return hooks_.get();
}

void TrainingRun::save(const TrainingState& state, bool best) {
  static constexpr Operation kSaving{"saving"};
  ranks_.progress(state.step, kSaving);
  tell_hashes();
  if (!keeper_) return;
  if (const auto& checkpoint = session_->config().checkpoint) {
    CheckpointContent content = snapshot(*session_, state);
    content.run = start_->id().value_or("");
    keeper_->save(content, state, best, checkpoint->keep);
  } else if (best) {
    keeper_->save_best(snapshot(*session_, state), state);
  }
  data_files_->write_news();
}

/// What the ranks have read of the data goes to rank 0's list.
void TrainingRun::tell_hashes() {
  if (!hash_news_) return;
  for (const std::string& news : ranks_.gather(hash_news_->next())) {
    if (data_files_) data_files_->take(news);
  }
}

/// The texts of an epoch, written with the weights that are evaluated.
void TrainingRun::write_texts(const TrainingState& state) {
  if (!generator_) return;
  static constexpr Operation kWriting{"writing texts"};
  ranks_.progress(state.step, kWriting);
  const RunConfig& config = session_->config();
  copy_judged_weights(session_->model(), *text_model_);
  const std::string text =
      text_of(generator_->generate({.config = *config.output.generate,
                                    .prompt = {},
                                    .seed = static_cast<std::uint64_t>(config.seed),
                                    .epoch = static_cast<std::uint32_t>(state.epoch)}));
  static_cast<void>(keeper_->folder().subfolder("samples"));
  keeper_->folder().write("samples/epoch-" + std::to_string(state.epoch) + ".txt", text);
}

TrainerParts TrainingRun::trainer_parts() {
  return {.step = session_->step(),
          .train = *session_->data().train_feeder,
          .val = *session_->data().val_feeder,
          .clean = session_->data().clean_feeder.get(),
          .sink = keeper_ ? static_cast<MetricsSink&>(keeper_->sinks()) : no_sink_,
          .ranks = ranks_,
          .host = *this};
}

void TrainingRun::take(std::span<const float> outputs) {
  if (!keeper_) return;
  const Dataset& val = *session_->data().val;
  write_class_tables(keeper_->folder(),
                     class_tables(val, outputs, usual_threshold(session_->config()),
                                  session_->config().weights.ignore_label),
                     val);
}

void TrainingRun::judge(const Metric& metric, std::span<const float> outputs, MetricValue& value) {
  value.validation = split_metrics_->value(metric, outputs);
  if (std::isnan(*value.validation)) value.fault = split_metrics_->fault();
}

void TrainingRun::end_epoch(const TrainingState& state) {
  write_texts(state);
  if (keeper_) keeper_->end_epoch(state);
}

RunEnd TrainingRun::train() {
  const TrainerOptions options = trainer_options(*session_, start_->unchanged(), request_.eager);
  if (keeper_) {
    keeper_->status().steps_per_epoch = session_->batch().steps;
    keeper_->status().epochs = session_->batch().epochs;
    keeper_->status().steps = session_->batch().all_steps;
    keeper_->status().unit = sample_unit(session_->model().graph().graph).brief;
    const std::string warning = start_->write_changes(keeper_->folder(), from_);
    if (!warning.empty()) warn(warning);
    data_files_.emplace(keeper_->folder(), session_->data(), start_->known_data());
    data_files_->write();
    if (session_->config().data.val_fraction) {
      keeper_->folder().write("val_samples.csv", val_samples_csv(*session_->data().val));
    }
    keeper_->begin(judged_, from_, start_->resumed() ? start_->resumed()->checkpoint : "");
  }
  if (ranks_.size() > 1) hash_news_.emplace(session_->data());
  if (hash_news_ && !hash_news_->expected()) hash_news_.reset();
  Trainer trainer(trainer_parts(), options, from_);
  const Outcome outcome = trainer.run();
  return finish(outcome, trainer.state());
}

RunEnd TrainingRun::end_of(Outcome outcome, const TrainingState& state) const {
  return {.outcome = outcome,
          .signal = stop_vote_->signal(),
          .max_seconds = request_.max_seconds,
          .waited = state.epochs_since_best,
          .reached = reached_by(*session_, state),
          .seconds = state.elapsed_seconds,
          .judged = judged_,
          .saves = session_->config().checkpoint.has_value()};
}

RunEnd TrainingRun::finish(Outcome outcome, const TrainingState& state) {
  RunEnd end = end_of(outcome, state);
  if (!keeper_) return end;
  const bool done = outcome == Outcome::completed || outcome == Outcome::stopped_early;
  begin(RunPhase::saving);
  if (done) keeper_->write_weights(snapshot(*session_, state));
  const fs::path& folder = keeper_->folder().path();
  end.best = keeper_->status().best;
  end.run = folder.string();
  const std::string& checkpoint = keeper_->status().last_checkpoint;
  if (!checkpoint.empty()) end.reached.checkpoint = (folder / checkpoint).string();
  const bool late = outcome == Outcome::out_of_time;
  keeper_->finish(done   ? RunState::completed
                  : late ? RunState::stopped
                         : RunState::interrupted,
                  done   ? 0
                  : late ? 75
                         : 128 + end.signal,
                  state, end_line(LogStyle::keras, end));
  return end;
}

}  // namespace

RunEnd run_training(TrainingRequest request, const Disk& disk, const Clock& clock,
                    const StopSignals& signals, RankGroup& ranks) {
  const auto warn = request.warn;
  std::shared_ptr<Hooks> hooks;
  RunEnd end = TrainingRun(std::move(request), disk, clock, signals, ranks).run(hooks);
  try {
    ranks.sign_off();
  } catch (const Error& error) {
    throw first_of_ranks(ranks, error);
  }
  // Only now, as no rank may wait for commands of the user's.
  if (hooks) {
    hooks->warn_by(warn);
    hooks->finish();
  }
  return end;
}

}  // namespace trainyard
