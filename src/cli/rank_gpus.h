// How many ranks the flags ask for on this machine, and which GPU each of them gets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/gpus.h"
#include "launch/rank_identity.h"

namespace trainyard::cli {

/// Ranks of one machine, as --gpus and --replicas ask for them.
struct RankCount {
  int count = 1;
  std::string asked;      // "--gpus 4", for messages
  std::vector<int> gpus;  // ordinals by rank; empty: not looked up
};

/// The count that the text of the flags alone says; empty for "all", and where neither is given.
/// Throws Error{command_line} for text that is no form of --gpus.
[[nodiscard]] std::optional<RankCount> stated_ranks(const std::string& gpus,
                                                    std::optional<int> replicas);
/// The ranks to start where `gpus` are the chosen GPUs: one each, or as many as there are replicas,
/// which share the GPUs in turn. Throws Error{command_line} for fewer replicas than GPUs.
[[nodiscard]] RankCount ranks_on(const std::vector<GpuFinding>& gpus, RankCount stated,
                                 std::optional<int> replicas);
/// The ranks to start on this machine. The GPUs are looked for where there is to be more than one
/// rank. Throws as open_gpus() and ranks_on() do.
[[nodiscard]] RankCount ranks_to_start(const std::string& gpus, std::optional<int> replicas,
                                       const GpuSearchPaths& places);

/// The GPUs that `most` ranks need, one each, of those that --gpus means: as many of the first
/// where it is left out. Throws Error{command_line} for a text that means fewer.
[[nodiscard]] GpuRequest request_for_ranks(const std::string& gpus, int most);

/// The GPUs of a start of `ranks` ranks: one each of the first ones, or all where the ranks, being
/// more, share them in turn.
[[nodiscard]] std::vector<int> gpus_of_start(const std::vector<int>& gpus, int ranks);

/// The variable by which the launcher tells its ranks the chosen GPUs: "2,0". Each rank looking for
/// the idlest by itself would find others.
inline constexpr const char* kGpusVariable = "TRAINYARD_GPUS";
/// "2,0" of ordinals.
[[nodiscard]] std::string gpus_text(const std::vector<int>& gpus);

/// What a rank is told of GPUs.
struct RankGpuFlags {
  std::string gpus;             // the text of --gpus
  std::optional<int> replicas;  // --replicas
  std::string chosen;           // the value of kGpusVariable, or ""
};
/// Which GPUs of this host its ranks share out. A launcher's choice goes before the text of --gpus.
/// Throws Error{command_line} for "auto:N" under another launcher, where each rank would find
/// others.
[[nodiscard]] GpuRequest request_of_rank(const RankGpuFlags& flags, const RankIdentity& place);
/// Of those GPUs the one of a rank: the local_rank-th, replicas in turn, or the only one that is
/// visible. Throws Error{command_line} where ranks and GPUs do not match: "all" that is another
/// number than the ranks, fewer replicas than GPUs, and without replicas fewer GPUs than ranks.
[[nodiscard]] GpuFinding gpu_of_rank(const std::vector<GpuFinding>& gpus, const RankGpuFlags& flags,
                                     const RankIdentity& place);
/// The one GPU (or none: the CPU) that a rank trains on. Throws as the functions above do.
[[nodiscard]] UsableGpus gpus_of_rank(const RankGpuFlags& flags, const RankIdentity& place,
                                      const GpuSearchPaths& places);

}  // namespace trainyard::cli
