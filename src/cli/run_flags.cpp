#include "cli/run_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "backend/plugin.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/environment.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/rank_gpus.h"
#include "config/diagnostics.h"
#include "config/file_path.h"
#include "config/load.h"
#include "run/config/resolved_config.h"
#include "run/run_folder.h"

namespace trainyard::cli {
namespace {

fs::path program_file() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

/// The files of a folder with one of these extensions, sorted; none if it cannot be read.
std::vector<fs::path> files_ending(const fs::path& folder,
                                   std::initializer_list<std::string_view> extensions) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string extension = entry.path().extension();
    if (std::ranges::find(extensions, extension) != extensions.end()) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

DeviceChoice::Kind kind_of(const RunFlags& flags) {
  return flags.device == "reference" ? DeviceChoice::Kind::reference : DeviceChoice::Kind::cpu;
}

/// True if --device chooses a processor. Throws Error{command_line} if --gpus also chooses a GPU.
bool on_processor(const RunFlags& flags) {
  if (flags.device.empty()) return false;
  const GpuRequest::Kind kind = parse_gpus(flags.gpus).kind;
  if (kind == GpuRequest::Kind::unsaid || kind == GpuRequest::Kind::none) return true;
  refuse_command("--gpus " + flags.gpus + " and --device " + flags.device +
                 " contradict each other; give one of them");
}

/// The GPU that the flags request, or the one found without flags; none: the CPU.
UsableGpus open_gpus_of(const RunFlags& flags) {
  if (on_processor(flags)) return {};
  UsableGpus usable = open_gpus(parse_gpus(flags.gpus), gpu_search_paths());
  if (usable.gpus.size() > 1) {
    throw device_error(
        "--gpus " + flags.gpus +
        ": this command runs on one GPU; use --gpus 1, or id:N for one other than the first");
  }
  return usable;
}

DeviceChoice choice_of(const RunFlags& flags, UsableGpus usable) {
  DeviceChoice choice{.kind = kind_of(flags), .threads = flags.threads, .tune = !flags.no_tune};
  choice.cache_folder = cache_folder();
  choice.warn = print_warning;
  choice.no_gpu = usable.problem;
  if (usable.gpus.empty()) return choice;
  choice.kind = DeviceChoice::Kind::gpu;
  choice.gpus = std::make_shared<UsableGpus>(std::move(usable));
  for (const LibraryFinding& library : choice.gpus->libraries) {
    if (library.problem.empty() || library.without.empty()) continue;
    print_warning(library.name + ": " + library.problem + ": " + library.without);
  }
  return choice;
}

/// Refuses a network file given as a run file, for which the error would otherwise list unknown and
/// missing keys.
void refuse_network_file(const fs::path& path) {
  if (!is_network_file(path)) return;
  const config::Node file = config::load_yaml(path);
  throw config_error(file.find("layers")->where.text() +
                     ": this is a network file: it has 'layers' but no 'network'; --config needs a "
                     "run file, which names it: network: {file: " +
                     path.filename().string() + "}");
}

}  // namespace

void add_run_flags(CLI::App& app, RunFlags& flags, const Context& context) {
  app.add_option("FILE,--config", flags.config,
                 "run file: a path, a name in configs/, or a run folder")
      ->required()
      ->transform(newest_run_of_name(context))
      ->type_name("FILE");
  add_device_flags(app, flags);
}

void add_data_flags(CLI::App& app, DataCheck& check, const std::string& changed) {
  app.add_flag("--changed-data", check.changed, changed);
  app.add_flag("--check-data", check.all_files,
               "compare all data files by contents, whatever their time");
}

CLI::Option* add_set_flag(CLI::App& app, std::vector<std::string>& overrides) {
  return app
      .add_option("--set", overrides, "change a key of the run file: a.b.c=value (repeatable)")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
}

void add_device_flags(CLI::App& app, RunFlags& flags) {
  add_set_flag(app, flags.overrides);
  app.add_option("--gpus", flags.gpus, "GPUs: N, 0,2,3, id:2, all, auto:N; 0 is the CPU")
      ->type_name("GPUS");
  take_one_of(app.add_option("--device", flags.device, "reference: plain loops, slow and exact"),
              {"cpu", "reference"});
  take_one_of(app.add_option("--precision", flags.precision,
                             "the run's 'precision'; fp64 with --device reference"),
              {"fp32", "tf32", "bf16", "fp16", "fp64"});
  app.add_flag("--no-tune", flags.no_tune, "skip auto-tuning: cuDNN's first engines, or oneDNN");
  add_count(app, "--threads", flags.threads, "CPU threads (default: the config's, or all)", 0, 1024)
      ->default_str("");
}

std::vector<fs::path> config_folders() {
  const fs::path prefix = program_file().parent_path().parent_path();
  return {"configs", prefix / "share" / "trainyard" / "configs"};
}

std::vector<fs::path> known_suites() {
  for (const fs::path& folder : config_folders()) {
    const std::vector<fs::path> files = files_ending(folder / "suites", {".csv"});
    if (!files.empty()) return files;
  }
  return {};
}

std::vector<fs::path> yaml_files(const fs::path& folder) {
  return files_ending(folder, {".yaml", ".yml"});
}

fs::path find_config(const std::string& name) {
  std::vector<std::string> known;
  std::error_code ignored;
  if (is_run_folder(name)) return fs::path(name) / "config.yaml";
  for (const std::string& candidate : {name, name + ".yaml"}) {
    if (fs::is_regular_file(candidate, ignored)) return candidate;
    for (const fs::path& folder : config_folders()) {
      if (fs::is_regular_file(folder / candidate, ignored)) return folder / candidate;
    }
  }
  std::string looked = "'" + name + "'";
  for (const fs::path& folder : config_folders()) {
    looked += ", '" + (folder / name).string() + "'";
  }
  for (const fs::path& folder : config_folders()) {
    for (const fs::path& file : yaml_files(folder)) {
      known.push_back(fs::path(name).has_extension() ? file.filename() : file.stem());
    }
  }
  std::string hint = config::suggestion(name, known);
  if (hint.empty()) hint = config::near_file(name);
  throw config_error("no config file '" + name + "' (looked at " + looked +
                     ", each with .yaml too)" + hint);
}

void add_short_form(std::vector<std::string>& overrides, const std::string& key,
                    const std::string& value) {
  const std::string own = key + "=" + value;
  for (const std::string& text : overrides) {
    if (text == own || !text.starts_with(key + "=")) continue;
    refuse_command("--" + key + " " + shell_quoted(value) + " and --set " + shell_quoted(text) +
                   " contradict each other; give one of them");
  }
  overrides.push_back(own);
}

bool is_network_file(const fs::path& path) {
  const config::Node file = config::load_yaml(path);
  return file.find("layers") != nullptr && file.find("network") == nullptr &&
         file.find("extends") == nullptr;
}

std::vector<std::string> overrides_of(const RunFlags& flags) {
  std::vector<std::string> overrides = flags.overrides;
  if (!flags.precision.empty()) add_short_form(overrides, "precision", flags.precision);
  return overrides;
}

RunConfig read_config(const RunFlags& flags, int local_ranks) {
  const fs::path file = find_config(flags.config);
  refuse_network_file(file);
  RunConfig run = read_run_config(file, overrides_of(flags), variable("TRAINYARD_DATA"));
  // The thread count is part of a run's record, though no result depends on it.
  if (flags.threads > 0) {
    std::vector<std::string> given = flags.overrides;
    add_short_form(given, "threads", std::to_string(flags.threads));
    settle_threads(run, flags.threads);
  }
  const int share = std::max(1, available_cores() / local_ranks);
  if (run.threads == 0) settle_threads(run, share);
  settle_precision(run, run.precision.value_or(default_precision(kind_of(flags))));
  return run;
}

void note_replaced(const RunFlags& flags, Messages& messages) {
  const fs::path file = find_config(flags.config);
  for (const std::string& text : replaced_by(overrides_of(flags), file)) {
    messages.note("--set replaces " + text + ", of " + file.string());
  }
}

DeviceChoice device_choice(const RunFlags& flags) { return choice_of(flags, open_gpus_of(flags)); }

DeviceChoice device_choice_of_rank(const RunFlags& flags, const RankIdentity& identity,
                                   std::optional<int> replicas) {
  if (on_processor(flags)) return choice_of(flags, {});
  const RankGpuFlags own{
      .gpus = flags.gpus, .replicas = replicas, .chosen = variable(kGpusVariable)};
  return choice_of(flags, gpus_of_rank(own, identity, gpu_search_paths()));
}

fs::path cache_folder() {
  const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (!cache.empty()) return fs::path(cache) / "trainyard";
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "trainyard";
}

void print_warning(const std::string& text) {
  std::fflush(stdout);  // keeps the order if both go to one pipe
  std::fprintf(stderr, "train: warning: %s\n", printable(readable(text)).c_str());
}

GpuSearchPaths gpu_search_paths() {
  const std::string pipes = variable("CUDA_MPS_PIPE_DIRECTORY");
  const std::string part = variable("TRAINYARD_GPU_PART");
  return {.plugin = part.empty() ? plugin_path(program_file(), driver_cuda()) : fs::path(part),
          .folders = library_folders({.trainyard_cuda_path = variable("TRAINYARD_CUDA_PATH"),
                                      .cuda_home = variable("CUDA_HOME"),
                                      .virtual_env = variable("VIRTUAL_ENV"),
                                      .conda_prefix = variable("CONDA_PREFIX"),
                                      .home = variable("HOME"),
                                      .path = variable("PATH"),
                                      .program = program_file()}),
          .mps_pipes = pipes.empty() ? "/tmp/nvidia-mps" : pipes};
}

}  // namespace trainyard::cli
