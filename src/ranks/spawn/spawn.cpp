#include "ranks/spawn/spawn.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/host.h"
#include "base/text.h"
#include "ranks/spawn/rank_identity.h"

namespace trainyard {
namespace {

[[noreturn]] void fail(const std::string& doing) {
  throw device_error(doing + ": " + std::generic_category().message(errno));
}

RankIdentity local_place(int rank, int ranks, int port, const std::string& token) {
  return {.rank = rank,
          .ranks = ranks,
          .local_rank = rank,
          .local_ranks = ranks,
          .master_address = "127.0.0.1",
          .master_port = port,
          .token = token,
          .source = "local"};
}

constexpr int kStoppedByOwnLimit = 75;  // EX_TEMPFAIL
constexpr int kLinesShown = 20;

bool stops_a_run(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGUSR1;
}

/// How an end counts.
enum class Meaning { failed, stopped, lost, out_of_time, done };

Meaning meaning_of(const ProcessEnd& end) {
  if (end.signal != 0) return stops_a_run(end.signal) ? Meaning::stopped : Meaning::failed;
  if (end.exit_code == 0) return Meaning::done;
  if (end.exit_code == kStoppedByOwnLimit) return Meaning::out_of_time;
  return end.exit_code == static_cast<int>(ErrorKind::device) ? Meaning::lost : Meaning::failed;
}

/// "was killed by signal 9" or "ended with exit code 4".
std::string text_of(const ProcessEnd& end) {
  if (end.signal == 0) return "ended with exit code " + std::to_string(end.exit_code);
  const std::string text = "was killed by signal " + std::to_string(end.signal);
  return end.signal == SIGKILL ? text + "; if nobody killed it, the machine ran out of memory"
                               : text;
}

/// The end of a process's output, after a line that introduces it.
std::string output_text(const RankOutput& output) {
  const fs::path path = output.path();
  const std::string where = path.empty() ? "" : " (" + path.string() + ")";
  const std::string tail = output.tail(kLinesShown);
  return tail.empty() ? "; it printed nothing" : "; the end of its output" + where + ":\n" + tail;
}

ProcessStreams streams_of(const SpawnedProcess& process) {
  const auto descriptor = [](const RankOutput* output) {
    return output == nullptr ? -1 : output->descriptor();
  };
  const int both = descriptor(process.output);
  return {.out = process.results == nullptr ? both : process.results->descriptor(), .errors = both};
}

class SpawnWatch {
 public:
  SpawnWatch(const std::vector<SpawnedProcess>& processes, const SpawnLimits& limits,
             const Clock& clock)
      : processes_(processes), limits_(limits), clock_(clock), ends_(processes.size()) {
    for (const SpawnedProcess& process : processes) {
      running_.emplace_back(process.command, streams_of(process));
    }
  }

  SpawnResult run() {
    while (!all_ended()) {
      const double left = deadline_ ? std::max(0.0, *deadline_ - clock_.seconds()) : -1;
      for (const int signal : signals_.wait(left)) pass(signal);
      collect();
      if (deadline_ && clock_.seconds() >= *deadline_) press();
    }
    return result();
  }

 private:
  // What has been done to end the remaining processes.
  enum class Stage { none, waiting, asked, killed };

  [[nodiscard]] bool all_ended() const {
    return std::all_of(ends_.begin(), ends_.end(), [](const auto& end) { return end.has_value(); });
  }
  void enter(Stage stage, double seconds) {
    stage_ = stage;
    deadline_ = clock_.seconds() + seconds;
  }
  void send_to_all(int signal) {
    for (RankProcess& process : running_) process.send(signal);
  }
  [[nodiscard]] std::optional<std::size_t> first(Meaning meaning) const {
    return first_[static_cast<std::size_t>(meaning)];
  }
  void pass(int signal) {
    if (signal == SIGCHLD) return;
    if (stops_a_run(signal)) passed_ = signal;
    if (signal == SIGINT) ++interrupts_;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      const int own = processes_[i].stop_signal;
      const bool translated = own != 0 && stops_a_run(signal);
      running_[i].send(!translated ? signal : interrupts_ > 1 ? SIGTERM : own);
    }
    if (interrupts_ == 2 && stage_ < Stage::asked) enter(Stage::asked, limits_.kill_seconds);
  }
  void collect() {
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (ends_[i] || !running_[i].end()) continue;
      ends_[i] = running_[i].end();
      take(i);
    }
  }
  void take(std::size_t index) {
    // Processes that the launcher asked to end say nothing about the cause.
    if (stage_ >= Stage::asked) return;
    const Meaning meaning = meaning_of(*ends_[index]);
    auto& first = first_[static_cast<std::size_t>(meaning)];
    if (!first) first = index;
    const bool failure = meaning == Meaning::failed || meaning == Meaning::lost;
    if ((failure || index == 0) && stage_ == Stage::none) {
      enter(Stage::waiting, limits_.grace_seconds);
    }
  }
  /// The time limit of the stage has passed.
  void press() {
    if (stage_ == Stage::waiting) {
      const bool failed = first(Meaning::failed) || first(Meaning::lost);
      for (std::size_t i = 0; i < ends_.size() && !failed; ++i) {
        if (ends_[i]) continue;
        warning_ += (warning_.empty() ? "" : "\n") + name_of(i) + " had not ended " +
                    number_text(limits_.grace_seconds) + " s after " + processes_[0].name +
                    " and was killed";
      }
      send_to_all(SIGTERM);
      return enter(Stage::asked, limits_.kill_seconds);
    }
    for (RankProcess& process : running_) process.kill_group();
    stage_ = Stage::killed;
    deadline_.reset();
  }
  /// "rank 2 (node1, pid 123)".
  [[nodiscard]] std::string name_of(std::size_t index) const {
    return processes_[index].name + " (" + host_name() + ", pid " +
           std::to_string(running_[index].pid()) + ")";
  }
  /// How a process ended; "" if the first one, which has the launcher's streams, ended like a rank
  /// that noticed it and has reported it.
  [[nodiscard]] std::string message(std::optional<std::size_t> index) const {
    if (!index) return "";
    const ProcessEnd& end = *ends_[*index];
    const int noticed = end.signal == 0 ? end.exit_code : static_cast<int>(ErrorKind::device);
    if (ends_[0]->signal == 0 && ends_[0]->exit_code == noticed) return "";
    const RankOutput* output = processes_[*index].output;
    return name_of(*index) + " " + text_of(end) + (output == nullptr ? "" : output_text(*output));
  }
  [[nodiscard]] SpawnResult result() const {
    SpawnResult result{.passed = passed_, .warning = warning_};
    if (const auto failed = first(Meaning::failed)) {
      const ProcessEnd& end = *ends_[*failed];
      result.exit_code = end.signal == 0 ? end.exit_code : static_cast<int>(ErrorKind::device);
      result.message = message(failed);
      return result;
    }
    result.message = message(first(Meaning::lost));
    if (const auto stopped = first(Meaning::stopped)) {
      result.signal = ends_[*stopped]->signal;
    } else if (interrupts_ > 1) {
      result.signal = SIGINT;
    } else if (first(Meaning::lost)) {
      result.exit_code = static_cast<int>(ErrorKind::device);
    } else if (first(Meaning::out_of_time)) {
      result.exit_code = kStoppedByOwnLimit;
    }
    return result;
  }

  const std::vector<SpawnedProcess>& processes_;
  SpawnLimits limits_;
  const Clock& clock_;
  SpawnSignals signals_;  // before the first process, so that no end is missed
  std::vector<RankProcess> running_;
  std::vector<std::optional<ProcessEnd>> ends_;
  Stage stage_ = Stage::none;
  std::optional<double> deadline_;  // end of the stage, on the clock
  int passed_ = 0;                  // the last signal that stops a run
  int interrupts_ = 0;
  // By Meaning: the first process that ended so before the launcher asked any to end.
  std::array<std::optional<std::size_t>, 5> first_ = {};
  std::string warning_;
};

}  // namespace

SpawnResult spawn_local(const LocalSpawn& local, const Clock& clock) {
  const int port = free_port();
  const std::string token = random_token();
  std::vector<std::unique_ptr<RankOutput>> outputs;
  std::vector<SpawnedProcess> processes;
  for (int rank = 0; rank < local.ranks; ++rank) {
    SpawnedProcess process{.name = "rank " + std::to_string(rank), .command = local.command};
    process.command.environment = environment_of(std::move(process.command.environment),
                                                 local_place(rank, local.ranks, port, token));
    if (rank == 0) {
      process.results = local.results;
      process.output = local.errors;
    } else {
      outputs.push_back(std::make_unique<RankOutput>(
          local.log_folder.empty() ? RankOutput::anonymous(fs::temp_directory_path())
                                   : RankOutput::at(local.log_folder / output_name(rank))));
      process.output = outputs.back().get();
    }
    processes.push_back(std::move(process));
  }
  return spawn(processes, local.limits, clock);
}

SpawnResult with_restarts(const std::function<SpawnResult(int)>& attempt,
                          const Restarts& restarts) {
  std::set<std::string> failed;
  for (int i = 0;; ++i) {
    SpawnResult result = attempt(i);
    const bool worth_it = result.exit_code == static_cast<int>(ErrorKind::device);
    if (!worth_it || result.signal != 0 || i >= restarts.most) return result;
    const std::string gpu = restarts.failed_gpu();
    if (!gpu.empty() && !failed.insert(gpu).second) {
      result.message += (result.message.empty() ? "" : "\n") + gpu +
                        " has failed twice: not restarting; exclude it with --gpus, and look "
                        "for an Xid in dmesg";
      return result;
    }
    const std::string what = result.message.empty() ? "a rank failed" : result.message;
    restarts.tell(what + "\nstarting again from the last checkpoint (" + std::to_string(i + 1) +
                  " of " + std::to_string(restarts.most) + ")");
  }
}

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  // So few bytes arrive whole, or not at all.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    fail("cannot get random numbers from the system");
  }
  constexpr const char* kDigits = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

int free_port() {
  const int asked = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (asked < 0) fail("no port for the ranks to meet at: socket");
  const Descriptor closed_later({asked});
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(asked, plain, size) != 0 || ::getsockname(asked, plain, &size) != 0) {
    fail("no port for the ranks to meet at: bind");
  }
  return ntohs(address.sin_port);
}

SpawnResult spawn(const std::vector<SpawnedProcess>& processes, const SpawnLimits& limits,
                  const Clock& clock) {
  TY_CHECK(!processes.empty(), "there is a process to start");
  return SpawnWatch(processes, limits, clock).run();
}

}  // namespace trainyard
