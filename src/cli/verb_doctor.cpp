#include <CLI/CLI.hpp>

#include "backend/doctor.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/filesystem.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "config/file_path.h"
#include "run/health.h"

namespace trainyard::cli {
namespace {

struct DoctorFlags {
  std::string run;
  bool json = false;
};

int examine_machine(bool json) {
  const Findings findings = examine(version_text(), gpu_search_paths());
  print(json ? json_line(doctor_json(findings)) : doctor_text(findings), json);
  return doctor_exit_code(findings);
}

int examine_run(const DoctorFlags& flags) {
  const fs::path folder = flags.run;
  if (!fs::is_directory(folder)) {
    refuse_command("there is no run folder '" + flags.run + "'" + config::near_file(folder));
  }
  const RunHealth run = look_at_run(folder, SystemClock());
  print(flags.json ? json_line(health_json(run)) : health_text(run), flags.json);
  return run.exit_code;
}

}  // namespace

void declare_doctor(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<DoctorFlags>();  // shared with the action, which outlives parsing
  add_run(app, "run", flags->run,
          "run folder, or runs/NAME: reports whether the run is working (exit 10), hangs (11), is "
          "dead (12) or has ended (its own exit code)",
          context);
  app.add_flag("--json", flags->json, "as JSON");
  action = [flags] {
    return flags->run.empty() ? examine_machine(flags->json) : examine_run(*flags);
  };
}

}  // namespace trainyard::cli
