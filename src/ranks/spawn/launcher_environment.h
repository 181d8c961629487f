// A rank's numbers from the variables of each launcher, and Slurm's host and task lists. Pure: the
// environment is a parameter.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

/// The value of an environment variable, or null.
using Variables = std::function<const char*(const char* name)>;

/// More ranks than any job has; a larger number in a variable is a mistake.
inline constexpr int kMostRanks = 65'536;

/// A number and the variable it comes from.
struct NamedNumber {
  std::string name;
  int value = 0;
  /// "RANK=1".
  [[nodiscard]] std::string text() const;
};

/// The numbers that one launcher gives this process.
struct LauncherEnvironment {
  std::string source;  // "local", "mpirun", "srun", "environment"
  NamedNumber rank;    // 0 to ranks - 1
  NamedNumber ranks;
  NamedNumber local_rank;  // 0 to local_ranks - 1
  NamedNumber local_ranks;
  bool local_known = true;  // false: the launcher did not give the local numbers
  std::string job;          // equal on all ranks of a job, different per job; "": not known
};

/// The value; "" if the variable is not set.
[[nodiscard]] std::string text_of_variable(const Variables& variables, const std::string& name);
/// The number; empty if the variable is not set or empty. Throws Error{command_line} naming the
/// variable, its value and the range if it is not a number from `least` to `most`.
[[nodiscard]] std::optional<NamedNumber> number_of_variable(const Variables& variables,
                                                            const std::string& name, int least,
                                                            int most);

/// RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE: set by train for its own ranks, by
/// Kubernetes' training operators, by torchrun and similar launchers. Without the two local ones
/// each host has one rank. Empty if none of the four is set. Throws Error{command_line} if only one
/// of a pair is set.
[[nodiscard]] std::optional<LauncherEnvironment> generic_environment(const Variables& variables);
/// OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE of Open MPI's mpirun.
[[nodiscard]] std::optional<LauncherEnvironment> open_mpi_environment(const Variables& variables);
/// PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS of the mpiexec of MPICH and Intel MPI.
[[nodiscard]] std::optional<LauncherEnvironment> pmi_environment(const Variables& variables);

/// True in a step that srun created: not in the shells of salloc and sbatch.
[[nodiscard]] bool in_slurm_step(const Variables& variables);

/// The numbers that srun gave this process, from SLURM_PROCID, SLURM_STEP_NUM_TASKS (else
/// SLURM_NTASKS), SLURM_LOCALID and SLURM_STEP_TASKS_PER_NODE (else SLURM_NTASKS_PER_NODE). Empty
/// outside a step, in the shells of salloc and sbatch (which have most of these variables too), and
/// in a step of one task. Throws Error{command_line} for a variable that is malformed or missing.
[[nodiscard]] std::optional<LauncherEnvironment> slurm_environment(const Variables& variables);

/// The first host of "node[01-04],other": "node01". Throws Error{command_line} naming the text if
/// it is not such a list.
[[nodiscard]] std::string first_slurm_host(std::string_view list);

/// Tasks on node `node`, counted from 0, of "2(x3),1" (two on each of three nodes, one on the
/// next). Throws Error{command_line} naming the text if it is not such a list or has fewer nodes.
[[nodiscard]] int slurm_tasks_of_node(std::string_view list, int node);

}  // namespace trainyard
