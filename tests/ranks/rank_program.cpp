// One rank as a process: the conformance suite over Gloo and a TCP store, and ranks that a test
// kills. By hand, one per terminal, or under mpirun, which numbers them:
//
//   comm_rank suite RANK RANKS HOST PORT TOKEN [ADDRESS]
//   mpirun -n 4 comm_rank suite - - 127.0.0.1 29500 secret
//
// The first argument is one of
//   suite  the conformance suite; prints "rank R of N: C checks, all well" and ends with 0, or a
//          line for each violation and 1
//   idle   joins the watchdog, prints "ready" and does nothing
//   sums   joins the watchdog and sums over all ranks forever
//   shared-suite, shared-sums  the same, with sums through shared memory
// HOST is that of rank 0, ADDRESS where the others reach this rank: HOST if left out. Rank 0 serves
// the store; at port 0 it takes a free one and prints "port P". A failure of another rank is
// printed, and the process ends with its exit code, even if it is stuck.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "conformance.h"
#include "ranks/comm/gloo_communicator.h"
#include "ranks/comm/shared_memory.h"
#include "ranks/comm/shared_ranks.h"
#include "ranks/rendezvous/socket.h"
#include "ranks/rendezvous/store_server.h"
#include "ranks/rendezvous/watchdog.h"

using namespace trainyard;

namespace {

constexpr Milliseconds kPatience(60'000);
constexpr Operation kSum{"all_reduce", true};
constexpr Operation kIdle{"idle"};

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// A number from the command line; "-": mpirun's value.
int number_of(const std::string& text, const char* of_mpirun) {
  const char* const given = text == "-" ? std::getenv(of_mpirun) : text.c_str();
  const auto number = given != nullptr ? parse_integer(given) : std::nullopt;
  if (!number) {
    throw Error(ErrorKind::command_line,
                "'" + text + "' is not a number, and " + of_mpirun + " does not give one");
  }
  return static_cast<int>(*number);
}

struct RankOptions {
  bool share = false;
  int rank, ranks;
  StoreAddress store;
  std::string address;
};

WatchdogOptions watch_options(const RankOptions& options) {
  return {.store = options.store,
          .rank = options.rank,
          .host = "host" + std::to_string(options.rank),
          .interval = Milliseconds(50),
          .silence = Milliseconds(1'000),
          .connect = kPatience};
}

/// From the watchdog's thread, whatever the other threads do.
[[noreturn]] void end_with(const Failure& failure) {
  say("failure: " + message_of(failure));
  ::_exit(failure.exit_code);
}

std::unique_ptr<Communicator> make_group(const RankOptions& options) {
  const auto store = connect_to_store(options.store, kPatience);
  const std::string host = "host" + std::to_string(options.rank);
  auto gloo = make_gloo_communicator(
      options.rank, options.ranks, *store,
      {.address = options.address, .host = host, .connect = kPatience, .limit = kPatience});
  if (!options.share) return gloo;
  const Communicator* const sockets = gloo.get();
  auto shared = share_sums(std::move(gloo), {host, own_machine(), kPatience});
  if (shared.get() == sockets) throw Error(ErrorKind::device, "the ranks cannot share memory");
  return shared;
}

int run_suite(const RankOptions& options, Watchdog& watchdog) {
  const auto device = make_cpu_device();
  const auto group = make_group(options);
  const std::vector<std::string> breaches = testing::breaches_of(*group, *device);
  for (const std::string& breach : breaches) say(breach);
  if (!watchdog.sign_off(kPatience)) say("no sign-off");
  if (!breaches.empty()) return 1;
  say("rank " + std::to_string(options.rank) + " of " + std::to_string(options.ranks) + ": " +
      std::to_string(testing::checks_of_conformance(options.ranks)) + " checks, all well");
  return 0;
}

int run_idle(Watchdog& watchdog) {
  watchdog.progress(5, kIdle);
  say("ready");
  while (true) ::pause();
}

int run_sums(const RankOptions& options, Watchdog& watchdog) {
  const auto group = make_group(options);
  const auto queue = make_cpu_device()->make_queue();
  std::vector<float> values(100'000, 0.0F);
  for (std::int64_t step = 1;; ++step) {
    watchdog.progress(step, kSum);
    try {
      group->all_reduce_sum(*queue, values.data(), 100'000, DType::f32);
    } catch (const Error& error) {
      const Failure failure = watchdog.report(error.what(), error.exit_code(), true, kPatience);
      say("failure: " + message_of(failure));
      return failure.exit_code;
    }
    if (step == 3) say("ready");
  }
}

int run(std::string work, RankOptions options) {
  constexpr std::string_view kShared = "shared-";
  options.share = work.starts_with(kShared);
  if (options.share) work.erase(0, kShared.size());
  std::optional<StoreServer> server;
  if (options.rank == 0) {
    server.emplace(StoreServerOptions{.endpoint = options.store.endpoint,
                                      .token = options.store.token,
                                      .ranks = options.ranks,
                                      .watchdog = {.silence = Milliseconds(1'000)}});
    options.store.endpoint.port = server->port();
    say("port " + std::to_string(server->port()));
  }
  Watchdog watchdog(watch_options(options), end_with);
  if (work == "suite") return run_suite(options, watchdog);
  return work == "idle" ? run_idle(watchdog) : run_sums(options, watchdog);
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() != 6 && words.size() != 7) {
    say("comm_rank [shared-]suite|idle|[shared-]sums RANK RANKS HOST PORT TOKEN [ADDRESS]");
    return 2;
  }
  try {
    const auto port = static_cast<std::uint16_t>(number_of(words[4], "PORT"));
    return run(words[0], {.rank = number_of(words[1], "OMPI_COMM_WORLD_RANK"),
                          .ranks = number_of(words[2], "OMPI_COMM_WORLD_SIZE"),
                          .store = {.endpoint = {words[3], port}, .token = words[5]},
                          .address = words.size() == 7 ? words[6] : words[3]});
  } catch (const Error& error) {
    say(error.what());
    return error.exit_code();
  }
}
