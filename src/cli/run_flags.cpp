#include "cli/run_flags.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/parallel.h"
#include "config/diagnostics.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

/// configs/ of the current folder, and that of the installed share folder or the source tree.
std::vector<fs::path> config_folders() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path prefix = program.parent_path().parent_path();
  return {"configs", prefix / "share" / "trainyard" / "configs"};
}

}  // namespace

void add_run_flags(CLI::App& app, RunFlags& flags) {
  app.add_option("--config", flags.config, "run file: a path, or a name in configs/")->required();
  add_device_flags(app, flags);
}

void add_device_flags(CLI::App& app, RunFlags& flags) {
  app.add_option("--set", flags.overrides, "change a key: a.b.c=value (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--gpus", flags.gpus, "GPUs: N, 0,2,3, id:2, all, auto:N; 0 is the CPU");
  app.add_option("--device", flags.device, "cpu, or reference (plain loops: slow, exact)")
      ->check(CLI::IsMember({"cpu", "reference"}));
  app.add_option("--precision", flags.precision, "fp32; the reference device also takes fp64")
      ->check(CLI::IsMember({"fp32", "fp64"}));
  app.add_option("--threads", flags.threads, "processor threads; 0: the config's, else all cores")
      ->check(CLI::Range(0, 1024));
}

fs::path find_config(const std::string& name) {
  std::vector<std::string> known;
  std::error_code ignored;
  for (const std::string& candidate : {name, name + ".yaml"}) {
    if (fs::is_regular_file(candidate, ignored)) return candidate;
    for (const fs::path& folder : config_folders()) {
      if (fs::is_regular_file(folder / candidate, ignored)) return folder / candidate;
    }
  }
  std::string looked = "'" + name + "'";
  for (const fs::path& folder : config_folders()) {
    looked += ", '" + (folder / name).string() + "'";
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const fs::path file = entry.path().filename();
      known.push_back((fs::path(name).has_extension() ? file : file.stem()).string());
    }
  }
  throw Error(ErrorKind::config, "no config file '" + name + "' (looked at " + looked + ")" +
                                     config::suggestion(name, known));
}

RunConfig read_config(const RunFlags& flags) {
  RunConfig run = read_run_config(find_config(flags.config), flags.overrides);
  // The thread count is part of a run's record: it decides the order of sums inside oneDNN.
  if (flags.threads > 0) settle_threads(run, flags.threads);
  if (run.threads == 0) settle_threads(run, available_cores());
  return run;
}

DeviceChoice device_choice(const RunFlags& flags) {
  if (!flags.gpus.empty() && flags.gpus != "0") {
    throw Error(ErrorKind::device,
                "--gpus " + flags.gpus + ": this build has no GPU part; use --gpus 0 for the CPU");
  }
  DeviceChoice choice{.threads = flags.threads};
  const bool reference = flags.device == "reference";
  choice.kind = reference ? DeviceChoice::Kind::reference : DeviceChoice::Kind::cpu;
  const bool wide = flags.precision == "fp64" || (reference && flags.precision.empty());
  if (wide && !reference) {
    throw Error(ErrorKind::command_line,
                "--precision fp64 is for '--device reference'; the CPU computes in fp32");
  }
  choice.type = wide ? DType::f64 : DType::f32;
  return choice;
}

}  // namespace trainyard::cli
