#include "run/readiness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "base/hash.h"
#include "report/plotter.h"
#include "run/config/batch_rate.h"
#include "run/config/layer_rules.h"
#include "run/config/resolved_config.h"
#include "run/snapshot.h"
#include "train/weight_check.h"

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
  std::int64_t kept = config.checkpoint.keep + 2;
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

/// Throws Error{device} if the ranks would train different models, or start differently.
void require_agreement(Session& session, RankGroup& ranks, const std::string& resolved,
                       std::int64_t step) {
  ranks.require_equal("config", hash128_hex(std::string_view(resolved)));
  ranks.require_equal("training set", session.data().train->fingerprint());
  ranks.require_equal("validation set", session.data().val->fingerprint());
  ranks.require_equal("plan", hash128_hex(text_of(session.model().train().plan())));
  ranks.require_equal("step to begin at", std::to_string(step));
  std::vector<std::byte> copy;
  ranks.require_equal("model to begin with", model_hash(session.model(), copy));
}

/// Returns warnings. Throws Error{disk} if there is no room for a checkpoint.
std::vector<std::string> require_room(Session& session, const TrainingRequest& request,
                                      const Disk& disk) {
  const RunConfig& config = session.config();
  const fs::path place = planned_folder(request, config.name);
  const CheckpointContent content = snapshot(session, {});
  require_checkpoint_space(disk, place, content);
  const BatchNumbers& batch = session.batch();
  const Graph& network = session.model().programs().eval->plan().laid_out.graph;
  std::vector<std::string> warnings = {rate_warning(config, batch.ranks, batch.global),
                                       frozen_warning(network)};
  if (request.gnuplot.empty()) warnings.push_back(missing_gnuplot_warning());
  // A resumed run already has checkpoints there.
  if (request.resume.empty()) {
    warnings.push_back(room_warning(content, config, place, disk.free_bytes(place)));
  }
  std::erase(warnings, "");
  return warnings;
}

}  // namespace

fs::path planned_folder(const TrainingRequest& request, const std::string& name) {
  if (!request.resume.empty()) return request.resume;
  return request.out.empty() ? fs::path(kRunsFolder) / name : request.out;
}

void require_request(const TrainingRequest& request, const RankGroup& ranks, const Disk& disk) {
  if (!request.output.empty()) check_plot_output(request.output, !request.gnuplot.empty());
  if (ranks.rank() != 0 || !request.resume.empty()) return;
  if (request.out.empty()) {
    RunFolder::require_place(disk, kRunsFolder, request.config.name);
  } else {
    RunFolder::require_place_at(disk, request.out);
  }
}

std::unique_ptr<Session> first_session(TrainingRequest& request, RankGroup& ranks) {
  auto session =
      std::make_unique<Session>(std::move(request.config), request.device, nullptr, ranks);
  session->model().initialize(static_cast<std::uint64_t>(session->config().seed));
  if (request.init) initialize_from(session->model(), *request.init);
  return session;
}

std::vector<std::string> require_start(Session& session, const TrainingRequest& request,
                                       RankGroup& ranks, const std::string& resolved,
                                       std::int64_t step, const Disk& disk) {
  require_agreement(session, ranks, resolved, step);
  if (ranks.rank() != 0) return {};
  return require_room(session, request, disk);
}

ReadyRun ready_run(TrainingRequest& request, RankGroup& ranks, const Disk& disk) {
  require_request(request, ranks, disk);
  const std::string resolved = resolved_yaml(request.config);
  ReadyRun ready{.session = first_session(request, ranks)};
  ready.warnings = require_start(*ready.session, request, ranks, resolved, 0, disk);
  return ready;
}

}  // namespace trainyard
