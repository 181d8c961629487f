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
  const auto add = [&](Hook hook, const std::string& command) {
    if (!command.empty()) names.emplace_back(name_of(hook));
  };
  add(Hook::epoch, hooks->epoch);
  add(Hook::best, hooks->best);
  add(Hook::end, hooks->end);
  if (names.empty()) return "";
  return "hooks: " + joined(names) + ": shell commands that a run starts, not this";
}

}  // namespace trainyard
