// What each launcher's variables say of a rank. Pure: the environment is handed in.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace trainyard {

/// The value of an environment variable, or null.
using Variables = std::function<const char*(const char* name)>;

/// More ranks than any job has; a larger number in a variable is a mistake.
inline constexpr int kMostRanks = 65'536;

/// A number and the variable that gave it.
struct NamedNumber {
  std::string name;
  int value = 0;
  /// "RANK=1".
  [[nodiscard]] std::string text() const;
};

/// What one launcher says of this process.
struct LauncherEnvironment {
  std::string source;  // "local", "mpirun", "srun", "environment"
  NamedNumber rank;    // 0 to ranks - 1
  NamedNumber ranks;
  NamedNumber local_rank;  // 0 to local_ranks - 1
  NamedNumber local_ranks;
  bool local_known = true;  // false: the launcher did not say the local numbers
  std::string job;          // equal on all ranks of a job, another for each job; "": not known
};

/// The value, "" where the variable is not set or empty.
[[nodiscard]] std::string text_of_variable(const Variables& variables, const std::string& name);
/// The number, empty where the variable is not set or empty. Throws Error{command_line} naming the
/// variable, its value and the range if it is no number from `least` to `most`.
[[nodiscard]] std::optional<NamedNumber> number_of_variable(const Variables& variables,
                                                            const std::string& name, int least,
                                                            int most);
/// Checks that ranks lie within their counts, and local counts within whole ones. Throws
/// Error{command_line} naming both variables.
void check_ranges(const LauncherEnvironment& launcher);

/// RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE: set by train for its own ranks, by
/// Kubernetes' training operators, by torchrun and its like. Without the two local ones each host
/// has one rank. Empty where none of the four is set. Throws Error{command_line} where a pair is
/// not whole.
[[nodiscard]] std::optional<LauncherEnvironment> generic_environment(const Variables& variables);
/// OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE of Open MPI's mpirun.
[[nodiscard]] std::optional<LauncherEnvironment> open_mpi_environment(const Variables& variables);
/// PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS of the mpiexec of MPICH and Intel MPI.
[[nodiscard]] std::optional<LauncherEnvironment> pmi_environment(const Variables& variables);

}  // namespace trainyard
