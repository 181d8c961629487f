#include "ranks/spawn/launcher_environment.h"

#include <cstdint>
#include <initializer_list>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {
namespace {

void check_below(const NamedNumber& rank, const NamedNumber& count) {
  if (rank.value < count.value) return;
  refuse_command(rank.text() + " is outside 0 to " + std::to_string(count.value - 1) + ", since " +
                 count.text());
}

/// The number of a variable that must be set together with `partner`.
NamedNumber needed(const Variables& variables, const std::string& name, int least,
                   const std::string& partner) {
  const auto number = number_of_variable(variables, name, least, kMostRanks);
  if (number) return *number;
  refuse_command(partner + " is set, but " + name + " is not; a launcher sets both, or neither");
}

bool any_is_set(const Variables& variables, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!text_of_variable(variables, name).empty()) return true;
  }
  return false;
}

/// The names of a launcher's four numbers.
struct FourNames {
  const char* rank;
  const char* ranks;
  const char* local_rank;
  const char* local_ranks;
};

LauncherEnvironment of_variables(const Variables& variables, const FourNames& names) {
  LauncherEnvironment launcher;
  launcher.rank = needed(variables, names.rank, 0, names.ranks);
  launcher.ranks = needed(variables, names.ranks, 1, names.rank);
  launcher.local_rank = needed(variables, names.local_rank, 0, names.rank);
  launcher.local_ranks = needed(variables, names.local_ranks, 1, names.local_rank);
  check_ranges(launcher);
  return launcher;
}

/// RANK and WORLD_SIZE alone: one rank on each host.
LauncherEnvironment of_lone_ranks(const Variables& variables) {
  LauncherEnvironment launcher;
  launcher.rank = needed(variables, "RANK", 0, "WORLD_SIZE");
  launcher.ranks = needed(variables, "WORLD_SIZE", 1, "RANK");
  launcher.local_rank = {"LOCAL_RANK", 0};
  launcher.local_ranks = {"LOCAL_WORLD_SIZE", 1};
  launcher.local_known = false;
  check_ranges(launcher);
  return launcher;
}

}  // namespace

std::string NamedNumber::text() const { return name + "=" + std::to_string(value); }

std::string text_of_variable(const Variables& variables, const std::string& name) {
  const char* value = variables(name.c_str());
  return value == nullptr ? "" : value;
}

std::optional<NamedNumber> number_of_variable(const Variables& variables, const std::string& name,
                                              int least, int most) {
  const std::string text = text_of_variable(variables, name);
  if (text.empty()) return std::nullopt;
  const auto value = parse_integer(text);
  if (!value || *value < least || *value > most) {
    refuse_command(name + "='" + text + "' is not a whole number from " + std::to_string(least) +
                   " to " + std::to_string(most) + "; correct it, or unset it");
  }
  return NamedNumber{name, static_cast<int>(*value)};
}

void check_ranges(const LauncherEnvironment& launcher) {
  check_below(launcher.rank, launcher.ranks);
  check_below(launcher.local_rank, launcher.local_ranks);
  if (launcher.local_ranks.value <= launcher.ranks.value) return;
  refuse_command(launcher.local_ranks.text() + " is more than " + launcher.ranks.text() +
                 ": a host cannot have more ranks than the job");
}

std::optional<LauncherEnvironment> generic_environment(const Variables& variables) {
  const bool local = any_is_set(variables, {"LOCAL_RANK", "LOCAL_WORLD_SIZE"});
  if (!local && !any_is_set(variables, {"RANK", "WORLD_SIZE"})) return std::nullopt;
  LauncherEnvironment launcher =
      local ? of_variables(variables, {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"})
            : of_lone_ranks(variables);
  const bool own = text_of_variable(variables, "TRAINYARD_LAUNCHER") == "local";
  launcher.source = own ? "local" : "environment";
  return launcher;
}

std::optional<LauncherEnvironment> open_mpi_environment(const Variables& variables) {
  if (!any_is_set(variables, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"})) return std::nullopt;
  LauncherEnvironment launcher =
      of_variables(variables, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                               "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"});
  launcher.source = "mpirun";
  // Open MPI 4 has the first; from 5 on there is only the namespace.
  for (const char* name : {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE"}) {
    if (launcher.job.empty()) launcher.job = text_of_variable(variables, name);
  }
  return launcher;
}

std::optional<LauncherEnvironment> pmi_environment(const Variables& variables) {
  if (!any_is_set(variables, {"PMI_RANK", "PMI_SIZE"})) return std::nullopt;
  LauncherEnvironment launcher =
      of_variables(variables, {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"});
  launcher.source = "mpirun";
  launcher.job = text_of_variable(variables, "PMI_JOBID");
  return launcher;
}

}  // namespace trainyard
