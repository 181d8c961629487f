// A rank's numbers from the variables of each launcher. Pure: the environment is a parameter.
#pragma once

#include <functional>
#include <optional>
#include <string>

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
/// Checks that ranks are below their counts, and local counts at most the total. Throws
/// Error{command_line} naming both variables.
void check_ranges(const LauncherEnvironment& launcher);

/// RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE: set by train for its own ranks, by
/// Kubernetes' training operators, by torchrun and similar launchers. Without the two local ones
/// each host has one rank. Empty if none of the four is set. Throws Error{command_line} if only one
/// of a pair is set.
[[nodiscard]] std::optional<LauncherEnvironment> generic_environment(const Variables& variables);
/// OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE of Open MPI's mpirun.
[[nodiscard]] std::optional<LauncherEnvironment> open_mpi_environment(const Variables& variables);
/// PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS of the mpiexec of MPICH and Intel MPI.
[[nodiscard]] std::optional<LauncherEnvironment> pmi_environment(const Variables& variables);

}  // namespace trainyard
