#include "cli/rank_gpus.h"

#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace trainyard::cli {
namespace {

using Kind = GpuRequest::Kind;

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::command_line, text); }

std::string ranks_text(int count) {
  return std::to_string(count) + (count == 1 ? " rank" : " ranks");
}

/// The request for exactly these GPUs; its messages name what was typed.
GpuRequest request_for(const std::string& ordinals, const std::string& typed) {
  const bool one = ordinals.find(',') == std::string::npos;
  GpuRequest request = parse_gpus(one ? "id:" + ordinals : ordinals);
  request.text = typed;
  return request;
}

/// Ranks that leave GPUs without work were not meant so.
void require_ranks_for(std::size_t gpus, int replicas) {
  if (static_cast<std::size_t>(replicas) >= gpus) return;
  refuse("--replicas " + std::to_string(replicas) + " leaves " +
         std::to_string(gpus - static_cast<std::size_t>(replicas)) + " of " + std::to_string(gpus) +
         " GPUs without work; ask for as many GPUs as replicas, or fewer");
}

/// Where --gpus is left out, each rank takes a GPU of its own if there are as many; one alone may
/// be what the launcher made visible to this rank.
void match_unsaid(const UsableGpus& usable, const RankPlace& place) {
  const auto ranks = static_cast<std::size_t>(place.local_ranks);
  if (usable.gpus.size() <= 1 || usable.gpus.size() >= ranks) return;
  refuse(ranks_text(place.local_ranks) + " on this host (" + place.local_ranks_from + "), but " +
         std::to_string(usable.gpus.size()) +
         " GPUs; start as many ranks as GPUs, or say with --gpus and --replicas how to share");
}

/// All GPUs that the ranks of this host share out.
UsableGpus gpus_of_host(const GpuRequest& request, std::optional<int> replicas,
                        const RankPlace& place, const GpuPlaces& places) {
  UsableGpus usable = open_gpus(request, places);
  if (request.kind == Kind::unsaid && usable.backend != nullptr && place.local_ranks > 1 &&
      !replicas) {
    usable.gpus = usable.backend->survey().gpus;
    match_unsaid(usable, place);
  }
  if (request.kind == Kind::all && !replicas) {
    require_local_ranks(place, "--gpus all", static_cast<int>(usable.gpus.size()));
  }
  return usable;
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

RankCount ranks_to_start(const std::string& gpus, std::optional<int> replicas,
                         const GpuPlaces& places) {
  const GpuRequest request = parse_gpus(gpus);
  const bool cpu = request.kind == Kind::none;
  RankCount ranks = stated_ranks(gpus, replicas).value_or(RankCount{.asked = "--gpus " + gpus});
  // One rank looks for its GPU by itself.
  if (cpu || (ranks.count == 1 && request.kind != Kind::all)) return ranks;
  const UsableGpus usable = open_gpus(request, places);
  if (replicas) require_ranks_for(usable.gpus.size(), *replicas);
  if (!replicas) ranks.count = static_cast<int>(usable.gpus.size());
  for (const GpuFinding& gpu : usable.gpus) ranks.gpus.push_back(gpu.ordinal);
  return ranks;
}

std::string gpus_text(const std::vector<int>& gpus) {
  std::vector<std::string> words;
  for (const int ordinal : gpus) words.push_back(std::to_string(ordinal));
  return joined(words, ",");
}

UsableGpus gpus_of_rank(const std::string& gpus, std::optional<int> replicas,
                        const RankPlace& place, const std::string& chosen,
                        const GpuPlaces& places) {
  const bool ours = place.source == "local" && !chosen.empty();
  const GpuRequest request = ours ? request_for(chosen, gpus) : parse_gpus(gpus);
  if (!ours && request.kind == Kind::idlest && place.ranks > 1) {
    refuse("--gpus " + gpus + ": the ranks of " + place.source +
           " would each find other GPUs idle; name them, as in --gpus 4 or --gpus 0,2");
  }
  UsableGpus usable = gpus_of_host(request, replicas, place, places);
  if (usable.gpus.size() < 2) return usable;
  if (replicas) require_ranks_for(usable.gpus.size(), *replicas);
  const GpuFinding own =
      usable.gpus[static_cast<std::size_t>(place.local_rank) % usable.gpus.size()];
  usable.gpus = {own};
  return usable;
}

}  // namespace trainyard::cli
