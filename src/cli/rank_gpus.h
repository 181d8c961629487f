// How many ranks the flags ask for on this machine, and which GPU each of them gets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/gpus.h"
#include "ranks/spawn/rank_identity.h"

namespace trainyard::cli {

/// Ranks of one machine, as --gpus and --replicas ask for them.
struct RankCount {
  int count = 1;
  std::string asked;      // "--gpus 4", for messages
  std::vector<int> gpus;  // ordinals by rank; empty: not looked up
};

/// The count that the flags alone give; empty for "all", and if neither is given. Throws
/// Error{command_line} for an invalid --gpus.
[[nodiscard]] std::optional<RankCount> stated_ranks(const std::string& gpus,
                                                    std::optional<int> replicas);
/// The ranks to start on the chosen `gpus`: one per GPU, or one per replica, with replicas assigned
/// to the GPUs in turn. Throws Error{command_line} for fewer replicas than GPUs.
[[nodiscard]] RankCount ranks_on(const std::vector<GpuFinding>& gpus, RankCount stated,
                                 std::optional<int> replicas);
/// The ranks to start on this machine. Looks for GPUs only if there may be more than one rank.
/// Throws as open_gpus() and ranks_on() do.
[[nodiscard]] RankCount ranks_to_start(const std::string& gpus, std::optional<int> replicas,
                                       const GpuSearchPaths& paths);

/// The GPUs for `most` ranks, one each, from those that --gpus selects; without --gpus the first
/// `most`. Throws Error{command_line} if --gpus selects fewer.
[[nodiscard]] GpuRequest request_for_ranks(const std::string& gpus, int most);

/// The GPUs for a start of `ranks` ranks: the first ones, one each, or all of them if there are
/// more ranks than GPUs, which then share them in turn.
[[nodiscard]] std::vector<int> gpus_of_start(const std::vector<int>& gpus, int ranks);

/// The variable in which the launcher passes the chosen GPUs to its ranks: "2,0". If each rank
/// looked for the idlest by itself, they would find different ones.
inline constexpr const char* kGpusVariable = "TRAINYARD_GPUS";
/// Ordinals as "2,0".
[[nodiscard]] std::string gpus_text(const std::vector<int>& gpus);

/// What a rank is told about GPUs.
struct RankGpuFlags {
  std::string gpus;             // the text of --gpus
  std::optional<int> replicas;  // --replicas
  std::string chosen;           // the value of kGpusVariable, or ""
};
/// The GPUs of this host that are distributed among its ranks. A launcher's choice takes precedence
/// over --gpus. Throws Error{command_line} for "auto:N" under another launcher, where each rank
/// would find different ones.
[[nodiscard]] GpuRequest request_of_rank(const RankGpuFlags& flags, const RankIdentity& identity);
/// The GPU of a rank among those: the local_rank-th, replicas in turn, or the only one that is
/// visible. Throws Error{command_line} if ranks and GPUs do not match: "all" with a number of GPUs
/// other than that of the ranks, fewer replicas than GPUs, and without replicas fewer GPUs than
/// ranks.
[[nodiscard]] GpuFinding gpu_of_rank(const std::vector<GpuFinding>& gpus, const RankGpuFlags& flags,
                                     const RankIdentity& identity);
/// The one GPU (or none: the CPU) that a rank trains on. Throws as the functions above.
[[nodiscard]] UsableGpus gpus_of_rank(const RankGpuFlags& flags, const RankIdentity& identity,
                                      const GpuSearchPaths& paths);

}  // namespace trainyard::cli
