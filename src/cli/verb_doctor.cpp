#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "backend/doctor.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/checks.h"
#include "cli/doctor_hosts.h"
#include "cli/named_run.h"
#include "cli/print.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "config/near_file.h"
#include "run/health.h"

namespace trainyard::cli {
namespace {

struct DoctorFlags {
  std::string run;
  std::string hosts;   // host file
  std::string listen;  // the first host
  std::string reach;   // addresses
  bool json = false;
};

int examine_machine(bool json) {
  const Findings findings = examine(version_text(), gpu_search_paths());
  print(json ? json_line(doctor_json(findings)) : doctor_text(findings), json);
  return doctor_exit_code(findings);
}

int examine_run(const DoctorFlags& flags) {
  const std::filesystem::path folder = flags.run;
  if (!std::filesystem::is_directory(folder)) {
    throw Error(ErrorKind::command_line,
                "there is no run folder '" + flags.run + "'" + config::near_file(folder));
  }
  const RunSighting run = look_at_run(folder, SystemClock());
  const RunHealth health = judge_run(run);
  const std::string text =
      flags.json ? json_line(health_json(run, health)) : health_text(run, health);
  print(text, flags.json);
  return health.exit_code;
}

int examine_chosen(const DoctorFlags& flags) {
  const bool several =
      !flags.run.empty() + !flags.hosts.empty() + !flags.listen.empty() + !flags.reach.empty() > 1;
  if (several) refuse_command("doctor examines a RUN, --hosts, --listen or --reach: give one");
  if (!flags.hosts.empty()) return examine_hosts(flags.hosts, flags.json);
  if (!flags.listen.empty()) return listen_for_hosts(flags.listen);
  if (!flags.reach.empty()) return reach_hosts(flags.reach);
  return flags.run.empty() ? examine_machine(flags.json) : examine_run(flags);
}

}  // namespace

void declare_doctor(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<DoctorFlags>();  // shared with the action, which outlives parsing
  app.add_option(
         "run", flags->run,
         "run folder, or runs/NAME: reports whether the run is working (exit 10), hangs (11), is "
         "dead (12) or has ended (its own exit code)")
      ->transform(newest_run_of_name(context))
      ->type_name("RUN");
  app.add_option("--hosts", flags->hosts,
                 "file with one host per line: tests that each reaches all others, both ways")
      ->type_name("FILE");
  app.add_option("--listen", flags->listen,
                 "part of --hosts on each host: waits for the others where ranks would if rank 0 "
                 "is on HOST")
      ->type_name("HOST");
  app.add_option("--reach", flags->reach, "part of --hosts on each host: connects to the others")
      ->type_name("HOST:PORT,...");
  app.add_flag("--json", flags->json, "as JSON");
  action = [flags] { return examine_chosen(*flags); };
}

}  // namespace trainyard::cli
