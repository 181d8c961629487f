#include "ranks/spawn/spawn.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <set>
#include <system_error>

#include "base/error.h"

namespace trainyard {
namespace {

[[noreturn]] void fail(const std::string& doing) {
  throw Error(ErrorKind::device, doing + ": " + std::generic_category().message(errno));
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
          local.log_folder.empty() ? RankOutput::anonymous(std::filesystem::temp_directory_path())
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

}  // namespace trainyard
