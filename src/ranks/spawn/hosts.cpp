#include "ranks/spawn/hosts.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/host.h"
#include "base/text.h"
#include "ranks/spawn/launcher_environment.h"

namespace trainyard {
namespace {

constexpr std::size_t kMostHosts = 4'096;

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string tidy(line);
  std::ranges::replace(tidy, '\t', ' ');
  for (const std::string& word : split(tidy, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

bool is_name(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  return !text.starts_with('-') && text.size() <= 255 &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

/// Reads the words of a line into `host`. Returns the problem, "" if there is none.
std::string read_words(const std::vector<std::string>& words, Host& host) {
  constexpr std::string_view kSlots = "slots=";
  if (!is_name(words[0])) {
    return "'" + words[0] + "' is neither a host name nor an IPv4 address; write one host per line";
  }
  host.name = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto number =
        words[i].starts_with(kSlots) ? parse_integer(words[i].substr(kSlots.size())) : std::nullopt;
    if (!number || *number < 1 || *number > kMostRanks || host.slots != 0) {
      return "'" + words[i] + "' after host '" + host.name + "': expected slots=N, or nothing";
    }
    host.slots = static_cast<int>(*number);
  }
  return "";
}

[[noreturn]] void refuse(const HostsSpawn& launch, const Host& host, const std::string& why) {
  throw config_error(launch.file + ":" + std::to_string(host.line) + ":1: host '" + host.name +
                     "' " + why);
}

void check(const HostsSpawn& launch) {
  for (const Host& host : launch.hosts) {
    if (host.slots != 0 && host.slots < launch.ranks_per_host) {
      refuse(launch, host,
             "has slots=" + std::to_string(host.slots) + ", but " +
                 std::to_string(launch.ranks_per_host) + " ranks are requested on each host");
    }
    const bool loopback = host.name == "localhost" || host.name.starts_with("127.");
    if (loopback && launch.hosts.size() > 1) {
      refuse(launch, host, "means a different machine on each host; write this machine's name");
    }
  }
}

/// Whether a host of a file is this machine, which has these names and addresses.
bool is_own(std::string_view host, std::span<const std::string> own_names) {
  return std::ranges::find(own_names, host) != own_names.end();
}

/// The hosts with this machine first, where mpirun starts rank 0.
std::vector<Host> in_order_of_ranks(const HostsSpawn& launch) {
  std::vector<Host> hosts = launch.hosts;
  std::stable_partition(hosts.begin(), hosts.end(),
                        [&](const Host& host) { return is_own(host.name, launch.own_names); });
  return hosts;
}

}  // namespace

std::vector<Host> parse_hosts(std::string_view text, const std::string& file) {
  std::vector<Host> hosts;
  std::vector<std::string> problems;
  std::set<std::string> seen;
  int line = 0;
  for (const std::string& whole : split(text, '\n')) {
    ++line;
    const std::vector<std::string> words =
        words_of(trimmed(std::string_view(whole).substr(0, whole.find('#'))));
    if (words.empty()) continue;
    Host host{.line = line};
    std::string problem = read_words(words, host);
    if (problem.empty() && !seen.insert(host.name).second) {
      problem = "host '" + host.name + "' is listed twice; give it slots=N instead";
    }
    if (!problem.empty()) problems.push_back(file + ":" + std::to_string(line) + ":1: " + problem);
    hosts.push_back(std::move(host));
  }
  if (!problems.empty()) throw config_error(joined(problems, "\n"));
  if (hosts.empty() || hosts.size() > kMostHosts) {
    throw config_error(file + ":1:1: " + std::to_string(hosts.size()) +
                       " hosts; expected from 1 to " + std::to_string(kMostHosts) +
                       ", one per line");
  }
  return hosts;
}

HostsSpawn with_ranks(HostsSpawn launch, int ranks) {
  const int most = static_cast<int>(launch.hosts.size()) * launch.ranks_per_host;
  const bool part_of_one = ranks >= 1 && ranks < launch.ranks_per_host;
  if (!part_of_one && (ranks < 1 || ranks > most || ranks % launch.ranks_per_host != 0)) {
    const std::string each = std::to_string(launch.ranks_per_host);
    refuse_command(std::to_string(ranks) + " ranks do not fill the hosts of " + launch.file +
                   ", which take " + each + " each; use up to " + each + ", or a multiple of it " +
                   "up to " + std::to_string(most));
  }
  launch.hosts = in_order_of_ranks(launch);
  launch.hosts.resize(part_of_one ? 1 : static_cast<std::size_t>(ranks / launch.ranks_per_host));
  launch.ranks_per_host = std::min(ranks, launch.ranks_per_host);
  return launch;
}

std::vector<std::string> mpirun_arguments(const HostsSpawn& launch) {
  check(launch);
  const std::vector<Host> hosts = in_order_of_ranks(launch);
  const std::string per_host = std::to_string(launch.ranks_per_host);
  std::vector<std::string> places;
  for (const Host& host : hosts) places.push_back(host.name + ":" + per_host);
  // By default mpirun binds each rank to one core, so that it could not use its threads, and leaves
  // 1 second between SIGTERM and SIGKILL, too short for a clean end. It always waits the full time
  // set here, about twice on each machine (seen with 4.1.4).
  std::vector<std::string> arguments = {
      "--host",
      joined(places, ","),
      "-np",
      std::to_string(hosts.size() * static_cast<std::size_t>(launch.ranks_per_host)),
      "-N",
      per_host,
      "--bind-to",
      "none",
      "--mca",
      "odls_base_sigkill_timeout",
      "5",
      "--wdir",
      launch.folder.string(),
      "-x",
      "MASTER_ADDR=" + hosts.front().name};
  for (const std::string& name : launch.variables) {
    arguments.insert(arguments.end(), {"-x", name});
  }
  arguments.push_back(launch.program.string());
  arguments.insert(arguments.end(), launch.arguments.begin(), launch.arguments.end());
  return arguments;
}

SpawnResult result_of_mpirun(SpawnResult result) {
  constexpr int kSignals = 128;
  constexpr int kStoppedByOwnLimit = 75;  // EX_TEMPFAIL
  const int code = result.exit_code;
  const bool of_a_rank = (code >= 2 && code <= 9) || code == kStoppedByOwnLimit;
  if (code == 0 || of_a_rank || result.signal != 0) return result;
  const int signal = code > kSignals && code < kSignals + NSIG ? code - kSignals : 0;
  const bool stopped = signal == SIGINT || signal == SIGTERM || signal == SIGHUP ||
                       signal == SIGUSR1 || result.passed != 0;
  if (stopped) return {.signal = result.passed != 0 ? result.passed : signal};
  result.exit_code = static_cast<int>(ErrorKind::device);
  if (!result.message.empty()) return result;
  result.message = signal != 0 ? "a rank was killed by signal " + std::to_string(signal)
                               : "mpirun ended with exit code " + std::to_string(code);
  result.message += "; see mpirun's output above";
  return result;
}

std::vector<SyncCommand> sync_commands(std::span<const Host> hosts,
                                       std::span<const std::string> own_names,
                                       const fs::path& folder) {
  if (!folder.is_absolute()) {
    refuse_command("--sync-dir '" + folder.string() +
                   "' is not absolute; it is the same folder on every "
                   "host, so give the full path");
  }
  std::vector<SyncCommand> commands;
  for (const Host& host : hosts) {
    const bool own = is_own(host.name, own_names);
    const std::string place = (own ? "" : host.name + ":") + folder.string() + "/";
    // --protect-args keeps the remote shell from interpreting the folder's name; BatchMode keeps
    // ssh from waiting forever for a password.
    commands.push_back(
        {.host = own ? "" : host.name,
         .arguments = {"--archive", "--protect-args", "--exclude=/runs/", "--exclude=/build/",
                       "--exclude=/.git/", "-e", "ssh -o BatchMode=yes", "./", place}});
  }
  return commands;
}

std::vector<std::string> own_names() {
  std::vector<std::string> names = {"localhost"};
  const std::string host = host_name();
  names.push_back(host);
  names.push_back(host.substr(0, host.find('.')));
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return names;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    std::array<char, INET_ADDRSTRLEN> text{};
    if (::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size()) != nullptr) {
      names.emplace_back(text.data());
    }
  }
  ::freeifaddrs(list);
  return names;
}

}  // namespace trainyard
