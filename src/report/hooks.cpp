#include "report/hooks.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"

namespace trainyard {

namespace {

constexpr std::string_view kPrefix = "TRAINYARD_";

std::string variable_name(std::string_view key) {
  std::string name;
  for (const char letter : key) {
    const bool small = letter >= 'a' && letter <= 'z';
    name += small                                     ? static_cast<char>(letter - 'a' + 'A')
            : begins_name(letter) || is_digit(letter) ? letter
                                                      : '_';
  }
  return name;
}

void put_variables(const Json& event, const std::string& prefix, std::vector<std::string>& list) {
  for (const auto& [key, value] : event.items()) {
    const std::string name = prefix + variable_name(key);
    if (value.is_object()) {
      put_variables(value, name + "_", list);
    } else {
      list.push_back(name + "=" +
                     (value.is_null()     ? ""
                      : value.is_string() ? value.get<std::string>()
                                          : value.dump()));
    }
  }
}

/// With `more`, which replace variables of the same names.
std::vector<std::string> with_variables(std::vector<std::string> environment,
                                        const std::vector<std::string>& more) {
  for (const std::string& variable : more) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(environment, [&](const std::string& old) { return old.starts_with(name); });
    environment.push_back(variable);
  }
  return environment;
}

/// The last line of a file that has text.
std::string last_line(const fs::path& path) {
  constexpr std::uint64_t kMostBytes = 1u << 20;
  try {
    std::string text = read_text(path, ErrorKind::disk, kMostBytes);
    text = trimmed(text);
    return text.substr(text.rfind('\n') + 1);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

std::string_view name_of(Hook hook) {
  constexpr std::array<std::string_view, 3> kNames = {"epoch", "best", "end"};
  return kNames.at(static_cast<std::size_t>(hook));
}

std::vector<std::string> hook_variables(const Json& event) {
  std::vector<std::string> list;
  put_variables(event, std::string(kPrefix), list);
  return list;
}

Hooks::Hooks(const Disk& disk, const HookCommands& commands, fs::path logs,
             std::vector<std::string> environment, Warn warn)
    : disk_(disk),
      limit_seconds_(commands.time_limit),
      logs_(std::move(logs)),
      environment_(std::move(environment)),
      warn_(std::move(warn)),
      hooks_{State{Hook::epoch, commands.epoch}, State{Hook::best, commands.best},
             State{Hook::end, commands.end}} {}

fs::path Hooks::log(const State& hook, const std::string& ending) const {
  return logs_ / fmt::format("hook_{}{}", name_of(hook.hook), ending);
}

void Hooks::add(Hook hook, const Json& event) {
  State& state = hooks_.at(static_cast<std::size_t>(hook));
  if (state.command.empty() || state.hangs) return;
  state.events.push_back(event);
  look();
}

void Hooks::look() {
  for (State& hook : hooks_) {
    if (hook.child && hook.child->ended()) take_result(hook);
    if (!hook.child && !hook.events.empty() && hook.hook != Hook::end) start(hook);
  }
}

void Hooks::start(State& hook) {
  const Json event = std::move(hook.events.front());
  hook.events.pop_front();
  try {
    // The shell must not wait for a pipe in their place.
    disk_.remove(log(hook, ".out"));
    disk_.remove(log(hook, ".err"));
    hook.child = std::make_unique<ChildProcess>(
        Command{.program = "/bin/sh",
                .arguments = {"-c", hook.command},
                .environment = with_variables(environment_, hook_variables(event)),
                .folder = ".",
                .errors = log(hook, ".err"),
                .output = log(hook, ".out"),
                .input = json_line(event),
                .limit_seconds = limit_seconds_,
                .most_file_bytes = std::numeric_limits<std::uint64_t>::max()});
  } catch (const Error& error) {
    warn_once(hook, error.what());
  }
}

std::string Hooks::complaint(const State& hook, const std::optional<int>& code) const {
  const std::string line = last_line(log(hook, ".err"));
  const std::string words = line.empty() ? "" : ": " + line;
  if (!code) {
    return fmt::format("had not ended after {:g} s and was killed; it is not started again{}",
                       limit_seconds_, words);
  }
  // A shell reports its killed program in the same way.
  const bool killed = *code > 128 && *code <= 128 + SIGRTMAX;
  if (killed) return fmt::format("was killed by signal {}{}", *code - 128, words);
  return fmt::format("ended with code {}{}", *code, words);
}

void Hooks::warn_once(State& hook, const std::string& complaint) {
  if (std::exchange(hook.warned, true)) return;
  try {
    warn_(fmt::format("hooks.{}: '{}' {}", name_of(hook.hook), shortened(hook.command), complaint));
  } catch (const Error&) {
    return;  // the run itself will meet the full disk
  }
}

void Hooks::take_result(State& hook) {
  const std::optional<int> code = hook.child->wait();
  hook.child.reset();
  hook.hangs = !code;
  if (!code) hook.events.clear();
  if (code != 0) warn_once(hook, complaint(hook, code));
}

void Hooks::forget() {
  for (State& hook : hooks_) {
    if (hook.hook == Hook::end || hook.events.empty()) continue;
    const auto count = static_cast<std::int64_t>(std::exchange(hook.events, {}).size());
    warn_once(hook, "was not started for the last " + count_text(count, "event") +
                        ": the run was stopped while it was running");
  }
}

void Hooks::hurry(double most_seconds) {
  for (State& hook : hooks_) hook.child.reset();
  limit_seconds_ = std::min(limit_seconds_, most_seconds);
}

void Hooks::finish() {
  for (State& hook : hooks_) {
    while (hook.child || !hook.events.empty()) {
      if (hook.child) {
        take_result(hook);
      } else {
        start(hook);
      }
    }
  }
}

LastEpoch::LastEpoch(Hooks& hooks, const Banner& banner, std::int64_t epochs)
    : hooks_(hooks), epochs_(epochs), samples_a_step_(global_batch(banner)) {}

void LastEpoch::on_epoch(const EpochRow& row) {
  values_ = epoch_json(row, epoch_context(row, epochs_, samples_a_step_));
}

}  // namespace trainyard
