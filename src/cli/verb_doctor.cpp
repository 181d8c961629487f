#include <CLI/CLI.hpp>
#include <cstdio>

#include "backend/doctor.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "cli/version.h"

namespace trainyard::cli {

void declare_doctor(CLI::App& app, const Surroundings&, Action& action) {
  auto json = std::make_shared<bool>(false);  // shared with the action, which outlives parsing
  app.add_flag("--json", *json, "as JSON");
  action = [json] {
    const Findings findings = examine(version_text(), gpu_places());
    const std::string text = *json ? json_line(doctor_json(findings)) : doctor_text(findings);
    std::fputs(text.c_str(), stdout);
    return doctor_exit_code(findings);
  };
}

}  // namespace trainyard::cli
