#include "run/config/hooks_config.h"

#include <vector>

#include "base/text.h"

namespace trainyard {

void declare(config::Fields& fields, HookCommands& hooks) {
  if (!fields.keys_only("{end: 'notify.sh'}")) return;
  fields.field("epoch", hooks.epoch, "shell command that is started after each epoch");
  fields.field("best", hooks.best, "after the weights of a better epoch are saved");
  fields.field("end", hooks.end, "at the end of the run, however it ends");
  fields.field("time_limit", hooks.time_limit, "seconds after which a command is killed",
               {.minimum = 0.1, .maximum = 86400});
}

std::string hooks_text(const std::optional<HookCommands>& hooks) {
  if (!hooks) return "";
  std::vector<std::string> names;
  if (!hooks->epoch.empty()) names.emplace_back("epoch");
  if (!hooks->best.empty()) names.emplace_back("best");
  if (!hooks->end.empty()) names.emplace_back("end");
  if (names.empty()) return "";
  return "hooks: " + joined(names) + ": shell commands that a run starts, not this";
}

}  // namespace trainyard
