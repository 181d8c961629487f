#include "cli/rank_gpus.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace trainyard::cli {
namespace {

using Kind = GpuRequest::Kind;

/// The request for exactly these GPUs; its messages name the text that was typed.
GpuRequest request_for(const std::string& ordinals, const std::string& typed) {
  const bool one = ordinals.find(',') == std::string::npos;
  GpuRequest request = parse_gpus(one ? "id:" + ordinals : ordinals);
  request.text = typed;
  return request;
}

/// Throws Error{command_line} unless every requested GPU has a replica.
void require_work_for_all(std::size_t gpus, int replicas) {
  if (static_cast<std::size_t>(replicas) >= gpus) return;
  refuse_command("--replicas " + std::to_string(replicas) + " leaves " +
                 std::to_string(gpus - static_cast<std::size_t>(replicas)) + " of " +
                 std::to_string(gpus) + " GPUs without work; ask for no more GPUs than replicas");
}

/// Without --gpus each rank takes its own GPU; a single GPU may be the one that the launcher made
/// visible to this rank.
void match_unsaid(std::size_t gpus, const RankIdentity& identity) {
  if (gpus <= 1 || gpus >= static_cast<std::size_t>(identity.local_ranks)) return;
  refuse_command(std::to_string(gpus) + " GPUs for " + std::to_string(identity.local_ranks) +
                 " ranks on this host (" + identity.local_ranks_from +
                 "); start as many ranks as GPUs");
}

}  // namespace

std::optional<RankCount> stated_ranks(const std::string& gpus, std::optional<int> replicas) {
  const GpuRequest request = parse_gpus(gpus);
  if (replicas) {
    return RankCount{.count = *replicas, .asked = "--replicas " + std::to_string(*replicas)};
  }
  RankCount ranks{.asked = "--gpus " + gpus};
  if (request.kind == Kind::unsaid || request.kind == Kind::all) return std::nullopt;
  if (request.kind == Kind::listed) ranks.count = static_cast<int>(request.ids.size());
  if (request.kind == Kind::first || request.kind == Kind::idlest) {
    ranks.count = static_cast<int>(request.count);
  }
  return ranks;
}

RankCount ranks_on(const std::vector<GpuFinding>& gpus, RankCount stated,
                   std::optional<int> replicas) {
  if (replicas) require_work_for_all(gpus.size(), *replicas);
  if (!replicas) stated.count = static_cast<int>(gpus.size());
  for (const GpuFinding& gpu : gpus) stated.gpus.push_back(gpu.ordinal);
  return stated;
}

RankCount ranks_to_start(const std::string& gpus, std::optional<int> replicas,
                         const GpuSearchPaths& paths) {
  const GpuRequest request = parse_gpus(gpus);
  RankCount ranks = stated_ranks(gpus, replicas).value_or(RankCount{.asked = "--gpus " + gpus});
  // One rank looks for its GPU by itself.
  const bool alone = ranks.count == 1 && request.kind != Kind::all;
  if (request.kind == Kind::none || alone) return ranks;
  UsableGpus usable = open_gpus(request, paths);
  ranks = ranks_on(usable.gpus, ranks, replicas);
  // Problems must be reported before any of them is started.
  usable.share = {.ranks = ranks.count, .gpus = static_cast<int>(ranks.gpus.size())};
  require_shareable(usable);
  if (ranks.count > 1 && !usable.share.shared()) require_joining_libraries(usable);
  return ranks;
}

GpuRequest request_for_ranks(const std::string& gpus, int most) {
  GpuRequest request = parse_gpus(gpus);
  if (request.kind == Kind::unsaid) {
    return {.kind = Kind::first, .count = most, .text = std::to_string(most) + " (of --scaling)"};
  }
  const std::optional<RankCount> stated = stated_ranks(gpus, std::nullopt);
  if (request.kind == Kind::none || !stated || stated->count >= most) return request;
  refuse_command(
      "--scaling needs " + std::to_string(most) + " GPUs, but --gpus " + gpus + " selects " +
      std::to_string(stated->count) +
      "; give as many, leave --gpus out for the first ones, or use --gpus 0 for the CPU");
}

std::vector<int> gpus_of_start(const std::vector<int>& gpus, int ranks) {
  const std::size_t count = std::min(gpus.size(), static_cast<std::size_t>(ranks));
  return {gpus.begin(), gpus.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::string gpus_text(const std::vector<int>& gpus) {
  std::vector<std::string> words;
  for (const int ordinal : gpus) words.push_back(std::to_string(ordinal));
  return joined(words, ",");
}

GpuRequest request_of_rank(const RankGpuFlags& flags, const RankIdentity& identity) {
  if (identity.source == "local" && !flags.chosen.empty()) {
    return request_for(flags.chosen, flags.gpus);
  }
  GpuRequest request = parse_gpus(flags.gpus);
  if (request.kind != Kind::idlest || identity.ranks == 1) return request;
  refuse_command("--gpus " + flags.gpus + ": ranks that train did not start (" + identity.source +
                 ") would each find different GPUs idle; name them, as in --gpus 4 or --gpus 0,2");
}

GpuFinding gpu_of_rank(const std::vector<GpuFinding>& gpus, const RankGpuFlags& flags,
                       const RankIdentity& identity) {
  TY_CHECK(!gpus.empty(), "a rank on GPUs has one");
  if (flags.replicas) {
    require_work_for_all(gpus.size(), *flags.replicas);
  } else if (flags.gpus == "all") {
    require_local_ranks(identity, "--gpus all", static_cast<int>(gpus.size()));
  } else if (flags.gpus.empty()) {
    match_unsaid(gpus.size(), identity);
  }
  return gpus[static_cast<std::size_t>(identity.local_rank) % gpus.size()];
}

/// Whether the GPUs of this host's ranks are known to read each other's memory: a rank that sees
/// only its own cannot know.
bool are_direct(std::span<const GpuFinding> gpus, const RankIdentity& identity) {
  const auto ranks = static_cast<std::size_t>(identity.local_ranks);
  return gpus.size() >= ranks && are_peers(gpus.first(ranks));
}

UsableGpus gpus_of_rank(const RankGpuFlags& flags, const RankIdentity& identity,
                        const GpuSearchPaths& paths) {
  const GpuRequest request = request_of_rank(flags, identity);
  UsableGpus usable = open_gpus(request, paths);
  if (usable.gpus.empty()) return usable;
  const bool unsaid = request.kind == Kind::unsaid && identity.local_ranks > 1 && !flags.replicas;
  if (unsaid) usable.gpus = usable_gpus(usable.backend->survey());
  if (flags.replicas) {
    usable.share = {.ranks = *flags.replicas, .gpus = static_cast<int>(usable.gpus.size())};
    require_shareable(usable);
  }
  usable.direct = are_direct(usable.gpus, identity);
  usable.gpus = {gpu_of_rank(usable.gpus, flags, identity)};
  return usable;
}

}  // namespace trainyard::cli
