#include "run/sighting.h"

#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/host_name.h"
#include "run/run_folder.h"

namespace trainyard {

namespace {

/// proc(5): "77 (name) T ...", where the name may contain anything.
bool is_stopped(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && (text[name_end + 2] == 'T' || text[name_end + 2] == 't');
}

}  // namespace

RunSighting look_at_run(const std::filesystem::path& folder, const Clock& clock) {
  const std::filesystem::path file = folder / "status.json";
  const bool locked = is_locked(folder);  // before the status, which a process writes last
  const auto status = read_status(file);
  if (!status) {
    std::error_code ignored;
    throw Error(ErrorKind::command_line,
                "'" + folder.string() + "' is not a run folder: it has no status.json" +
                    (std::filesystem::exists(file, ignored) ? " that can be read" : ""));
  }
  const bool here = status->host == host_name();
  return {.folder = folder,
          .status = *status,
          .now = clock.utc_seconds(),
          .locked = locked,
          .here = here,
          .stopped = here && locked && is_stopped(status->pid),
          .resumable = is_run_folder(folder)};
}

}  // namespace trainyard
