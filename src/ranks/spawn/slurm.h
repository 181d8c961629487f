// Ranks that Slurm's srun started, and Slurm's host and task lists.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ranks/spawn/launcher_environment.h"

namespace trainyard {

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
