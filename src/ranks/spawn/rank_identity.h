// The rank of this process, the number of ranks, and where the ranks meet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ranks/spawn/launcher_environment.h"

namespace trainyard {

/// The identity of a process among the ranks of a job.
struct RankIdentity {
  int rank = 0;         // 0 to ranks - 1
  int ranks = 1;        // ranks of the whole job
  int local_rank = 0;   // 0 to local_ranks - 1, among those of this host
  int local_ranks = 1;  // ranks of this host
  /// Host of rank 0, where the ranks meet, and its TCP port; may be "" and 0 with one rank.
  std::string master_address;
  int master_port = 0;
  /// Equal on all ranks of a job: ranks of other jobs are rejected by it. A secret only if the user
  /// or train's own launcher made it; one derived from the job number protects against accidents,
  /// not attackers.
  std::string token;
  std::string source;            // "local", "mpirun", "srun", "environment"
  std::string local_ranks_from;  // "LOCAL_WORLD_SIZE=4": the source of local_ranks
  bool operator==(const RankIdentity&) const = default;
};

/// The identity that a launcher gave this process; empty if no launcher started it as a rank. RANK
/// and the variables with it take precedence over Open MPI's, those over PMI's, those over Slurm's.
/// MASTER_ADDR, MASTER_PORT and TRAINYARD_TOKEN are read from the environment; if they are missing,
/// ranks that mpirun or srun started on one host meet at 127.0.0.1, those of srun on several hosts
/// at the first of SLURM_STEP_NODELIST, at a port and with a token derived from the job number. If
/// torchrun itself listens at MASTER_PORT, its ranks meet at a port derived from that one.
/// Throws Error{command_line} for variables that are malformed, missing or contradict each other
/// (both named).
[[nodiscard]] std::optional<RankIdentity> find_rank_identity(const Variables& variables);

/// Throws Error{command_line} unless the flag's count (`asked`: "--gpus 4") is the number of ranks
/// that the launcher started on this host.
void require_local_ranks(const RankIdentity& identity, const std::string& asked, int count);

/// `environment` ("NAME=value" each) with the variables of `identity` replacing its own.
[[nodiscard]] std::vector<std::string> environment_of(std::vector<std::string> environment,
                                                      const RankIdentity& identity);

/// A port from 16384 to 32767, below the ephemeral ports, the same for the same job.
[[nodiscard]] int port_of_job(const std::string& job);

}  // namespace trainyard
