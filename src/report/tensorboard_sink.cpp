#include "report/tensorboard_sink.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::string_view kVal = "val_", kClean = "clean_";
/// Of the position, which is TensorBoard's step.
constexpr std::array<std::string_view, 3> kPosition = {"epoch", "step", "samples"};

/// The values whose columns begin with `prefix`, under their names without it.
EventSummary summary_of(const std::vector<NamedValue>& values, const std::string& group,
                        std::string_view prefix) {
  EventSummary summary;
  for (const auto& [name, value] : values) {
    const bool other = name.starts_with(kVal) || name.starts_with(kClean);
    if (prefix.empty() ? other : !name.starts_with(prefix)) continue;
    if (std::ranges::find(kPosition, name) != kPosition.end()) continue;
    summary.scalar(group + "/" + name.substr(prefix.size()), value);
  }
  return summary;
}

}  // namespace

TensorboardSink::TensorboardSink(const Disk& disk, const Clock& clock,
                                 const std::filesystem::path& folder,
                                 const TensorboardOptions& options)
    : columns_(options.columns),
      train_(disk, clock, folder / "train", options.from.epoch),
      validation_(disk, clock, folder / "validation", options.from.epoch) {
  if (columns_.clean) clean_.emplace(disk, clock, folder / "clean", options.from.epoch);
  if (options.with_steps) steps_.emplace(disk, clock, folder / "steps", options.from.step);
  const TensorboardHead& head = options.head;
  EventSummary train, val;
  train.verbatim("config", head.config);
  if (head.train_samples) train.image("samples", *head.train_samples);
  if (head.val_samples) val.image("samples", *head.val_samples);
  train_.append(train_.first_step(), train);
  validation_.append(validation_.first_step(), val);
}

std::vector<EventFile*> TensorboardSink::files() {
  std::vector<EventFile*> all = {&train_, &validation_};
  if (clean_) all.push_back(&*clean_);
  if (steps_) all.push_back(&*steps_);
  return all;
}

void TensorboardSink::on_epoch(const EpochRow& row) {
  const std::vector<NamedValue> values =
      measured(epoch_columns(columns_), epoch_fields(columns_, row));
  train_.append(row.epoch, summary_of(values, "epoch", ""));
  validation_.append(row.epoch, summary_of(values, "epoch", kVal));
  if (clean_) clean_->append(row.epoch, summary_of(values, "epoch", kClean));
}

void TensorboardSink::on_step(const StepRow& row) {
  if (!steps_) return;
  steps_->append(row.step, summary_of(measured(step_columns(), step_fields(row)), "step", ""));
}

void TensorboardSink::sync() {
  for (EventFile* file : files()) file->sync();
}

std::vector<std::string> TensorboardSink::warnings() {
  std::vector<std::string> all;
  for (const EventFile* file : files()) {
    if (!file->warning().empty()) all.push_back(file->warning());
  }
  return all;
}

}  // namespace trainyard
