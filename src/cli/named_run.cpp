#include "cli/named_run.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/error.h"
#include "cli/output.h"
#include "cli/spawn.h"
#include "run/run_folder.h"

namespace trainyard::cli {
namespace {

bool is_quiet(const std::vector<std::string>& arguments) {
  return std::ranges::any_of(
      arguments, [](const std::string& word) { return word == "-q" || word == "--quiet"; });
}

/// True for the launcher of several ranks, or the first rank if another program started them.
bool speaks() {
  const auto identity = own_identity();
  return !identity || (identity->rank == 0 && !train_started(*identity));
}

/// `text`, which is not a run, as a run; itself if it may be something else.
std::string run_named(const std::string& text) {
  std::error_code ignored;
  if (const auto newest = newest_run(text)) return newest->string();
  if (fs::is_directory(text, ignored)) {
    const std::vector<fs::path> runs = runs_below(text);
    if (runs.empty()) return text;
    refuse_command("'" + text + "' is not a run, but has runs in it: name one, such as '" +
                   runs.back().string() + "'");
  }
  const fs::path below = fs::path("runs") / text;
  if (!text.empty() && !fs::exists(text, ignored) && newest_run(below)) {
    refuse_command("there is no '" + text + "'; did you mean '" + below.string() + "'?");
  }
  return text;
}

}  // namespace

std::vector<fs::path> runs_below(const fs::path& folder) {
  std::vector<fs::path> runs = entries_of(folder);
  std::erase_if(runs,
                [](const fs::path& entry) { return !is_run_folder(entry) && !newest_run(entry); });
  std::ranges::sort(runs);
  return runs;
}

CLI::Validator newest_run_of_name(const Context& context) {
  Messages& messages = context.messages;
  const bool quiet = is_quiet(context.arguments);
  return {[&messages, quiet](std::string& text) {
            if (is_run_folder(text)) return std::string();
            const std::string run = run_named(text);
            if (run != text && !quiet && speaks()) {
              messages.note("'" + text + "': its newest run is " + run);
            }
            text = run;
            return std::string();
          },
          ""};
}

CLI::Option* add_run(CLI::App& app, const std::string& name, std::string& value,
                     const std::string& help, const Context& context) {
  return app.add_option(name, value, help)
      ->transform(newest_run_of_name(context))
      ->type_name("RUN");
}

std::vector<RecordedRun> recorded_runs(const std::vector<std::string>& names, Messages& messages) {
  std::vector<RecordedRun> runs = read_recorded_runs(names, SystemClock());
  for (const RecordedRun& run : runs) {
    for (const std::string& problem : run.problems) messages.warn(problem);
  }
  return runs;
}

}  // namespace trainyard::cli
