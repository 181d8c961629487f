// The flags shared by all verbs that take a config.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/gpus.h"
#include "base/filesystem.h"
#include "cli/verbs.h"
#include "ranks/spawn/rank_identity.h"
#include "run/config/run_config.h"
#include "run/data_facts.h"
#include "run/session/session_device.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

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
/// Declares --config, which also takes a run for its config.yaml, and those of add_device_flags().
void add_run_flags(CLI::App& app, RunFlags& flags, const Context& context);
/// Declares --set.
CLI::Option* add_set_flag(CLI::App& app, std::vector<std::string>& overrides);
/// Declares --set, --device, --precision, --gpus, --no-tune and --threads.
void add_device_flags(CLI::App& app, RunFlags& flags);
/// Adds KEY=value, of the flag --KEY. Throws Error{command_line} if --set gives the key another
/// value.
void add_short_form(std::vector<std::string>& overrides, const std::string& key,
                    const std::string& value);
/// --set and its short forms.
[[nodiscard]] std::vector<std::string> overrides_of(const RunFlags& flags);
/// Whether the file is a network instead of a run: it has layers, but names no network. Throws
/// Error{config} if it cannot be read.
[[nodiscard]] bool is_network_file(const fs::path& path);
/// If the number of threads is not given, the cores are divided among `local_ranks` ranks.
[[nodiscard]] RunConfig read_config(const RunFlags& flags, int local_ranks = 1);
/// A line for what --set replaces besides the keys that it names, as another optimizer does.
void note_replaced(const RunFlags& flags, Messages& messages);
/// Throws Error{command_line} or Error{device} for a choice that this build or machine lacks,
/// before any data is read.
[[nodiscard]] DeviceChoice device_choice(const RunFlags& flags);
/// The same for one rank of several: its own GPU among those that --gpus and --replicas select.
[[nodiscard]] DeviceChoice device_choice_of_rank(const RunFlags& flags,
                                                 const RankIdentity& identity,
                                                 std::optional<int> replicas);
/// The folder for what need not be found twice (timed engines, the sizes of images); empty if the
/// environment names no home.
[[nodiscard]] fs::path cache_folder();
/// "train: warning: TEXT" on stderr.
void print_warning(const std::string& text);
/// The GPU part next to this program, or that of TRAINYARD_GPU_PART, and the folders of CUDA's
/// libraries according to the environment.
[[nodiscard]] GpuSearchPaths gpu_search_paths();

/// The folders of find_config(): configs/ in the current folder, and that of the installed program.
[[nodiscard]] std::vector<fs::path> config_folders();
/// The .yaml and .yml files of a folder, sorted; none if it cannot be read.
[[nodiscard]] std::vector<fs::path> yaml_files(const fs::path& folder);
/// The files in the folders suites/ of those; see read_suite().
[[nodiscard]] std::vector<fs::path> known_suites();
/// The config.yaml of a run folder; else `name` as given, then in configs/ under the current
/// folder, then in the share folder of the installed program; ".yaml" may be left out. Throws
/// Error{config} with the paths tried and the nearest name.
[[nodiscard]] fs::path find_config(const std::string& name);

}  // namespace trainyard::cli
