// Which launcher determines a process's rank, and the errors if launchers disagree or give too
// little.
#include "ranks/spawn/rank_identity.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "../../base/error_of.h"
#include "variables.h"

namespace trainyard {
namespace {

using namespace testing;

const VariableMap kTorchrun = {{"RANK", "5"},
                               {"WORLD_SIZE", "8"},
                               {"LOCAL_RANK", "1"},
                               {"LOCAL_WORLD_SIZE", "4"},
                               {"MASTER_ADDR", "node0"},
                               {"MASTER_PORT", "29500"}};
const VariableMap kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                              {"OMPI_COMM_WORLD_SIZE", "2"},
                              {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                              {"OMPI_MCA_ess_base_jobid", "132710401"},
                              {"PMIX_NAMESPACE", "132710401"}};
const VariableMap kMpich = {
    {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
const VariableMap kSrun = {{"SLURM_JOB_ID", "4711"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_PROCID", "5"},
                           {"SLURM_LOCALID", "1"},
                           {"SLURM_NODEID", "2"},
                           {"SLURM_NTASKS", "6"},
                           {"SLURM_STEP_NUM_TASKS", "6"},
                           {"SLURM_STEP_NUM_NODES", "3"},
                           {"SLURM_STEP_TASKS_PER_NODE", "2(x3)"},
                           {"SLURM_STEP_NODELIST", "node[07-09]"}};

RankIdentity identity_in(const VariableMap& map) {
  const auto identity = find_rank_identity(variables_in(map));
  REQUIRE(identity.has_value());
  return *identity;
}

std::string refusal_in(const VariableMap& map) {
  return error_of(ErrorKind::command_line,
                  [&] { static_cast<void>(find_rank_identity(variables_in(map))); });
}

TEST_CASE("a process that no launcher started has no rank identity") {
  CHECK_FALSE(find_rank_identity(variables_in({})).has_value());
  const VariableMap left_over = {{"MASTER_ADDR", "node0"}, {"MASTER_PORT", "1"}, {"RANK", ""}};
  CHECK_FALSE(find_rank_identity(variables_in(left_over)).has_value());
}

TEST_CASE("RANK and related variables are read as torchrun sets them") {
  RankIdentity identity = identity_in(kTorchrun);
  CHECK(identity.token.size() == 32);
  identity.token.clear();
  CHECK(identity == RankIdentity{.rank = 5,
                                 .ranks = 8,
                                 .local_rank = 1,
                                 .local_ranks = 4,
                                 .master_address = "node0",
                                 .master_port = 29500,
                                 .source = "environment",
                                 .local_ranks_from = "LOCAL_WORLD_SIZE=4"});
}

TEST_CASE("if torchrun itself listens at MASTER_PORT, its ranks meet at another port") {
  const auto port = [](const std::string& given, const std::string& agent_store) {
    return identity_in(with(kTorchrun, {{"MASTER_PORT", given},
                                        {"TORCHELASTIC_USE_AGENT_STORE", agent_store}}))
        .master_port;
  };
  CHECK(port("29500", "False") == 29500);
  CHECK(port("29500", "True") == port("29500", "True"));
  CHECK(port("29500", "True") != port("29501", "True"));
  for (int given = 16'384; given < 32'768; ++given) {
    const int beside = port(std::to_string(given), "True");
    if (beside == given || beside < 16'384 || beside > 32'767) FAIL(given);
  }
  // Ranks that train starts below torchrun have a port of train's.
  CHECK(identity_in(with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                     {"TRAINYARD_LAUNCHER", "local"}}))
            .master_port == 29500);
}

TEST_CASE("RANK and WORLD_SIZE alone mean one rank on each host") {
  const RankIdentity identity =
      identity_in(with(kTorchrun, {{"LOCAL_RANK", ""}, {"LOCAL_WORLD_SIZE", ""}}));
  CHECK(identity.rank == 5);
  CHECK(identity.local_rank == 0);
  CHECK(identity.local_ranks == 1);
}

TEST_CASE("half of a pair of variables is refused, naming the missing half") {
  const auto without = [](const char* name) { return refusal_in(with(kTorchrun, {{name, ""}})); };
  const std::string end = "; a launcher sets both, or neither";
  CHECK(without("RANK") == "WORLD_SIZE is set, but RANK is not" + end);
  CHECK(without("WORLD_SIZE") == "RANK is set, but WORLD_SIZE is not" + end);
  CHECK(without("LOCAL_RANK") == "RANK is set, but LOCAL_RANK is not" + end);
  CHECK(without("LOCAL_WORLD_SIZE") == "LOCAL_RANK is set, but LOCAL_WORLD_SIZE is not" + end);
  CHECK(refusal_in({{"OMPI_COMM_WORLD_RANK", "0"}}) ==
        "OMPI_COMM_WORLD_RANK is set, but OMPI_COMM_WORLD_SIZE is not" + end);
  CHECK(refusal_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}) ==
        "PMI_RANK is set, but MPI_LOCALRANKID is not" + end);
}

TEST_CASE("an invalid or out-of-range number is refused with name and value") {
  const auto changed = [](const char* name, const char* value) {
    return refusal_in(with(kTorchrun, {{name, value}}));
  };
  CHECK(changed("RANK", "two") ==
        "RANK='two' is not a whole number from 0 to 65536; correct it, or unset it");
  CHECK(changed("RANK", "-1").starts_with("RANK='-1' is not a whole number from 0 to 65536"));
  CHECK(changed("WORLD_SIZE", "0").starts_with("WORLD_SIZE='0' is not a whole number from 1 to"));
  CHECK(
      changed("WORLD_SIZE", "99999999999").starts_with("WORLD_SIZE='99999999999' is not a whole"));
  CHECK(changed("MASTER_PORT", "65536") ==
        "MASTER_PORT='65536' is not a whole number from 1 to 65535; correct it, or unset it");
  CHECK(changed("RANK", "8") == "RANK=8 is outside 0 to 7, since WORLD_SIZE=8");
  CHECK(changed("LOCAL_RANK", "4") == "LOCAL_RANK=4 is outside 0 to 3, since LOCAL_WORLD_SIZE=4");
  CHECK(changed("LOCAL_WORLD_SIZE", "9") ==
        "LOCAL_WORLD_SIZE=9 is more than WORLD_SIZE=8: a host cannot have more ranks than the job");
  CHECK(changed("MASTER_ADDR", "a b") ==
        "MASTER_ADDR='a b' is neither a host name nor an IP address");
}

TEST_CASE("without address or port the ranks cannot meet, and the message says how to give them") {
  CHECK(refusal_in(with(kTorchrun, {{"MASTER_ADDR", ""}})) ==
        "MASTER_ADDR is not set, so the ranks cannot find rank 0 (WORLD_SIZE=8, 4 on this "
        "host); set it to the same value on all ranks, as in "
        "MASTER_ADDR=HOST_OF_RANK_0");
  CHECK(refusal_in(with(kTorchrun, {{"MASTER_PORT", ""}})) ==
        "MASTER_PORT is not set, and nothing else says where WORLD_SIZE=8 ranks meet; set it to "
        "the same value on all ranks, as in MASTER_PORT=29500");
  CHECK(refusal_in(with(kOpenMpi, {{"OMPI_COMM_WORLD_SIZE", "4"}})) ==
        "MASTER_ADDR is not set, so the ranks cannot find rank 0 (OMPI_COMM_WORLD_SIZE=4, "
        "2 on this host); give it to all ranks (Open MPI: mpirun -x "
        "MASTER_ADDR=HOST_OF_RANK_0; MPICH: mpiexec -genv MASTER_ADDR HOST_OF_RANK_0), or start "
        "with train --hosts");
}

TEST_CASE("one rank needs neither address nor port") {
  const RankIdentity identity = identity_in({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  CHECK(identity.ranks == 1);
  CHECK(identity.master_address == "");
  CHECK(identity.master_port == 0);
}

TEST_CASE("Open MPI's ranks on one host meet at 127.0.0.1 and a port of their job") {
  const RankIdentity identity = identity_in(kOpenMpi);
  CHECK(identity.rank == 1);
  CHECK(identity.ranks == 2);
  CHECK(identity.local_rank == 1);
  CHECK(identity.source == "mpirun");
  CHECK(identity.local_ranks_from == "OMPI_COMM_WORLD_LOCAL_SIZE=2");
  CHECK(identity.master_address == "127.0.0.1");
  CHECK(identity.master_port == port_of_job("132710401"));
}

TEST_CASE("Open MPI 5 identifies its job by the namespace alone") {
  const RankIdentity identity = identity_in(
      with(kOpenMpi, {{"OMPI_MCA_ess_base_jobid", ""}, {"PMIX_NAMESPACE", "prterun-1@1"}}));
  CHECK(identity.master_port == port_of_job("prterun-1@1"));
  CHECK(identity.master_port != identity_in(kOpenMpi).master_port);
}

TEST_CASE("job ports are below the ephemeral ports, and differ between jobs") {
  std::set<int> ports;
  for (int job = 0; job < 200; ++job) {
    const int port = port_of_job(std::to_string(job));
    CHECK(port >= 16384);
    CHECK(port <= 32767);
    CHECK(port == port_of_job(std::to_string(job)));
    ports.insert(port);
  }
  // 200 draws from 16384 collide 1.2 times on average.
  CHECK(ports.size() > 190);
}

TEST_CASE("given addresses and ports take precedence over derived ones") {
  const RankIdentity identity =
      identity_in(with(kOpenMpi, {{"MASTER_ADDR", "fe80::1%eth0"}, {"MASTER_PORT", "4000"}}));
  CHECK(identity.master_address == "fe80::1%eth0");
  CHECK(identity.master_port == 4000);
}

TEST_CASE("MPICH's ranks are read, and need a port, since no variable names their job") {
  CHECK(refusal_in(kMpich) ==
        "MASTER_PORT is not set, and nothing else says where PMI_SIZE=2 ranks meet; give it to all "
        "ranks (Open MPI: mpirun -x MASTER_PORT=29500; MPICH: mpiexec -genv MASTER_PORT 29500), or "
        "start with train --hosts");
  const RankIdentity identity = identity_in(with(kMpich, {{"MASTER_PORT", "29500"}}));
  CHECK(identity.rank == 1);
  CHECK(identity.local_ranks == 2);
  CHECK(identity.master_address == "127.0.0.1");
  CHECK(identity.source == "mpirun");
}

TEST_CASE("srun's ranks meet on the first host of the step") {
  const RankIdentity identity = identity_in(kSrun);
  CHECK(identity.rank == 5);
  CHECK(identity.ranks == 6);
  CHECK(identity.local_rank == 1);
  CHECK(identity.local_ranks == 2);
  CHECK(identity.source == "srun");
  CHECK(identity.master_address == "node07");
  CHECK(identity.master_port == port_of_job("4711.0"));
}

TEST_CASE("srun's ranks of one host meet at 127.0.0.1") {
  const RankIdentity identity = identity_in(with(
      kSrun,
      {{"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_STEP_TASKS_PER_NODE", "6"}, {"SLURM_NODEID", "0"}}));
  CHECK(identity.master_address == "127.0.0.1");
  CHECK(identity.local_ranks == 6);
}

TEST_CASE("shells of salloc and sbatch, and steps of one task, are not ranks") {
  for (const VariableMap& change :
       {VariableMap{{"SLURM_STEP_ID", ""}}, VariableMap{{"SLURM_STEP_ID", "4294967290"}},
        VariableMap{{"SLURM_STEP_ID", "4294967291"}}, VariableMap{{"SLURM_PROCID", ""}},
        VariableMap{{"SLURM_STEP_NUM_TASKS", "1"}}}) {
    CHECK_FALSE(find_rank_identity(variables_in(with(kSrun, change))).has_value());
  }
}

TEST_CASE("with srun --mpi=pmi2 Slurm's variables count, though PMI's are set") {
  const VariableMap both = with(kSrun, {{"PMI_RANK", "5"}, {"PMI_SIZE", "6"}});
  CHECK(identity_in(both).source == "srun");
  const VariableMap alone = with(both, {{"SLURM_STEP_NUM_TASKS", "1"}});
  CHECK_FALSE(find_rank_identity(variables_in(alone)).has_value());
}

TEST_CASE("under mpirun in a Slurm job Slurm's variables describe the daemons, and are ignored") {
  VariableMap both = kSrun;
  both.insert(kOpenMpi.begin(), kOpenMpi.end());
  CHECK(identity_in(both).source == "mpirun");
  both = with(kSrun, {{"MASTER_PORT", "29500"}});
  both.insert(kMpich.begin(), kMpich.end());
  CHECK(identity_in(both).source == "mpirun");
  CHECK(identity_in(both).ranks == 2);
}

TEST_CASE("a launcher that srun started once per host takes precedence over srun") {
  VariableMap both = kSrun;
  both.insert(kTorchrun.begin(), kTorchrun.end());
  const RankIdentity identity =
      identity_in(with(both, {{"SLURM_PROCID", "1"}, {"SLURM_LOCALID", "0"}}));
  CHECK(identity.source == "environment");
  CHECK(identity.rank == 5);
}

TEST_CASE("launchers that contradict each other are refused, both named") {
  const std::string end =
      " contradict each other; unset one of them, so that one launcher says which rank this is";
  VariableMap both = with(kTorchrun, {{"WORLD_SIZE", "2"}, {"RANK", "0"}});
  both = with(both, {{"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "2"}});
  both.insert(kOpenMpi.begin(), kOpenMpi.end());
  CHECK(refusal_in(both) == "RANK=0 and OMPI_COMM_WORLD_RANK=1" + end);
  CHECK(refusal_in(with(both, {{"RANK", "1"}, {"WORLD_SIZE", "4"}})) ==
        "WORLD_SIZE=4 and OMPI_COMM_WORLD_SIZE=2" + end);
  CHECK(identity_in(with(both, {{"RANK", "1"}})).source == "environment");
  VariableMap slurm = kSrun;
  slurm.insert(kTorchrun.begin(), kTorchrun.end());
  CHECK(refusal_in(with(slurm, {{"WORLD_SIZE", "6"}, {"RANK", "4"}})) ==
        "RANK=4 and SLURM_PROCID=5" + end);
}

TEST_CASE("a token is used as given, else derived from the job") {
  CHECK(identity_in(with(kOpenMpi, {{"TRAINYARD_TOKEN", "secret"}})).token == "secret");
  const std::string first = identity_in(kOpenMpi).token;
  CHECK(first.size() == 32);
  const VariableMap other_rank =
      with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}});
  CHECK(identity_in(other_rank).token == first);
  CHECK(identity_in(with(kOpenMpi, {{"OMPI_MCA_ess_base_jobid", "7"}})).token != first);
  CHECK(identity_in(with(kTorchrun, {{"MASTER_PORT", "29501"}})).token !=
        identity_in(kTorchrun).token);
}

TEST_CASE("a count of --gpus other than the launcher's is refused, naming both") {
  const RankIdentity identity = identity_in(kTorchrun);
  require_local_ranks(identity, "--gpus 4", 4);
  CHECK(
      error_of(ErrorKind::command_line, [&] { require_local_ranks(identity, "--gpus 2", 2); }) ==
      "--gpus 2 asks for 2 ranks on this host, but LOCAL_WORLD_SIZE=4 means 4 (of 8 in all); give "
      "the launcher and train the same count");
  const RankIdentity lone =
      identity_in(with(kTorchrun, {{"LOCAL_RANK", ""}, {"LOCAL_WORLD_SIZE", ""}}));
  CHECK(error_of(ErrorKind::command_line, [&] { require_local_ranks(lone, "--gpus 2", 2); })
            .starts_with("--gpus 2 asks for 2 ranks on this host, but WORLD_SIZE without "
                         "LOCAL_WORLD_SIZE means 1 (of 8 in all); "));
}

TEST_CASE("an identity survives the environment of a child") {
  const RankIdentity identity{.rank = 2,
                              .ranks = 4,
                              .local_rank = 2,
                              .local_ranks = 4,
                              .master_address = "127.0.0.1",
                              .master_port = 4321,
                              .token = "abc",
                              .source = "local",
                              .local_ranks_from = "LOCAL_WORLD_SIZE=4"};
  const std::vector<std::string> child =
      environment_of({"PATH=/bin", "RANK=9", "RANKS=1"}, identity);
  VariableMap map;
  for (const std::string& variable : child) {
    const std::size_t equals = variable.find('=');
    CHECK(map.emplace(variable.substr(0, equals), variable.substr(equals + 1)).second);
  }
  CHECK(map.at("PATH") == "/bin");
  CHECK(map.at("RANKS") == "1");
  CHECK(identity_in(map) == identity);
}

}  // namespace
}  // namespace trainyard
