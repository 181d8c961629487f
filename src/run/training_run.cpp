#include "run/training_run.h"

#include <unistd.h>

#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "config/load.h"
#include "run/csv_sink.h"
#include "run/reproduction.h"
#include "run/run_sinks.h"
#include "run/snapshot.h"
#include "run/status.h"
#include "run/summary.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

RunFolder open_folder(const TrainingRequest& request, const std::string& name, const Disk& disk) {
  if (!request.resume.empty()) return RunFolder::open(disk, request.resume);
  if (!request.out.empty()) return RunFolder::create_at(disk, request.out);
  return RunFolder::create(disk, "runs", name);
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

/// One run while it lives.
class TrainingRun {
 public:
  TrainingRun(TrainingRequest request, const RunSurroundings& surroundings)
      : request_(std::move(request)),
        surroundings_(surroundings),
        begun_(surroundings.clock.seconds()),
        resolved_(resolved_yaml(request_.config)),
        name_(request_.config.name),
        epochs_(request_.config.epochs),
        session_(new_session()),
        folder_(open_folder(request_, name_, surroundings.disk)),
        status_file_(surroundings.disk, folder_.file("status.json")) {
    status_.pid = getpid();
    status_.host = host_name();
    status_.started = surroundings.clock.utc_seconds();
    status_.epochs = epochs_;
    status_.config_hash = hash128_hex(std::string_view(resolved_));
    status_.resume_command = resume_command(folder_.path().string());
  }

  RunResult run() {
    write_status(RunState::starting);
    try {
      prepare();
      return train();
    } catch (const Error& error) {
      fail(error);
      throw;
    }
  }

 private:
  /// A new run's session with its first weights, null for a resume. Made before the folder, so that
  /// an error of config or data leaves no folder behind.
  [[nodiscard]] std::unique_ptr<Session> new_session();
  void prepare();
  void resume();
  void fail(const Error& error);
  void record();
  void make_sinks();
  [[nodiscard]] Banner banner();
  [[nodiscard]] Judge judge() const;
  [[nodiscard]] TrainerOptions trainer_options() const;
  RunResult train();
  void save(const TrainingState& state, bool best);
  [[nodiscard]] std::optional<Outcome> stop_reason() const;
  void write_status(RunState state);
  void warn(const std::string& text);
  void write_summary(std::int64_t epochs, std::int64_t step, double seconds);
  RunResult finish(Outcome outcome, const TrainingState& state);

  TrainingRequest request_;
  const RunSurroundings& surroundings_;
  double begun_;  // on the clock, for --max-time
  std::string resolved_;
  std::string name_;
  std::int64_t epochs_;
  std::unique_ptr<Session> session_;
  RunFolder folder_;
  StatusFile status_file_;
  RunStatus status_;
  TrainingState state_;
  SinkList sinks_;
  LogSink* log_ = nullptr;  // one of the sinks
  std::vector<std::string> warnings_;
  std::string judged_;  // name of the metric that is judged, "val_accuracy"
};

void TrainingRun::write_status(RunState state) {
  status_.state = state;
  status_.updated = surroundings_.clock.utc_seconds();
  status_file_.write(status_, surroundings_.clock.seconds());
}

/// Says in the folder how the run failed; a disk that cannot take it must not hide the error.
void TrainingRun::fail(const Error& error) {
  status_.message = error.what();
  status_.exit_code = error.exit_code();
  try {
    write_status(error.kind() == ErrorKind::diverged ? RunState::diverged : RunState::failed);
    write_summary(status_.epoch, status_.step, 0);
    if (log_ != nullptr) log_->write(std::string("error: ") + error.what());
  } catch (const Error&) {
    return;  // the first error is the one to report
  }
}

std::unique_ptr<Session> TrainingRun::new_session() {
  if (!request_.resume.empty()) return nullptr;
  auto session = std::make_unique<Session>(std::move(request_.config), request_.device, nullptr);
  session->model().initialize(static_cast<std::uint64_t>(session->config().seed));
  if (!request_.init.empty()) initialize_from(session->model(), request_.init);
  return session;
}

void TrainingRun::prepare() {
  if (session_ == nullptr) resume();
  record();
  make_sinks();
}

void TrainingRun::resume() {
  const std::optional<LoadedCheckpoint> checkpoint = load_newest_checkpoint(folder_.checkpoints());
  std::optional<Statistics> known;
  if (checkpoint) {
    for (const std::string& warning : checkpoint->warnings) warn(warning);
    known = statistics_of(*checkpoint);
    if (request_.device.threads == 0) request_.device.threads = threads_of(*checkpoint);
    if (request_.device.threads > available_cores()) {
      warn("the run was started with " + std::to_string(request_.device.threads) +
           " threads and keeps them, but there are " + std::to_string(available_cores()) +
           " cores: it will be slow; --threads changes them, and the last bits of its results");
    }
  } else {
    warn("no checkpoint was ever written in " + folder_.path().string() + ": starting at step 0");
  }
  request_.device.choices = choices_of(folder_.file("run.json"));
  session_ = std::make_unique<Session>(std::move(request_.config), request_.device,
                                       known ? &*known : nullptr);
  for (const std::string& difference :
       reproduction_differences(folder_.file("run.json"), reproduction(session_->device()))) {
    warn(difference);
  }
  if (checkpoint) {
    state_ = restore(*session_, *checkpoint);
  } else {
    session_->model().initialize(static_cast<std::uint64_t>(session_->config().seed));
  }
}

void TrainingRun::record() {
  if (!request_.resume.empty()) return folder_.add_command(request_.command);
  Json run{{"version", request_.version},
           {"host", status_.host},
           {"seed", session_->config().seed},
           {"config_hash", status_.config_hash},
           {"train_fingerprint", session_->data().train->fingerprint()},
           {"val_fingerprint", session_->data().val->fingerprint()}};
  run.update(reproduction(session_->device()));
  folder_.write_record({.config_yaml = resolved_,
                        .original_yaml = request_.original_yaml,
                        .command = request_.command,
                        .run_json = json_text(run)});
}

Banner TrainingRun::banner() {
  const GraphTotals counts = totals(session_->model().graph().graph);
  const BatchNumbers& batch = session_->batch();
  return {.run = folder_.path().string(),
          .seed = static_cast<std::uint64_t>(session_->config().seed),
          .devices = session_->device().text,
          .replica_batch = batch.replica,
          .replicas = batch.ranks,
          .accumulate = session_->updater().passes(),
          .steps = batch.steps,
          .dropped = batch.dropped,
          .train_samples = session_->data().train->size(),
          .val_samples = session_->data().val->size(),
          .parameters = counts.parameters_total};
}

void TrainingRun::make_sinks() {
  const std::vector<std::string>& names = session_->metric_names();
  MetricsColumns columns{.regularisation = session_->updater().has_regularisation()};
  for (const std::string& name : names) {
    if (name != "accuracy") columns.extra_metrics.push_back(name);
  }
  sinks_.add(std::make_unique<CsvSink>(surroundings_.disk, folder_.path(), columns,
                                       ResumePoint{.epoch = state_.epoch, .step = state_.step},
                                       session_->config().output.steps));
  const std::string& title = session_->config().output.plot.title;
  if (!request_.gnuplot.empty()) {
    sinks_.add(std::make_unique<PlotSink>(
        surroundings_.disk,
        PlotterOptions{.gnuplot = request_.gnuplot,
                       .folder = folder_.plots(),
                       .title = title.empty() ? session_->config().name : title,
                       .output = request_.output},
        [this](const std::string& text) { warn(text); }));
  } else {
    warn(missing_gnuplot_warning());
  }
  const Banner facts = banner();
  auto log = std::make_unique<LogSink>(surroundings_.disk, surroundings_.clock,
                                       folder_.file("train.log"), facts, session_->config().epochs);
  log_ = log.get();
  sinks_.add(std::move(log));
  sinks_.add(surroundings_.console(facts, session_->config().epochs));
}

void TrainingRun::warn(const std::string& text) {
  surroundings_.warn(text);
  warnings_.push_back(text);
  if (log_ != nullptr) log_->write("warning: " + text);
}

void TrainingRun::write_summary(std::int64_t epochs, std::int64_t step, double seconds) {
  folder_.write("summary.txt", summary_text({.run = folder_.path().string(),
                                             .state = status_.state,
                                             .exit_code = status_.exit_code.value_or(0),
                                             .message = status_.message,
                                             .epochs = epochs,
                                             .step = step,
                                             .seconds = seconds,
                                             .best = status_.best,
                                             .last = log_ ? log_->last() : std::nullopt,
                                             .last_checkpoint = status_.last_checkpoint,
                                             .warnings = warnings_}));
}

Judge TrainingRun::judge() const {
  const RunConfig& config = session_->config();
  const std::vector<std::string>& names = session_->metric_names();
  Judge rule{.min_delta = config.early_stop ? config.early_stop->min_delta : 0};
  const std::string wanted = config.checkpoint.best ? config.checkpoint.best->metric
                             : names.empty()        ? "val_loss"
                                                    : "val_" + names[0];
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (wanted == "val_" + names[i]) rule.metric = static_cast<int>(i);
  }
  if (rule.metric < 0 && wanted != "val_loss") {
    std::string known = "val_loss";
    for (const std::string& name : names) known += ", val_" + name;
    throw Error(ErrorKind::config,
                "checkpoint.best.metric '" + wanted + "' is not measured; one of " + known);
  }
  rule.larger_is_better = config.checkpoint.best
                              ? config.checkpoint.best->mode == BestConfig::Mode::max
                              : rule.metric >= 0;
  return rule;
}

TrainerOptions TrainingRun::trainer_options() const {
  const RunConfig& config = session_->config();
  const bool by_step = config.checkpoint_every.unit == Interval::Unit::step;
  return {.metric_names = session_->metric_names(),
          .epochs = config.epochs,
          .accumulate = session_->updater().passes(),
          .save_every_epochs = by_step ? 0 : config.checkpoint_every.count,
          .save_every_steps = by_step ? config.checkpoint_every.count : 0,
          .patience = config.early_stop ? config.early_stop->patience : 0,
          .judge = judge(),
          .eager = request_.eager};
}

std::optional<Outcome> TrainingRun::stop_reason() const {
  if (surroundings_.signals.stop_signal() != 0) return Outcome::interrupted;
  const double running = surroundings_.clock.seconds() - begun_;
  if (request_.max_seconds > 0 && running >= request_.max_seconds) return Outcome::out_of_time;
  return std::nullopt;
}

void TrainingRun::save(const TrainingState& state, bool best) {
  write_status(RunState::saving);
  const fs::path saved =
      save_checkpoint(surroundings_.disk, folder_.checkpoints(), snapshot(*session_, state),
                      {.is_best = best, .keep = session_->config().checkpoint.keep});
  sinks_.sync();
  status_.last_checkpoint = fs::relative(saved, folder_.path()).string();
  status_.epoch = state.epoch;
  status_.step = state.step;
  if (state.best_epoch > 0) status_.best = {judged_, state.best_value, state.best_epoch};
  write_status(RunState::running);
}

RunResult TrainingRun::train() {
  status_.steps_per_epoch = session_->batch().steps;
  const TrainerOptions options = trainer_options();
  judged_ =
      options.judge.metric < 0 ? "val_loss" : "val_" + options.metric_names[options.judge.metric];
  write_status(RunState::running);
  Trainer trainer({.model = session_->model(),
                   .updater = session_->updater(),
                   .train = *session_->data().train_feeder,
                   .val = *session_->data().val_feeder,
                   .sink = sinks_,
                   .save = [this](const TrainingState& state, bool best) { save(state, best); },
                   .stop_reason = [this](const TrainingState&) { return stop_reason(); },
                   .now = [this] { return surroundings_.clock.seconds(); },
                   .gpu_mem_mib = [this] { return session_->device().used_mib(); },
                   .gpu_busy_percent = [this] { return session_->device().busy_percent(); }},
                  options, state_);
  const Outcome outcome = trainer.run();
  return finish(outcome, trainer.state());
}

RunResult TrainingRun::finish(Outcome outcome, const TrainingState& state) {
  const bool done = outcome == Outcome::completed || outcome == Outcome::stopped_early;
  if (done) {
    const CheckpointContent content = snapshot(*session_, state);
    const SafetensorsImage image = encode_safetensors(content.files.at("weights.safetensors"));
    surroundings_.disk.replace_file(folder_.weights() / "last.safetensors", image.parts());
  }
  status_.epoch = state.epoch;
  status_.step = state.step;
  status_.exit_code = done                              ? 0
                      : outcome == Outcome::out_of_time ? 75
                                                        : 128 + surroundings_.signals.stop_signal();
  write_status(done                              ? RunState::completed
               : outcome == Outcome::out_of_time ? RunState::stopped
                                                 : RunState::interrupted);
  write_summary(state.epoch, state.step, state.elapsed_seconds);
  RunResult result{.outcome = outcome, .folder = folder_.path()};
  result.end = {.epochs = state.epoch,
                .seconds = state.elapsed_seconds,
                .best = status_.best,
                .run = folder_.path().string()};
  return result;
}

}  // namespace

RunResult run_training(TrainingRequest request, const RunSurroundings& surroundings) {
  if (!request.output.empty()) check_plot_output(request.output, !request.gnuplot.empty());
  return TrainingRun(std::move(request), surroundings).run();
}

std::string resolved_yaml(const RunConfig& config) {
  config::Node tree = config.settled;
  *tree.find("network") = network_of(config);
  return config::to_yaml(tree);
}

std::string config_hash(const RunConfig& config) {
  return hash128_hex(std::string_view(resolved_yaml(config)));
}

}  // namespace trainyard
