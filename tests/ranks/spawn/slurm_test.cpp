// Slurm's host and task lists.
#include <doctest/doctest.h>

#include "../../base/error_of.h"
#include "ranks/spawn/launcher_environment.h"
#include "variables.h"

namespace trainyard {
namespace {

using namespace testing;

std::string list_refusal(const std::string& list) {
  return error_of(ErrorKind::command_line, [&] { static_cast<void>(first_slurm_host(list)); });
}

TEST_CASE("the first host of a list is found in all of Slurm's forms") {
  CHECK(first_slurm_host("alone") == "alone");
  CHECK(first_slurm_host("a1,b2") == "a1");
  CHECK(first_slurm_host("node[01-04]") == "node01");
  CHECK(first_slurm_host("node[07,09-12],other") == "node07");
  CHECK(first_slurm_host("rack[2-3]n[001-100]") == "rack2n001");
  CHECK(first_slurm_host("gpu-[3].cluster") == "gpu-3.cluster");
}

TEST_CASE("text that is not a list of hosts is refused and quoted") {
  for (const char* list : {"", ",a", "node[", "node[]", "node[x-3]", "a b", "node[-3]"}) {
    CHECK(list_refusal(list) == "'" + std::string(list) + "' is not a list of hosts");
  }
}

TEST_CASE("the tasks of a node are found in repeated entries") {
  CHECK(slurm_tasks_of_node("4", 0) == 4);
  CHECK(slurm_tasks_of_node("2(x3),1", 2) == 2);
  CHECK(slurm_tasks_of_node("2(x3),1", 3) == 1);
  CHECK(slurm_tasks_of_node("1,8(x2)", 1) == 8);
}

TEST_CASE("a node missing from the list of tasks, and an invalid list, are refused") {
  for (const char* list : {"2(x3)", "", "2(x", "x", "2(x0),1(x9)", "2(3)", "-2"}) {
    CHECK(error_of(ErrorKind::command_line,
                   [&] { static_cast<void>(slurm_tasks_of_node(list, 3)); }) ==
          "SLURM_STEP_TASKS_PER_NODE='" + std::string(list) +
              "' does not say how many tasks node 3 has");
  }
}

TEST_CASE("the ranks of a host come from the step, else the option, else a single node") {
  VariableMap map = {{"SLURM_STEP_ID", "1"},
                     {"SLURM_PROCID", "3"},
                     {"SLURM_LOCALID", "1"},
                     {"SLURM_NTASKS", "4"},
                     {"SLURM_NODEID", "1"}};
  const auto local_ranks = [&] { return slurm_environment(variables_in(map))->local_ranks.text(); };
  CHECK(error_of(ErrorKind::command_line, [&] { static_cast<void>(local_ranks()); }) ==
        "neither SLURM_STEP_TASKS_PER_NODE nor SLURM_NTASKS_PER_NODE says how many ranks this host "
        "has; give srun --ntasks-per-node");
  map["SLURM_NNODES"] = "1";
  CHECK(local_ranks() == "SLURM_NTASKS=4");
  map["SLURM_NTASKS_PER_NODE"] = "2";
  CHECK(local_ranks() == "SLURM_NTASKS_PER_NODE=2");
  map["SLURM_STEP_TASKS_PER_NODE"] = "1,3";
  CHECK(local_ranks() == "SLURM_STEP_TASKS_PER_NODE=3");
}

TEST_CASE("a step without a local rank is refused, naming the missing variable") {
  const VariableMap map = {{"SLURM_STEP_ID", "1"}, {"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}};
  CHECK(error_of(ErrorKind::command_line, [&] {
          static_cast<void>(slurm_environment(variables_in(map)));
        }) == "SLURM_STEP_ID is set, but SLURM_LOCALID is not; srun sets both");
}

}  // namespace
}  // namespace trainyard
