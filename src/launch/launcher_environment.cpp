#include "launch/launcher_environment.h"

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

/// The number of a variable that has to stand beside `beside`.
NamedNumber needed(const Variables& variables, const std::string& name, int least,
                   const std::string& beside) {
  const auto number = number_of_variable(variables, name, least, kMostRanks);
  if (number) return *number;
  refuse_command(beside + " is set, but " + name + " is not; a launcher sets both, or neither");
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

RankClaim claim_of(const Variables& variables, const FourNames& names) {
  RankClaim claim;
  claim.rank = needed(variables, names.rank, 0, names.ranks);
  claim.ranks = needed(variables, names.ranks, 1, names.rank);
  claim.local_rank = needed(variables, names.local_rank, 0, names.rank);
  claim.local_ranks = needed(variables, names.local_ranks, 1, names.local_rank);
  check_ranges(claim);
  return claim;
}

/// RANK and WORLD_SIZE alone: one rank on each host.
RankClaim claim_of_lone_ranks(const Variables& variables) {
  RankClaim claim;
  claim.rank = needed(variables, "RANK", 0, "WORLD_SIZE");
  claim.ranks = needed(variables, "WORLD_SIZE", 1, "RANK");
  claim.local_rank = {"LOCAL_RANK", 0};
  claim.local_ranks = {"LOCAL_WORLD_SIZE", 1};
  claim.local_known = false;
  check_ranges(claim);
  return claim;
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
    refuse_command(name + "='" + text + "' is no whole number from " + std::to_string(least) +
                   " to " + std::to_string(most) + "; set it right, or unset it");
  }
  return NamedNumber{name, static_cast<int>(*value)};
}

void check_ranges(const RankClaim& claim) {
  check_below(claim.rank, claim.ranks);
  check_below(claim.local_rank, claim.local_ranks);
  if (claim.local_ranks.value <= claim.ranks.value) return;
  refuse_command(claim.local_ranks.text() + " is more than " + claim.ranks.text() +
                 ": a host cannot have more ranks than the job");
}

std::optional<RankClaim> environment_claim(const Variables& variables) {
  const bool local = any_is_set(variables, {"LOCAL_RANK", "LOCAL_WORLD_SIZE"});
  if (!local && !any_is_set(variables, {"RANK", "WORLD_SIZE"})) return std::nullopt;
  RankClaim claim =
      local ? claim_of(variables, {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"})
            : claim_of_lone_ranks(variables);
  const bool own = text_of_variable(variables, "TRAINYARD_LAUNCHER") == "local";
  claim.source = own ? "local" : "environment";
  return claim;
}

std::optional<RankClaim> open_mpi_claim(const Variables& variables) {
  if (!any_is_set(variables, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"})) return std::nullopt;
  RankClaim claim =
      claim_of(variables, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                           "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"});
  claim.source = "mpirun";
  // Open MPI 4 has the first; from 5 on only the name space is left.
  for (const char* name : {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE"}) {
    if (claim.job.empty()) claim.job = text_of_variable(variables, name);
  }
  return claim;
}

std::optional<RankClaim> pmi_claim(const Variables& variables) {
  if (!any_is_set(variables, {"PMI_RANK", "PMI_SIZE"})) return std::nullopt;
  RankClaim claim =
      claim_of(variables, {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"});
  claim.source = "mpirun";
  claim.job = text_of_variable(variables, "PMI_JOBID");
  return claim;
}

}  // namespace trainyard
