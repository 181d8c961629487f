#include "run/readiness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "base/hash.h"
#include "model/model_hash.h"
#include "base/text.h"
#include "report/plotter.h"
#include "run/config/batch_rate.h"
#include "run/config/layer_rules.h"
#include "run/config/resolved_config.h"
#include "run/new_run.h"
#include "run/snapshot.h"
#include "run/start_warnings.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

std::uint64_t bytes_of(const std::vector<NamedTensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const NamedTensor& tensor : tensors) bytes += tensor.bytes.size();
  return bytes;
}

/// The most bytes that a run has on its disk at once: the newest checkpoints, the best one, one
/// being saved, and the weights.
std::uint64_t most_bytes(const CheckpointContent& content, const RunConfig& config) {
  std::uint64_t checkpoint = 0;
  for (const auto& [name, tensors] : content.files) checkpoint += bytes_of(tensors);
  std::int64_t kept = config.checkpoint ? config.checkpoint->keep + 2 : 0;
  if (config.checkpoint_every.unit == Interval::Unit::epoch) kept = std::min(kept, config.epochs);
  return static_cast<std::uint64_t>(kept) * checkpoint +
         2 * bytes_of(content.files.at("weights.safetensors"));
}

std::string mebibyte_text(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string room_warning(const CheckpointContent& content, const RunConfig& config,
                         const fs::path& place, std::uint64_t free) {
  const std::uint64_t most = most_bytes(content, config);
  if (free >= most) return "";
  return fmt::format(
      "the disk of '{}' has {} free, but the run's checkpoints and weights may take {}: free some "
      "space, lower 'checkpoint.keep', or choose another folder with --out",
      place.string(), mebibyte_text(free), mebibyte_text(most));
}

/// The next batch forward and backward, without an optimizer step.
Totals totals_of_batch(Session& session) {
  session.step().load([&]() -> const Batch& { return session.data().train_feeder->next(); });
  if (const auto culprit = session.step().check()) {
    const std::string where = culprit->where.text();
    throw Error(ErrorKind::diverged, where + (where.empty() ? "" : ": ") + "layer '" +
                                         culprit->path + "': its " + culprit->what +
                                         " is not finite in the first batch");
  }
  Model& model = session.model();
  model.add_results(model.train());
  return model.take_totals();
}

/// The sum of a rank's numbers.
double sum_over_ranks(RankGroup& ranks, double own) {
  double sum = 0;
  for (const std::string& text : ranks.gather(number_text(own))) sum += std::stod(text);
  return sum;
}

}  // namespace

double loss_of_one_batch(Session& session, RankGroup& ranks) {
  const TrainingGraph& graph = session.model().graph();
  session.step().prepare();
  session.data().train_feeder->start(0);
  const std::int64_t most = std::min<std::int64_t>(session.batch().steps, 100);
  for (std::int64_t batch = 0; batch < most; ++batch) {
    const Totals totals = totals_of_batch(session);
    const auto counted = static_cast<double>(counted_rows(graph, totals.metrics, totals.samples));
    if (sum_over_ranks(ranks, counted) == 0) continue;
    const double weight = weight_of(graph, totals.metrics, totals.samples);
    const double loss = sum_over_ranks(ranks, totals.loss) / sum_over_ranks(ranks, weight);
    if (std::isfinite(loss)) return loss;
    throw Error(ErrorKind::diverged,
                fmt::format("the loss of the first batch is {}, which is not finite", loss));
  }
  throw Error(ErrorKind::diverged,
              fmt::format("every sample of the first {} is ignored: its label is 'ignore_label' or "
                          "its weight is 0, so that there is no loss",
                          most == 1 ? "batch" : fmt::format("{} batches", most)));
}

void require_request(const TrainingRequest& request, const RunStart& start, const RankGroup& ranks,
                     const Disk& disk) {
  if (request.max_seconds > 0 && !request.config.checkpoint) {
    refuse_command(
        "--max-time ends a run so that it can be resumed, but 'checkpoint' is off; leave out one "
        "of the two");
  }
  if (!request.output.empty() && !request.config.output.plot) {
    refuse_command("--plot: 'output.plot' is off; leave out one of the two");
  }
  if (!request.output.empty()) check_plot_output(request.output, !request.gnuplot.empty());
  if (ranks.rank() == 0) start.require_folder(disk);
}

void require_agreement(Session& session, RankGroup& ranks, const std::string& config,
                       std::int64_t step) {
  ranks.require_equal("config", hash128_hex(std::string_view(config)));
  ranks.require_equal("training set", session.data().train->fingerprint());
  ranks.require_equal("validation set", session.data().val->fingerprint());
  ranks.require_equal("plan", hash128_hex(text_of(session.model().train().plan())));
  ranks.require_equal("step to begin at", std::to_string(step));
  std::vector<std::byte> copy;
  ranks.require_equal("model to begin with", model_hash(session.model(), copy));
}

std::vector<std::string> require_room(Session& session, const TrainingRequest& request,
                                      const RunStart& start, const Disk& disk) {
  const RunConfig& config = session.config();
  const fs::path place = start.folder();
  const CheckpointContent content = snapshot(session, {});
  if (config.checkpoint) require_checkpoint_space(disk, place, content);
  const BatchNumbers& batch = session.batch();
  const Graph& network = session.model().programs().eval->plan().laid_out.graph;
  const Graph whole = build_whole_network(config, batch.replica);
  std::vector<std::string> warnings = {
      rate_warning(config, batch.ranks, batch.global),
      frozen_warning(network),
      plateau_warning(config),
      schedule_warning(session.schedule(), config.epochs, batch.steps),
      scale_warning(config.data, *session.data().train, whole),
      softmax_warning(whole)};
  if (request.gnuplot.empty() && config.output.plot) warnings.push_back(missing_gnuplot_warning());
  // A folder from an earlier start already has checkpoints, whose room is not free.
  if (!start.has_folder()) {
    warnings.push_back(room_warning(content, config, place, disk.free_bytes(place)));
  }
  std::erase(warnings, "");
  return warnings;
}

ReadyRun ready_run(TrainingRequest& request, RankGroup& ranks, const Disk& disk) {
  NewRun start(request);
  require_request(request, start, ranks, disk);
  start.describe_config(ranks.size());
  ReadyRun ready{.session = start.make_session(ranks, request.device.warn),
                 .folder = start.folder()};
  const TrainingState state = start.fill(*ready.session, request.device.warn);
  require_agreement(*ready.session, ranks, start.config().typed, state.step);
  if (ranks.rank() == 0) ready.warnings = require_room(*ready.session, request, start, disk);
  return ready;
}

}  // namespace trainyard
