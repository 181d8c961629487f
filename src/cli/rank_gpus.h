// How many ranks the flags ask for on this machine, and which GPU each of them gets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/gpus.h"
#include "comm/rank_place.h"

namespace trainyard::cli {

/// Ranks of one machine, as --gpus and --replicas ask for them.
struct RankCount {
  int count = 1;
  std::string asked;      // "--gpus 4", for messages
  std::vector<int> gpus;  // ordinals by rank, repeated where ranks share; empty: not looked up
};

/// The count that the text of the flags alone says; empty for "all", and where neither is given.
/// Throws Error{command_line} for text that is no form of --gpus.
[[nodiscard]] std::optional<RankCount> stated_ranks(const std::string& gpus,
                                                    std::optional<int> replicas);
/// The ranks to start on this machine. The GPUs are looked for where there is to be more than one
/// rank. Throws Error{device} where they lack, Error{command_line} for fewer replicas than GPUs.
[[nodiscard]] RankCount ranks_to_start(const std::string& gpus, std::optional<int> replicas,
                                       const GpuPlaces& places);

/// The variable by which the launcher tells its ranks the chosen GPUs: "2,0". Each rank looking for
/// the idlest by itself would find others.
inline constexpr const char* kGpusVariable = "TRAINYARD_GPUS";
/// "2,0" of ordinals.
[[nodiscard]] std::string gpus_text(const std::vector<int>& gpus);

/// The one GPU (or none: the CPU) that a rank trains on: the local_rank-th of those that --gpus
/// means, counted round where replicas share. `chosen`: the value of kGpusVariable, or "". Throws
/// as open_gpus() does, and Error{command_line} where ranks and GPUs cannot be matched.
[[nodiscard]] UsableGpus gpus_of_rank(const std::string& gpus, std::optional<int> replicas,
                                      const RankPlace& place, const std::string& chosen,
                                      const GpuPlaces& places);

}  // namespace trainyard::cli
