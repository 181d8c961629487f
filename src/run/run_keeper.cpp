#include "run/run_keeper.h"

#include <unistd.h>

#include <utility>

#include "base/error.h"
#include "run/summary.h"

namespace trainyard {

RunKeeper::RunKeeper(const Disk& disk, const Clock& clock, RunFolder folder,
                     std::function<void(const std::string&)> warn)
    : disk_(disk),
      clock_(clock),
      warn_(std::move(warn)),
      folder_(std::move(folder)),
      status_file_(disk, folder_.file("status.json")) {
  status_.pid = getpid();
  status_.started = clock.utc_seconds();
  status_.resume_command = resume_command(folder_.path().string());
}

void RunKeeper::write_status(RunState state) {
  status_.state = state;
  status_.updated = clock_.utc_seconds();
  status_file_.write(status_, clock_.seconds());
}

void RunKeeper::begin(const std::string& judged) {
  judged_ = judged;
  write_status(RunState::running);
}

void RunKeeper::open_sinks(const KeptRun& run, std::unique_ptr<MetricsSink> console) {
  auto rows = std::make_unique<CsvSink>(disk_, folder_.path(), run.columns, run.from, run.steps);
  const std::vector<std::string> missing = rows->missing_rows();
  sinks_.add(std::move(rows));
  if (!run.gnuplot.empty()) {
    PlotterOptions options{.gnuplot = run.gnuplot,
                           .folder = folder_.plots(),
                           .content = run.plots,
                           .output = run.output,
                           .stopped = run.stopped};
    auto plots = std::make_unique<PlotSink>(disk_, std::move(options),
                                            [this](const std::string& text) { warn(text); });
    plots_ = plots.get();
    sinks_.add(std::move(plots));
  } else {
    warn(missing_gnuplot_warning());
  }
  auto log =
      std::make_unique<LogSink>(disk_, clock_, folder_.file("train.log"), run.banner, run.epochs);
  log_ = log.get();
  sinks_.add(std::move(log));
  for (const std::string& text : missing) warn(text);
  sinks_.add(std::move(console));
}

void RunKeeper::warn(const std::string& text) {
  warn_(text);
  warnings_.push_back(text);
  if (log_ != nullptr) log_->write("warning: " + text);
}

void RunKeeper::save(const CheckpointContent& content, const TrainingState& state, bool best,
                     std::int64_t keep) {
  write_status(RunState::saving);
  const std::filesystem::path saved =
      save_checkpoint(disk_, folder_.checkpoints(), content, {.is_best = best, .keep = keep});
  sinks_.sync();
  status_.last_checkpoint = std::filesystem::relative(saved, folder_.path()).string();
  status_.epoch = state.epoch;
  status_.step = state.step;
  if (state.best_epoch > 0) status_.best = {judged_, state.best_value, state.best_epoch};
  write_status(RunState::running);
}

void RunKeeper::fail(const Error& error) {
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

void RunKeeper::finish(RunState state, int exit_code, const TrainingState& end) {
  status_.epoch = end.epoch;
  status_.step = end.step;
  status_.exit_code = exit_code;
  write_status(state);
  if (plots_ != nullptr) plots_->finish();  // what it warns of is part of the summary
  write_summary(end.epoch, end.step, end.elapsed_seconds);
}

void RunKeeper::write_weights(const CheckpointContent& content) {
  const SafetensorsImage image = encode_safetensors(content.files.at("weights.safetensors"));
  disk_.replace_file(folder_.weights() / "last.safetensors", image.parts());
}

void RunKeeper::write_summary(std::int64_t epochs, std::int64_t step, double seconds) {
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

}  // namespace trainyard
