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

/// Checks that ranks are below their counts, and local counts at most the total. Throws
/// Error{command_line} naming both variables.
void check_ranges(const LauncherEnvironment& launcher) {
  check_below(launcher.rank, launcher.ranks);
  check_below(launcher.local_rank, launcher.local_ranks);
  if (launcher.local_ranks.value <= launcher.ranks.value) return;
  refuse_command(launcher.local_ranks.text() + " is more than " + launcher.ranks.text() +
                 ": a host cannot have more ranks than the job");
}

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

// Slurm's own steps (interactive shell, batch script, external processes) have the highest numbers
// of 32 bits, from 0xfffffff0 on; those of srun count from 0.
constexpr std::int64_t kFirstOwnStep = 0xffff'fff0;

std::optional<NamedNumber> first_number(const Variables& variables, const char* first,
                                        const char* second) {
  const auto number = number_of_variable(variables, first, 1, kMostRanks);
  return number ? number : number_of_variable(variables, second, 1, kMostRanks);
}

NamedNumber rank_number(const Variables& variables, const char* name) {
  const auto number = number_of_variable(variables, name, 0, kMostRanks);
  if (!number)
    refuse_command(std::string("SLURM_STEP_ID is set, but ") + name + " is not; srun sets both");
  return *number;
}

NamedNumber local_ranks(const Variables& variables, const NamedNumber& ranks) {
  const std::string list = text_of_variable(variables, "SLURM_STEP_TASKS_PER_NODE");
  if (!list.empty()) {
    const auto node = number_of_variable(variables, "SLURM_NODEID", 0, kMostRanks);
    return {"SLURM_STEP_TASKS_PER_NODE", slurm_tasks_of_node(list, node ? node->value : 0)};
  }
  const auto count = number_of_variable(variables, "SLURM_NTASKS_PER_NODE", 1, kMostRanks);
  if (count) return *count;
  const auto nodes = first_number(variables, "SLURM_STEP_NUM_NODES", "SLURM_NNODES");
  if (nodes && nodes->value == 1) return ranks;
  refuse_command(
      "neither SLURM_STEP_TASKS_PER_NODE nor SLURM_NTASKS_PER_NODE says how many ranks this "
      "host has; give srun --ntasks-per-node");
}

/// True if `text` may be the name of a host.
bool is_host_name(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  return !text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos;
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

// A shell of salloc or sbatch has no step, or one of Slurm's own steps.
bool in_slurm_step(const Variables& variables) {
  const auto step = parse_integer(text_of_variable(variables, "SLURM_STEP_ID"));
  return step && *step >= 0 && *step < kFirstOwnStep &&
         !text_of_variable(variables, "SLURM_PROCID").empty();
}

std::optional<LauncherEnvironment> slurm_environment(const Variables& variables) {
  if (!in_slurm_step(variables)) return std::nullopt;
  const auto ranks = first_number(variables, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS");
  // A step of one task starts its own ranks, as on any other machine.
  if (!ranks || ranks->value == 1) return std::nullopt;
  LauncherEnvironment launcher;
  launcher.source = "srun";
  launcher.rank = rank_number(variables, "SLURM_PROCID");
  launcher.ranks = *ranks;
  launcher.local_rank = rank_number(variables, "SLURM_LOCALID");
  launcher.local_ranks = local_ranks(variables, *ranks);
  launcher.job = text_of_variable(variables, "SLURM_JOB_ID") + "." +
                 text_of_variable(variables, "SLURM_STEP_ID");
  check_ranges(launcher);
  return launcher;
}

std::string first_slurm_host(std::string_view list) {
  std::string host;
  std::size_t at = 0;
  while (at < list.size() && list[at] != ',') {
    if (list[at] != '[') {
      host += list[at++];
      continue;
    }
    const std::size_t close = list.find(']', at);
    if (close == std::string_view::npos)
      refuse_command("'" + std::string(list) + "' is not a list of hosts");
    const std::string_view numbers = list.substr(at + 1, close - at - 1);
    const std::string_view first = numbers.substr(0, numbers.find_first_of(",-"));
    // With an empty or negative range the text before it would be taken for a host.
    if (!parse_integer(first)) refuse_command("'" + std::string(list) + "' is not a list of hosts");
    host += first;
    at = close + 1;
  }
  if (!is_host_name(host)) refuse_command("'" + std::string(list) + "' is not a list of hosts");
  return host;
}

int slurm_tasks_of_node(std::string_view list, int node) {
  int before = 0;
  for (const std::string& part : split(list, ',')) {
    const std::size_t open = part.find("(x");
    const bool repeated = open != std::string::npos && part.ends_with(")");
    const auto tasks = parse_integer(std::string_view(part).substr(0, open));
    const auto nodes =
        repeated ? parse_integer(std::string_view(part).substr(open + 2, part.size() - open - 3))
                 : std::optional<std::int64_t>(1);
    const bool whole = tasks && nodes && *tasks > 0 && *tasks <= kMostRanks && *nodes > 0 &&
                       *nodes <= kMostRanks && (repeated || open == std::string::npos);
    if (!whole) break;
    before += static_cast<int>(*nodes);
    if (node < before) return static_cast<int>(*tasks);
  }
  refuse_command("SLURM_STEP_TASKS_PER_NODE='" + std::string(list) +
                 "' does not say how many tasks node " + std::to_string(node) + " has");
}

}  // namespace trainyard
