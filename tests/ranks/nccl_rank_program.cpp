// One NCCL rank as a process: the conformance suite on GPU 0, which all its ranks share.
//
//   comm_nccl_rank suite RANK RANKS HOST PORT TOKEN
//
// Like comm_rank (rank_program.cpp). NCCL refuses two ranks on one GPU of a host, so each process
// pretends to be a separate host; they connect over the loopback interface. For tests only, and
// slow.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "conformance.h"
#include "device/cuda/cuda_device.h"
#include "ranks/comm/gloo_communicator.h"
#include "ranks/comm/nccl_ranks.h"
#include "ranks/rendezvous/store_server.h"

using namespace trainyard;

namespace {

constexpr Milliseconds kPatience(120'000);

void be_a_host(const std::string& rank) {
  setenv("NCCL_HOSTID", ("host of rank " + rank).c_str(), 1);
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  setenv("NCCL_IB_DISABLE", "1", 1);
  setenv("NCCL_MNNVL_ENABLE", "0", 1);
}

/// The lines of violations.
std::vector<std::string> examine(int rank, int ranks, Store& store) {
  const auto hosts = make_gloo_communicator(rank, ranks, store, {.address = "127.0.0.1"});
  const auto host_queue = make_cpu_device()->make_queue();
  const auto device = cuda::make_cuda_device(0);
  const SystemClock clock;
  const auto group = make_nccl_ranks(
      {.library = TY_NCCL_LIBRARY,
       .rank = rank,
       .ranks = ranks,
       .device = device.get(),
       .clock = &clock,
       .share =
           [&](std::span<std::byte> id) { hosts->broadcast(*host_queue, id.data(), id.size(), 0); },
       .limit = kPatience});
  const std::vector<std::string> breaches = testing::breaches_of(*group, *device);
  hosts->barrier();
  return breaches;
}

int run(const std::vector<std::string>& words) {
  const int rank = std::stoi(words.at(2)), ranks = std::stoi(words.at(3));
  be_a_host(words[2]);
  StoreAddress store{{words.at(4), static_cast<std::uint16_t>(std::stoi(words.at(5)))},
                     words.at(6)};
  std::optional<StoreServer> server;
  if (rank == 0) {
    server.emplace(
        StoreServerOptions{.endpoint = store.endpoint, .token = store.token, .ranks = ranks});
    store.endpoint.port = server->port();
    std::printf("port %d\n", server->port());
    std::fflush(stdout);
  }
  const auto connection = connect_to_store(store, kPatience);
  const std::vector<std::string> breaches = examine(rank, ranks, *connection);
  for (const std::string& breach : breaches) std::printf("%s\n", breach.c_str());
  if (!breaches.empty()) return 1;
  std::printf("rank %d of %d: %d checks, all well\n", rank, ranks,
              testing::checks_of_conformance(ranks));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run({words, words + count});
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
