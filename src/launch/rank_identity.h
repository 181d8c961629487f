// Which rank of how many this process is, and where the ranks meet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/launcher_environment.h"

namespace trainyard {

/// The place of a process among the ranks of a job.
struct RankIdentity {
  int rank = 0;         // 0 to ranks - 1
  int ranks = 1;        // of the whole job
  int local_rank = 0;   // 0 to local_ranks - 1, among those of this host
  int local_ranks = 1;  // of this host
  /// Host of rank 0, where the ranks meet, and its TCP port; "" and 0 may stand for one rank.
  std::string master_address;
  int master_port = 0;
  /// Equal on all ranks of a job: ranks of other jobs are turned away by it. A secret only where a
  /// person or train's own launcher made it; one derived from a job's number keeps accidents out,
  /// not attackers.
  std::string token;
  std::string source;            // "local", "mpirun", "srun", "environment"
  std::string local_ranks_from;  // "LOCAL_WORLD_SIZE=4": what said local_ranks
  bool operator==(const RankIdentity&) const = default;
};

/// The place that a launcher gave this process, or empty if nobody started it as a rank. RANK and
/// its like go before Open MPI's variables, those before PMI's, those before Slurm's. MASTER_ADDR,
/// MASTER_PORT and TRAINYARD_TOKEN are taken from the environment; where they lack, ranks that
/// mpirun or srun started on one host meet at 127.0.0.1, those of srun on several hosts at the
/// first of SLURM_STEP_NODELIST, at a port and with a token that follow from the job's number.
/// Throws Error{command_line} for variables that are malformed, lacking or contradict each other,
/// both named.
[[nodiscard]] std::optional<RankIdentity> find_rank_identity(const Variables& variables);

/// Throws Error{command_line} unless the flag's count (`asked`: "--gpus 4") is what the launcher
/// started on this host.
void require_local_ranks(const RankIdentity& place, const std::string& asked, int count);

/// The variables that tell a child of ours its place; find_rank_identity() reads them.
[[nodiscard]] std::vector<std::string> variables_of(const RankIdentity& place);
/// `environment` ("NAME=value" each) with the variables of `place` instead of those it has.
[[nodiscard]] std::vector<std::string> environment_of(std::vector<std::string> environment,
                                                      const RankIdentity& place);

/// A port between 16384 and 32767, below those that systems hand out by themselves, the same for
/// the same job.
[[nodiscard]] int port_of_job(const std::string& job);

}  // namespace trainyard
