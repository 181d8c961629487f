#include "ranks/spawn/hosts_reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/plural.h"
#include "base/text.h"
#include "ranks/spawn/rank_output.h"
#include "ranks/spawn/rank_process.h"

namespace trainyard {
namespace {

constexpr std::string_view kListening = "listening ";
constexpr std::string_view kReached = "reached ";
constexpr std::string_view kMissed = "missed ";
constexpr std::chrono::milliseconds kLook(20);  // between two looks at the hosts' output

/// `train doctor` with `words` on a host: by ssh, unless it is this machine.
LaunchCommand command_on(const ReachTest& test, const Host& host,
                         const std::vector<std::string>& words) {
  if (is_own(host.name, test.hosts.own_names)) {
    return {.program = test.hosts.program, .arguments = words, .environment = test.environment};
  }
  std::string remote = shell_quoted(test.hosts.program.string());
  for (const std::string& word : words) remote += " " + shell_quoted(word);
  // BatchMode keeps ssh from waiting for a password.
  return {.program = test.ssh,
          .arguments = {"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", host.name, remote},
          .environment = test.environment};
}

/// The program on a host, and what it has printed.
class HostProgram {
 public:
  explicit HostProgram(const LaunchCommand& command)
      : process_(command, {.out = output_.descriptor(), .errors = errors_.descriptor()}) {}

  [[nodiscard]] bool ended() { return process_.end().has_value(); }
  /// The complete lines that it has printed.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> all = split(output_.text(), '\n');
    all.pop_back();
    return all;
  }
  /// Why it printed nothing useful.
  [[nodiscard]] std::string problem(double limit_seconds) {
    const std::string said = errors_.tail(1);
    if (!said.empty()) return said;
    if (!ended()) return "no answer within " + number_text(limit_seconds) + " s";
    return "train ended there with exit code " + std::to_string(process_.end()->exit_code);
  }

 private:
  static RankOutput unnamed() {
    return RankOutput::anonymous(std::filesystem::temp_directory_path());
  }

  RankOutput output_ = unnamed();
  RankOutput errors_ = unnamed();
  RankProcess process_;
};

/// Waits until `is_done` of every program, or it has ended, at most `seconds`.
template <class Done>
void await_all(std::vector<std::optional<HostProgram>>& programs, double seconds,
               const Clock& clock, const Done& is_done) {
  const double deadline = clock.seconds() + seconds;
  const auto is_open = [&](std::optional<HostProgram>& program) {
    return program && !program->ended() && !is_done(*program);
  };
  while (clock.seconds() < deadline && std::ranges::any_of(programs, is_open)) {
    std::this_thread::sleep_for(kLook);
  }
}

/// "listening 10.0.0.2 41234 train 0.1.0", with the version last.
void read_listening(const std::string& line, const ReachTest& test, TestedHost& host) {
  const std::vector<std::string> words = split(line.substr(kListening.size()), ' ');
  const std::string version = words.size() < 3 ? "" : joined(std::span(words).subspan(2), " ");
  if (version != test.version) {
    host.problem = "it has " + (version.empty() ? "another version" : version) + ", and " +
                   "this machine " + test.version + "; all hosts need the same";
    return;
  }
  host.address = words[0] + ":" + words[1];
}

bool is_listening(const HostProgram& program) {
  return std::ranges::any_of(program.lines(),
                             [](const std::string& line) { return line.starts_with(kListening); });
}

/// Where `other` is tried: the first host by its name, as all ranks meet there.
std::string target(const std::vector<TestedHost>& hosts, std::size_t other) {
  const std::string& address = hosts[other].address;
  return other == 0 ? hosts[0].name + address.substr(address.rfind(':')) : address;
}

std::vector<std::string> targets_of(const std::vector<TestedHost>& hosts, std::size_t from) {
  std::vector<std::string> all;
  for (std::size_t other = 0; other < hosts.size(); ++other) {
    if (other != from && !hosts[other].address.empty()) all.push_back(target(hosts, other));
  }
  return all;
}

void read_reached(const std::vector<TestedHost>& hosts, std::size_t from, HostProgram& program,
                  double limit_seconds, std::vector<Unreached>& unreached) {
  const std::vector<std::string> lines = program.lines();
  for (std::size_t other = 0; other < hosts.size(); ++other) {
    if (other == from || hosts[other].address.empty()) continue;
    const std::string address = target(hosts, other);
    if (std::ranges::count(lines, std::string(kReached) + address) > 0) continue;
    const std::string missed = std::string(kMissed) + address + " ";
    const auto why = std::ranges::find_if(
        lines, [&](const std::string& line) { return line.starts_with(missed); });
    unreached.push_back(
        {.host = hosts[other].name,
         .address = address,
         .why = why == lines.end() ? program.problem(limit_seconds) : why->substr(missed.size())});
  }
}

}  // namespace

std::vector<TestedHost> test_reach(const ReachTest& test, const Clock& clock) {
  std::vector<TestedHost> hosts;
  std::vector<std::optional<HostProgram>> listeners(test.hosts.hosts.size());
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    const Host& host = test.hosts.hosts[i];
    hosts.push_back({.name = host.name});
    listeners[i].emplace(
        command_on(test, host, {"doctor", "--listen", test.hosts.hosts.front().name}));
  }
  await_all(listeners, test.start_seconds, clock, is_listening);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (const std::string& line : listeners[i]->lines()) {
      if (line.starts_with(kListening)) read_listening(line, test, hosts[i]);
    }
    if (hosts[i].address.empty() && hosts[i].problem.empty()) {
      hosts[i].problem = listeners[i]->problem(test.start_seconds);
    }
  }
  std::vector<std::optional<HostProgram>> callers(hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::vector<std::string> targets = targets_of(hosts, i);
    if (hosts[i].address.empty() || targets.empty()) continue;
    callers[i].emplace(
        command_on(test, test.hosts.hosts[i], {"doctor", "--reach", joined(targets, ",")}));
  }
  await_all(callers, test.reach_seconds, clock, [](const HostProgram&) { return false; });
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!callers[i]) continue;
    read_reached(hosts, i, *callers[i], test.reach_seconds, hosts[i].unreached);
  }
  return hosts;
}

bool all_reached(const std::vector<TestedHost>& hosts) {
  return std::ranges::all_of(
      hosts, [](const TestedHost& host) { return host.problem.empty() && host.unreached.empty(); });
}

std::string reach_text(const std::string& file, const std::vector<TestedHost>& hosts) {
  std::string text = file + ": " + count_text(std::ssize(hosts), "host") + "\n";
  const auto there =
      std::ranges::count_if(hosts, [](const TestedHost& host) { return host.problem.empty(); });
  for (const TestedHost& host : hosts) {
    if (!host.problem.empty()) {
      text += fmt::format("{} takes no part: {}\n", host.name, host.problem);
      continue;
    }
    const auto reached = there - 1 - std::ssize(host.unreached);
    text += fmt::format("{} listens at {} and reaches {} of {} others\n", host.name, host.address,
                        reached, std::ssize(hosts) - 1);
    for (const Unreached& other : host.unreached) {
      text +=
          fmt::format("  it does not reach {} at {}: {}\n", other.host, other.address, other.why);
    }
  }
  if (all_reached(hosts)) return text;
  return text +
         "Ranks listen at any free port: allow TCP between all hosts, at the addresses above, and "
         "ssh without a password from this machine.\n";
}

std::string listening_line(const std::string& address, int port, const std::string& version) {
  return fmt::format("{}{} {} {}\n", kListening, address, port, version);
}

std::string reached_line(const std::string& address, const std::string& why) {
  if (why.empty()) return fmt::format("{}{}\n", kReached, address);
  return fmt::format("{}{} {}\n", kMissed, address, why);
}

}  // namespace trainyard
