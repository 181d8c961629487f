#include "ranks/spawn/rank_identity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"

namespace trainyard {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

void require_equal(const NamedNumber& a, const NamedNumber& b) {
  if (a.value == b.value) return;
  refuse_command(
      a.text() + " and " + b.text() +
      " contradict each other; unset one of them, so that one launcher says which rank this is");
}

void require_agreement(const LauncherEnvironment& a, const LauncherEnvironment& b) {
  require_equal(a.rank, b.rank);
  require_equal(a.ranks, b.ranks);
}

/// The launcher that counts: the first of the list, provided that the others agree with it.
std::optional<LauncherEnvironment> settled_launcher(const Variables& variables) {
  const auto environment = generic_environment(variables);
  const auto open_mpi = open_mpi_environment(variables);
  // `srun --mpi=pmi2` sets PMI's variables too, but not the local ones.
  const bool pmi_of_slurm =
      in_slurm_step(variables) && text_of_variable(variables, "MPI_LOCALRANKID").empty();
  const auto pmi = pmi_of_slurm ? std::nullopt : pmi_environment(variables);
  // Slurm starts mpirun's daemons, one per host; its numbers are then theirs, not the ranks'.
  const auto slurm = open_mpi || pmi ? std::nullopt : slurm_environment(variables);
  std::vector<LauncherEnvironment> launchers;
  for (const auto& launcher : {environment, open_mpi, pmi, slurm}) {
    // A launcher that srun started once per host counts more ranks than Slurm has tasks.
    const bool outer = launcher && launcher->source == "srun" && environment &&
                       environment->ranks.value > launcher->ranks.value;
    if (launcher && !outer) launchers.push_back(*launcher);
  }
  if (launchers.empty()) return std::nullopt;
  for (const LauncherEnvironment& other : launchers) require_agreement(launchers.front(), other);
  return launchers.front();
}

/// The source of the number of ranks on this host.
std::string local_ranks_text(const LauncherEnvironment& launcher) {
  return launcher.local_known ? launcher.local_ranks.text()
                              : launcher.ranks.name + " without " + launcher.local_ranks.name;
}

bool is_address(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-_%";
  return text.size() <= 255 && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

/// How to give a variable to all ranks.
std::string remedy(const LauncherEnvironment& launcher, const std::string& name,
                   const std::string& value) {
  if (launcher.source == "mpirun") {
    return "give it to all ranks (Open MPI: mpirun -x " + name + "=" + value +
           "; MPICH: mpiexec -genv " + name + " " + value + "), or start with train --hosts";
  }
  return "set it to the same value on all ranks, as in " + name + "=" + value;
}

std::string master_address(const LauncherEnvironment& launcher, const Variables& variables) {
  const std::string given = text_of_variable(variables, "MASTER_ADDR");
  if (!is_address(given))
    refuse_command("MASTER_ADDR='" + given + "' is neither a host name nor an IP address");
  if (!given.empty() || launcher.ranks.value == 1) return given;
  const bool derived = launcher.source == "mpirun" || launcher.source == "srun";
  if (derived && launcher.local_ranks.value == launcher.ranks.value) return kLoopback;
  const std::string hosts = text_of_variable(variables, "SLURM_STEP_NODELIST");
  if (launcher.source == "srun" && !hosts.empty()) return first_slurm_host(hosts);
  refuse_command("MASTER_ADDR is not set, so the ranks cannot find rank 0 (" +
                 launcher.ranks.text() + ", " + std::to_string(launcher.local_ranks.value) +
                 " on this host); " + remedy(launcher, "MASTER_ADDR", "HOST_OF_RANK_0"));
}

/// True if torchrun itself listens at MASTER_PORT, and its ranks would be that store's clients.
bool port_is_torchruns(const LauncherEnvironment& launcher, const Variables& variables) {
  return launcher.source == "environment" &&
         text_of_variable(variables, "TORCHELASTIC_USE_AGENT_STORE") == "True";
}

/// A port derived from one that is in use, never the same.
int port_beside(int taken) {
  const int port = port_of_job("beside " + std::to_string(taken));
  return port == taken ? port ^ 1 : port;
}

int master_port(const LauncherEnvironment& launcher, const Variables& variables) {
  const auto given = number_of_variable(variables, "MASTER_PORT", 1, 65'535);
  if (given && port_is_torchruns(launcher, variables)) return port_beside(given->value);
  if (given) return given->value;
  if (launcher.ranks.value == 1) return 0;
  if (!launcher.job.empty()) return port_of_job(launcher.job);
  refuse_command("MASTER_PORT is not set, and nothing else says where " + launcher.ranks.text() +
                 " ranks meet; " + remedy(launcher, "MASTER_PORT", "29500"));
}

std::string token_of(const LauncherEnvironment& launcher, const RankIdentity& identity,
                     const Variables& variables) {
  const std::string given = text_of_variable(variables, "TRAINYARD_TOKEN");
  if (!given.empty()) return given;
  const std::string job = !launcher.job.empty() ? launcher.job
                                                : identity.master_address + ":" +
                                                      std::to_string(identity.master_port) + " " +
                                                      std::to_string(identity.ranks);
  return hash128_hex("trainyard job " + job);
}

/// The variables that variables_of() writes.
bool is_ours(std::string_view variable) {
  constexpr std::array<std::string_view, 8> kNames = {
      "RANK",        "WORLD_SIZE",  "LOCAL_RANK",      "LOCAL_WORLD_SIZE",
      "MASTER_ADDR", "MASTER_PORT", "TRAINYARD_TOKEN", "TRAINYARD_LAUNCHER"};
  return std::ranges::find(kNames, variable.substr(0, variable.find('='))) != kNames.end();
}

/// The variables that give a child process its identity; find_rank_identity() reads them.
std::vector<std::string> variables_of(const RankIdentity& identity) {
  return {"RANK=" + std::to_string(identity.rank),
          "WORLD_SIZE=" + std::to_string(identity.ranks),
          "LOCAL_RANK=" + std::to_string(identity.local_rank),
          "LOCAL_WORLD_SIZE=" + std::to_string(identity.local_ranks),
          "MASTER_ADDR=" + identity.master_address,
          "MASTER_PORT=" + std::to_string(identity.master_port),
          "TRAINYARD_TOKEN=" + identity.token,
          "TRAINYARD_LAUNCHER=" + identity.source};
}

}  // namespace

int port_of_job(const std::string& job) {
  constexpr std::uint32_t kFirst = 16'384;
  const std::string digits = hash128_hex("trainyard port " + job).substr(0, 8);
  std::uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return static_cast<int>(kFirst + number % kFirst);
}

std::optional<RankIdentity> find_rank_identity(const Variables& variables) {
  const auto launcher = settled_launcher(variables);
  if (!launcher) return std::nullopt;
  RankIdentity identity{.rank = launcher->rank.value,
                        .ranks = launcher->ranks.value,
                        .local_rank = launcher->local_rank.value,
                        .local_ranks = launcher->local_ranks.value,
                        .master_address = master_address(*launcher, variables),
                        .master_port = master_port(*launcher, variables),
                        .source = launcher->source,
                        .local_ranks_from = local_ranks_text(*launcher)};
  identity.token = token_of(*launcher, identity, variables);
  return identity;
}

void require_local_ranks(const RankIdentity& identity, const std::string& asked, int count) {
  if (count == identity.local_ranks) return;
  refuse_command(asked + " asks for " + std::to_string(count) + " ranks on this host, but " +
                 identity.local_ranks_from + " means " + std::to_string(identity.local_ranks) +
                 " (of " + std::to_string(identity.ranks) +
                 " in all); give the launcher and train the same count");
}

std::vector<std::string> environment_of(std::vector<std::string> environment,
                                        const RankIdentity& identity) {
  std::erase_if(environment, is_ours);
  for (std::string& variable : variables_of(identity)) environment.push_back(std::move(variable));
  return environment;
}

}  // namespace trainyard
