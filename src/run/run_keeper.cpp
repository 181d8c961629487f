#include "run/run_keeper.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "run/config_changes.h"

namespace trainyard {
namespace {

constexpr const char* kBestWeights = "weights/best.safetensors";

/// The first phase of a run that enters this state.
RunPhase first_phase(RunState state) {
  return state == RunState::saving    ? RunPhase::saving
         : state == RunState::running ? RunPhase::training
                                      : RunPhase::starting;
}

/// The values in metrics.csv; empty if it cannot be read.
std::string metrics_text(const RunFolder& folder) {
  constexpr std::uint64_t kMostBytes = 1u << 30;
  try {
    return read_text(folder.file("metrics.csv"), ErrorKind::disk, kMostBytes);
  } catch (const Error&) {
    return "";  // the run failed before its first row
  }
}

}  // namespace

RunKeeper::RunKeeper(const Disk& disk, const Clock& clock, RunFolder folder,
                     const ProgressLimits& limits, std::function<void(const std::string&)> warn)
    : disk_(disk),
      clock_(clock),
      warn_(std::move(warn)),
      folder_(std::move(folder)),
      progress_(clock, limits),
      status_file_(disk, clock, progress_, folder_.file("status.json")) {
  status_.pid = getpid();
  status_.started = clock.utc_seconds();
  status_.resume_command = resume_command(folder_.path().string());
}

void RunKeeper::recall() {
  const std::optional<RunStatus> before = read_status(folder_.file("status.json"));
  if (!before) return;
  progress_.recall(before->at);
  status_.steps = before->steps;
  status_.steps_per_epoch = before->steps_per_epoch;
  status_.unit = before->unit;
  status_.best = before->best;
  status_.last_checkpoint = before->last_checkpoint;
  first_step_ = before->at.step;
  if (before->state == RunState::completed) former_.emplace(folder_);
}

void RunKeeper::write_status(RunState state) {
  status_.state = state;
  if (status_.exit_code) {
    progress_.end();
  } else {
    progress_.begin(first_phase(state));
  }
  status_file_.write(status_);
}

void RunKeeper::begin(const std::string& judged, const TrainingState& state,
                      const fs::path& checkpoint) {
  judged_ = judged;
  first_step_ = state.step;
  if (!checkpoint.empty()) note_checkpoint(checkpoint);
  progress_.start_training(state.epoch, state.step, status_.steps);
  status_.best.reset();
  take_best(state);
  write_status(RunState::running);
}

std::optional<BestValue> RunKeeper::best_of(const TrainingState& state) const {
  if (state.best_epoch == 0) return std::nullopt;
  return BestValue{judged_, state.best_value, state.best_epoch};
}

void RunKeeper::take_best(const TrainingState& state) {
  if (const auto best = best_of(state)) status_.best = best;
}

void RunKeeper::open_sinks(const SinkOptions& run, std::unique_ptr<MetricsSink> console) {
  auto rows = std::make_unique<CsvSink>(disk_, folder_.path(), run.columns, run.from, run.steps);
  std::vector<std::string> damage = rows->missing_rows();
  sinks_.add(std::move(rows));
  if (run.tensorboard) {
    auto events = std::make_unique<TensorboardSink>(
        disk_, clock_, folder_.file("tensorboard"),
        TensorboardOptions{run.columns, run.from, run.steps, *run.tensorboard});
    std::ranges::copy(events->warnings(), std::back_inserter(damage));
    sinks_.add(std::move(events));
  }
  sinks_.add(std::make_unique<ProgressSink>(progress_));
  if (!run.gnuplot.empty()) {
    PlotterOptions options{.gnuplot = run.gnuplot,
                           .folder = folder_.plots(),
                           .content = run.plots,
                           .output = run.output,
                           .stopped = run.stopped,
                           .has_rows = run.from.epoch > 0};
    auto plots = std::make_unique<PlotSink>(disk_, std::move(options),
                                            [this](const std::string& text) { warn(text); });
    plots_ = plots.get();
    sinks_.add(std::move(plots));
  }
  if (run.hooks != nullptr) {
    auto last = std::make_unique<LastEpoch>(*run.hooks, run.banner, run.epochs);
    last_epoch_ = last.get();
    hooks_ = run.hooks;
    sinks_.add(std::move(last));
  }
  auto log =
      std::make_unique<LogSink>(disk_, clock_, folder_.file("train.log"), run.banner, run.epochs);
  log_ = log.get();
  for (const std::string& text : warnings_) log_->write("warning: " + text);
  sinks_.add(std::move(log));
  for (const std::string& text : damage) warn(text);
  sinks_.add(std::move(console));
}

void RunKeeper::warn(const std::string& text) {
  warn_(text);
  warnings_.push_back(text);
  if (log_ != nullptr) log_->write("warning: " + text);
}

void RunKeeper::tell(Hook hook, const std::optional<BestValue>& best, const std::string& weights) {
  if (hooks_ == nullptr) return;
  const fs::path run = fs::absolute(folder_.path());
  const auto path = [&](const std::string& name) {
    return name.empty() ? Json() : Json((run / name).string());
  };
  Json event{{"event", std::string(name_of(hook))},
             {"run", run.string()},
             {"state", std::string(name_of(status_.state))},
             {"exit_code", status_.exit_code ? Json(*status_.exit_code) : Json()},
             {"message", status_.message},
             {"epoch", progress_.now().epoch},
             {"epochs", status_.epochs},
             {"step", progress_.now().step},
             {"best",
              {{"metric", judged_},
               {"value", best ? Json(best->value) : Json()},
               {"epoch", best ? Json(best->epoch) : Json()}}},
             {"weights", path(weights)},
             {"checkpoint", path(status_.last_checkpoint)}};
  // Values of the last epoch that are not among these.
  for (const auto& [key, value] : last_epoch_->values().items()) event.emplace(key, Json(value));
  hooks_->add(hook, event);
}

void RunKeeper::end_epoch(const TrainingState& state) { tell(Hook::epoch, best_of(state)); }

void RunKeeper::save(const CheckpointContent& content, const TrainingState& state, bool best,
                     std::int64_t keep) {
  former_.reset();
  write_status(RunState::saving);
  sinks_.sync();  // a checkpoint has the rows up to it
  const fs::path saved =
      save_checkpoint(disk_, folder_.checkpoints(), content, {.is_best = best, .keep = keep});
  note_checkpoint(saved);
  take_best(state);
  write_status(RunState::running);
  if (best) tell(Hook::best, status_.best, status_.last_checkpoint + "/weights.safetensors");
}

void RunKeeper::save_best(const CheckpointContent& content, const TrainingState& state) {
  former_.reset();
  sinks_.sync();
  const SafetensorsImage image = encode_safetensors(content.files.at("weights.safetensors"));
  disk_.replace_file(folder_.file(kBestWeights), image.parts());
  take_best(state);
  write_status(RunState::running);
  tell(Hook::best, status_.best, kBestWeights);
}

void RunKeeper::note_checkpoint(const fs::path& checkpoint) {
  status_.last_checkpoint = fs::relative(checkpoint, folder_.path()).string();
}

void RunKeeper::give_up() {
  status_file_.stop();
  folder_.discard();
}

bool RunKeeper::undo() {
  if (!former_ || progress_.now().step > first_step_) return false;
  status_file_.stop();
  former_->restore(folder_);
  if (log_ != nullptr) log_->write("nothing was trained: the run is complete as before");
  return true;
}

void RunKeeper::fail(const Error& error) {
  status_.message = error.what();
  status_.exit_code = error.exit_code();
  try {
    if (undo()) return;
    write_status(error.kind() == ErrorKind::diverged ? RunState::diverged : RunState::failed);
    write_summary(0);
    if (log_ != nullptr) log_->write(std::string("error: ") + error.what());
  } catch (const Error&) {
    return end_hooks("");  // the first error is the one to report
  }
  end_hooks("");
}

void RunKeeper::end_hooks(const std::string& weights) {
  if (hooks_ == nullptr) return;
  if (status_.state != RunState::completed) hooks_->forget();
  tell(Hook::end, status_.best, weights);
}

void RunKeeper::finish(RunState state, int exit_code, const TrainingState& end,
                       const std::string& line) {
  if (plots_ != nullptr) plots_->finish();  // its warnings are part of the summary
  status_.state = state;
  status_.exit_code = exit_code;
  write_summary(end.elapsed_seconds);
  if (log_ != nullptr) log_->write(line);
  write_status(state);
  const bool done = state == RunState::completed && status_.best;
  end_hooks(done ? kBestWeights : "");
}

void RunKeeper::write_weights(const CheckpointContent& content) {
  const SafetensorsImage image = encode_safetensors(content.files.at("weights.safetensors"));
  disk_.replace_file(folder_.weights() / "last.safetensors", image.parts());
  write_best_weights();
}

void RunKeeper::write_best_weights() {
  const std::string best = checkpoint_pointer(folder_.checkpoints(), "best");
  if (best.empty()) return;
  try {
    const SafetensorsFile file =
        load_checkpoint_file(folder_.checkpoints() / best, "weights.safetensors");
    const SafetensorsImage image = encode_safetensors(file.tensors());
    disk_.replace_file(folder_.file(kBestWeights), image.parts());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::checkpoint) throw;
    warn(std::string("weights/best.safetensors was not written: ") + error.what());
  }
}

void RunKeeper::write_summary(double seconds) {
  status_.at = progress_.now();
  const std::string metrics = metrics_text(folder_);
  folder_.write("summary.txt",
                summary_text(status_, {.run = folder_.path().string(),
                                       .changes = changes_of(folder_.file("run.json")),
                                       .seconds = seconds,
                                       .best_values = validation_values(
                                           metrics, status_.best ? status_.best->epoch : 0),
                                       .last = last_values(metrics),
                                       .clean = last_clean_values(metrics),
                                       .warnings = warnings_}));
}

namespace {

/// Files that no start changes for a complete run, or that may be large.
constexpr std::array kLeftAlone = {".lock", "train.log", "steps.csv", "statistics.safetensors"};
constexpr std::uint64_t kMostFormerBytes = std::uint64_t{1} << 30;

/// The names of those that are looked after.
std::vector<std::string> record_files(const RunFolder& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& path : entries_of(folder.path())) {
    const std::string name = path.filename().string();
    const bool left = std::ranges::find(kLeftAlone, name) != kLeftAlone.end();
    if (!left && fs::is_regular_file(path, ignored)) names.push_back(name);
  }
  return names;
}

std::string text_now(const RunFolder& folder, const std::string& name) {
  return read_text(folder.file(name), ErrorKind::disk, kMostFormerBytes);
}

}  // namespace

FormerFiles::FormerFiles(const RunFolder& folder) {
  for (const std::string& name : record_files(folder)) texts_[name] = text_now(folder, name);
}

void FormerFiles::restore(const RunFolder& folder) const {
  for (const std::string& name : record_files(folder)) {
    if (!texts_.contains(name)) folder.disk().remove(folder.file(name));
  }
  std::error_code ignored;
  for (const auto& [name, text] : texts_) {
    const bool same = fs::exists(folder.file(name), ignored) && text_now(folder, name) == text;
    if (!same) folder.write(name, text);
  }
}

}  // namespace trainyard
