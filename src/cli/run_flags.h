// The flags shared by all verbs that take a config.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backend/gpus.h"
#include "launch/rank_identity.h"
#include "run/config/run_config.h"
#include "run/data_changes.h"
#include "run/session/session_device.h"

namespace CLI {
class App;
}

namespace trainyard::cli {

struct RunFlags {
  std::string config;
  std::vector<std::string> overrides;  // --set a.b.c=value
  std::string device;                  // cpu, reference; "": as gpus says
  std::string precision;               // "": the config's, else the device's default
  std::string gpus;                    // "": a GPU if there is a usable one, else the CPU
  int threads = 0;
  bool no_tune = false;
};

/// Declares --changed-data, whose help is `changed`, and --check-data.
void add_data_flags(CLI::App& app, DataCheck& check, const std::string& changed);
/// Declares --config and those of add_device_flags().
void add_run_flags(CLI::App& app, RunFlags& flags);
/// Declares --set, --device, --precision, --gpus, --no-tune and --threads.
void add_device_flags(CLI::App& app, RunFlags& flags);
/// --set and its short forms.
[[nodiscard]] std::vector<std::string> overrides_of(const RunFlags& flags);
/// If the number of threads is not given, the cores are divided among `local_ranks` ranks.
[[nodiscard]] RunConfig read_config(const RunFlags& flags, int local_ranks = 1);
/// Throws Error{command_line} or Error{device} for a choice that this build or machine lacks,
/// before any data is read.
[[nodiscard]] DeviceChoice device_choice(const RunFlags& flags);
/// The same for one rank of several: its own GPU among those that --gpus and --replicas select.
[[nodiscard]] DeviceChoice device_choice_of_rank(const RunFlags& flags,
                                                 const RankIdentity& identity,
                                                 std::optional<int> replicas);
/// The folder for what need not be found twice (timed engines, the sizes of pictures); empty if the
/// environment names no home.
[[nodiscard]] std::filesystem::path cache_folder();
/// "train: warning: TEXT" on stderr.
void print_warning(const std::string& text);
/// The GPU part next to this program, or that of TRAINYARD_GPU_PART, and the folders of CUDA's
/// libraries according to the environment.
[[nodiscard]] GpuSearchPaths gpu_search_paths();

/// `name` as given, then in configs/ under the current folder, then in the share folder of the
/// installed program; ".yaml" may be left out. Throws Error{config} with the paths tried and the
/// nearest name.
[[nodiscard]] std::filesystem::path find_config(const std::string& name);

}  // namespace trainyard::cli
