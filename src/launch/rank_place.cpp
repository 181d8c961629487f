#include "launch/rank_place.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "launch/slurm.h"

namespace trainyard {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

void require_equal(const NamedNumber& a, const NamedNumber& b) {
  if (a.value == b.value) return;
  refuse_command(
      a.text() + " and " + b.text() +
      " contradict each other; unset one of them, so that one launcher says which rank this is");
}

void require_agreement(const RankClaim& a, const RankClaim& b) {
  require_equal(a.rank, b.rank);
  require_equal(a.ranks, b.ranks);
}

/// The claim of the launcher that counts: the first of the list, once the others agree with it.
std::optional<RankClaim> settled_claim(const Variables& variables) {
  const auto environment = environment_claim(variables);
  const auto open_mpi = open_mpi_claim(variables);
  // `srun --mpi=pmi2` sets PMI's variables too, but not the local ones.
  const bool pmi_of_slurm =
      in_slurm_step(variables) && text_of_variable(variables, "MPI_LOCALRANKID").empty();
  const auto pmi = pmi_of_slurm ? std::nullopt : pmi_claim(variables);
  // Slurm starts the daemons of mpirun, one a host; its numbers are then theirs, not the ranks'.
  const auto slurm = open_mpi || pmi ? std::nullopt : slurm_claim(variables);
  std::vector<RankClaim> claims;
  for (const auto& claim : {environment, open_mpi, pmi, slurm}) {
    // A launcher that srun started once a host counts more ranks than Slurm has tasks.
    const bool launchers = claim && claim->source == "srun" && environment &&
                           environment->ranks.value > claim->ranks.value;
    if (claim && !launchers) claims.push_back(*claim);
  }
  if (claims.empty()) return std::nullopt;
  for (const RankClaim& other : claims) require_agreement(claims.front(), other);
  return claims.front();
}

/// What said how many ranks this host has.
std::string local_ranks_text(const RankClaim& claim) {
  return claim.local_known ? claim.local_ranks.text()
                           : claim.ranks.name + " without " + claim.local_ranks.name;
}

bool is_address(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-_%";
  return text.size() <= 255 && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

/// How to give a variable to all ranks.
std::string remedy(const RankClaim& claim, const std::string& name, const std::string& value) {
  if (claim.source == "mpirun") {
    return "give it to all ranks (Open MPI: mpirun -x " + name + "=" + value +
           "; MPICH: mpiexec -genv " + name + " " + value + "), or start with train --hosts";
  }
  return "set it to the same value on all ranks, as in " + name + "=" + value;
}

std::string master_address(const RankClaim& claim, const Variables& variables) {
  const std::string given = text_of_variable(variables, "MASTER_ADDR");
  if (!is_address(given))
    refuse_command("MASTER_ADDR='" + given + "' is no host name and no IP address");
  if (!given.empty() || claim.ranks.value == 1) return given;
  const bool derived = claim.source == "mpirun" || claim.source == "srun";
  if (derived && claim.local_ranks.value == claim.ranks.value) return kLoopback;
  const std::string hosts = text_of_variable(variables, "SLURM_STEP_NODELIST");
  if (claim.source == "srun" && !hosts.empty()) return first_slurm_host(hosts);
  refuse_command("MASTER_ADDR is not set, so that the ranks cannot find rank 0 (" +
                 claim.ranks.text() + ", " + std::to_string(claim.local_ranks.value) +
                 " on this host); " + remedy(claim, "MASTER_ADDR", "HOST_OF_RANK_0"));
}

int master_port(const RankClaim& claim, const Variables& variables) {
  const auto given = number_of_variable(variables, "MASTER_PORT", 1, 65'535);
  if (given) return given->value;
  if (claim.ranks.value == 1) return 0;
  if (!claim.job.empty()) return port_of_job(claim.job);
  refuse_command("MASTER_PORT is not set, and nothing else says where " + claim.ranks.text() +
                 " ranks meet; " + remedy(claim, "MASTER_PORT", "29500"));
}

std::string token_of(const RankClaim& claim, const RankPlace& place, const Variables& variables) {
  const std::string given = text_of_variable(variables, "TRAINYARD_TOKEN");
  if (!given.empty()) return given;
  const std::string job = !claim.job.empty()
                              ? claim.job
                              : place.master_address + ":" + std::to_string(place.master_port) +
                                    " " + std::to_string(place.ranks);
  return hash128_hex("trainyard job " + job);
}

/// The variables that variables_of() writes.
bool is_ours(std::string_view variable) {
  constexpr std::array<std::string_view, 8> kNames = {
      "RANK",        "WORLD_SIZE",  "LOCAL_RANK",      "LOCAL_WORLD_SIZE",
      "MASTER_ADDR", "MASTER_PORT", "TRAINYARD_TOKEN", "TRAINYARD_LAUNCHER"};
  return std::ranges::find(kNames, variable.substr(0, variable.find('='))) != kNames.end();
}

}  // namespace

int port_of_job(const std::string& job) {
  constexpr std::uint32_t kFirst = 16'384;
  const std::string digits = hash128_hex("trainyard port " + job).substr(0, 8);
  std::uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return static_cast<int>(kFirst + number % kFirst);
}

std::optional<RankPlace> find_rank_place(const Variables& variables) {
  const auto claim = settled_claim(variables);
  if (!claim) return std::nullopt;
  RankPlace place{.rank = claim->rank.value,
                  .ranks = claim->ranks.value,
                  .local_rank = claim->local_rank.value,
                  .local_ranks = claim->local_ranks.value,
                  .master_address = master_address(*claim, variables),
                  .master_port = master_port(*claim, variables),
                  .source = claim->source,
                  .local_ranks_from = local_ranks_text(*claim)};
  place.token = token_of(*claim, place, variables);
  return place;
}

void require_local_ranks(const RankPlace& place, const std::string& asked, int count) {
  if (count == place.local_ranks) return;
  refuse_command(asked + " asks for " + std::to_string(count) + " ranks on this host, but " +
                 place.local_ranks_from + " means " + std::to_string(place.local_ranks) + " (of " +
                 std::to_string(place.ranks) +
                 " in all); give the launcher and train the same count");
}

std::vector<std::string> variables_of(const RankPlace& place) {
  return {"RANK=" + std::to_string(place.rank),
          "WORLD_SIZE=" + std::to_string(place.ranks),
          "LOCAL_RANK=" + std::to_string(place.local_rank),
          "LOCAL_WORLD_SIZE=" + std::to_string(place.local_ranks),
          "MASTER_ADDR=" + place.master_address,
          "MASTER_PORT=" + std::to_string(place.master_port),
          "TRAINYARD_TOKEN=" + place.token,
          "TRAINYARD_LAUNCHER=" + place.source};
}

std::vector<std::string> environment_of(std::vector<std::string> environment,
                                        const RankPlace& place) {
  std::erase_if(environment, is_ours);
  for (std::string& variable : variables_of(place)) environment.push_back(std::move(variable));
  return environment;
}

}  // namespace trainyard
