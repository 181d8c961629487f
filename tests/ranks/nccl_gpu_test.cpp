// Conformance of NCCL on a GPU, with one rank and with several processes that share the GPU.
#include <doctest/doctest.h>

#include <deque>

#include "base/clock.h"
#include "conformance.h"
#include "device/cuda/cuda_device.h"
#include "gpu.h"
#include "rank_process.h"
#include "ranks/comm/nccl_ranks.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

void check_processes(int ranks) {
  std::deque<RankProgram> job;
  job.emplace_back("suite", 0, ranks, std::uint16_t{0});
  const std::uint16_t port = job.front().port();
  for (int rank = 1; rank < ranks; ++rank) job.emplace_back("suite", rank, ranks, port);
  for (int rank = 0; rank < ranks; ++rank) {
    RankProgram& process = job[static_cast<std::size_t>(rank)];
    CHECK(process.line() == "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + ": " +
                                std::to_string(checks_of_conformance(ranks)) + " checks, all well");
    CHECK(process.wait() == 0);
  }
}

}  // namespace

TEST_CASE("an NCCL group with one rank passes the conformance suite" *
          doctest::skip(test::no_gpu())) {
  const auto device = cuda::make_cuda_device(0);
  const SystemClock clock;
  const auto group = make_nccl_ranks({.library = TY_NCCL_LIBRARY,
                                      .device = device.get(),
                                      .clock = &clock,
                                      .share = [](std::span<std::byte>) {}});
  for (const std::string& breach : breaches_of(*group, *device)) FAIL_CHECK(breach);
}

TEST_CASE("two processes with NCCL on one GPU pass the conformance suite" *
          doctest::skip(test::no_gpu())) {
  check_processes(2);
}

TEST_CASE("four processes with NCCL on one GPU pass the conformance suite" *
          doctest::skip(test::no_gpu())) {
  check_processes(4);
}
