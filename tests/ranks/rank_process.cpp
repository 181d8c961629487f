#include "rank_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <vector>

namespace trainyard::testing {

namespace {

/// Starts the program with `output` as its stdout.
pid_t start(std::vector<std::string> words, int output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t process = -1;
  const int code =
      ::posix_spawn(&process, TY_COMM_RANK, &actions, nullptr, arguments.data(), ::environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw std::runtime_error("comm_rank cannot be started");
  return process;
}

}  // namespace

RankProgram::RankProgram(const std::string& work, int rank, int ranks, std::uint16_t port) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  output_ = Descriptor({ends[0]});
  const Descriptor writing({ends[1]});
  process_ = start({"comm_rank", work, std::to_string(rank), std::to_string(ranks), "127.0.0.1",
                    std::to_string(port), kRankToken},
                   ends[1]);
}

RankProgram::~RankProgram() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  wait();
}

std::string RankProgram::line() {
  std::array<char, 4096> chunk;
  while (true) {
    const std::size_t end = received_.find('\n');
    if (end != std::string::npos) {
      const std::string found = received_.substr(0, end);
      received_.erase(0, end + 1);
      return found;
    }
    const ssize_t got = ::read(output_.get().value, chunk.data(), chunk.size());
    if (got <= 0) return received_;
    received_.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

std::uint16_t RankProgram::port() {
  const std::string text = line();
  if (!text.starts_with("port ")) throw std::runtime_error("no port, but: " + text);
  return static_cast<std::uint16_t>(std::stoi(text.substr(5)));
}

void RankProgram::signal(int number) const { ::kill(process_, number); }

int RankProgram::wait() {
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace trainyard::testing
