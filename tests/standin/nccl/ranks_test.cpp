// The program's NCCL ranks (ranks/comm/nccl_ranks.h) on the stand-ins: threads with a GPU each.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <future>

#include "base/clock.h"
#include "base/error.h"
#include "conformance.h"
#include "device/cuda/cuda_device.h"
#include "ranks/comm/nccl_ranks.h"
#include "thread_ranks.h"

namespace trainyard::testing {
namespace {

struct Size {
  int ranks = 2;
  int gpus = 2;
  std::chrono::milliseconds limit{60'000};
};

/// Runs work(communicator, its device) on ranks that have joined; returns what each threw.
Outcomes run_ranks(Size size, const std::function<void(Communicator&, Device&)>& work) {
  std::promise<std::vector<std::byte>> promise;
  const std::shared_future<std::vector<std::byte>> id = promise.get_future().share();
  const SystemClock clock;
  return run_threads(size.ranks, [&](int rank) {
    const auto device = cuda::make_cuda_device(rank % size.gpus);
    REQUIRE(cudaSetDevice(rank % size.gpus) == cudaSuccess);
    const auto group = make_nccl_ranks({.library = TY_NCCL_LIBRARY,
                                        .rank = rank,
                                        .ranks = size.ranks,
                                        .device = device.get(),
                                        .clock = &clock,
                                        .share =
                                            [&](std::span<std::byte> bytes) {
                                              if (rank == 0)
                                                promise.set_value({bytes.begin(), bytes.end()});
                                              std::ranges::copy(id.get(), bytes.begin());
                                            },
                                        .limit = size.limit});
    work(*group, *device);
  });
}

const Outcomes kWell = {"", ""};

TEST_CASE("threads with a GPU each pass the conformance suite") {
  CHECK(run_ranks({}, [](Communicator& group, Device& device) {
          for (const std::string& breach : breaches_of(group, device)) FAIL_CHECK(breach);
        }) == kWell);
}

TEST_CASE("sums of one call are one node of a recording, whatever their types") {
  CHECK(run_ranks({}, [](Communicator& group, Device& device) {
          const auto queue = device.make_high_priority_queue();
          const auto floats = device.allocate(64 * sizeof(float));
          const auto doubles = device.allocate(8 * sizeof(double));
          const SumPart parts[] = {{floats->data(), 64, DType::f32},
                                   {floats->data(), 0, DType::bf16},
                                   {doubles->data(), 8, DType::f64}};
          const auto recording =
              device.record(*queue, [&] { group.all_reduce_sums(*queue, parts); });
          CHECK(recording->nodes() == 1);
          const std::vector<double> ones(8, 1.0);
          queue->fill(floats->data(), std::byte{0}, floats->bytes());
          queue->copy_from_host(doubles->data(), ones.data(), doubles->bytes());
          recording->replay();
          std::vector<double> sums(8);
          queue->copy_to_host(sums.data(), doubles->data(), doubles->bytes());
          queue->wait();
          CHECK(sums == std::vector<double>(8, 2.0));
        }) == kWell);
}

TEST_CASE(
    "a low-priority queue has the least priority of its GPU, a high-priority one the greatest") {
  const auto device = cuda::make_cuda_device(0);
  int least = 1, greatest = 1, usual = 1, high = 1, low = 1;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(greatest < least);
  const auto one = device->make_queue(), other = device->make_high_priority_queue();
  const auto last = device->make_low_priority_queue();
  CHECK(cudaStreamGetPriority(cuda::stream_of(*one), &usual) == cudaSuccess);
  CHECK(cudaStreamGetPriority(cuda::stream_of(*other), &high) == cudaSuccess);
  CHECK(cudaStreamGetPriority(cuda::stream_of(*last), &low) == cudaSuccess);
  CHECK(low == least);
  CHECK(usual < least);
  CHECK(usual > greatest);
  CHECK(high == greatest);
}

TEST_CASE("a rank whose peer does not arrive ends at its limit, and leaves its GPU free") {
  const Outcomes outcomes =
      run_ranks({.limit = std::chrono::milliseconds(300)}, [](Communicator& group, Device& device) {
        if (group.rank() == 1) return;
        const auto queue = device.make_queue();
        const auto data = device.allocate(64);
        try {
          group.barrier();
        } catch (const Error&) {
          group.give_up();
          // Work that waited for the other rank is gone, or this would wait forever.
          queue->fill(data->data(), std::byte{0}, data->bytes());
          queue->wait();
          throw;
        }
      });
  CHECK(
      outcomes[0] ==
      "rank 0: NCCL: barrier: not done after 0.3 s; another rank has died, is stuck, or cannot be "
      "reached");
  CHECK(outcomes[1] == "");
}

TEST_CASE("one GPU for two ranks is refused with NCCL's text") {
  const Outcomes outcomes = run_ranks({.gpus = 1}, [](Communicator&, Device&) {});
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CHECK(outcomes[rank].starts_with("rank " + std::to_string(rank) +
                                     ": NCCL: joining 2 ranks: invalid usage (run with "
                                     "NCCL_DEBUG=WARN for details) (Duplicate GPU detected : "));
  }
}

TEST_CASE("all-reduces of different sizes are not done, until a rank gives up") {
  const Outcomes outcomes =
      run_ranks({.limit = std::chrono::milliseconds(300)}, [](Communicator& group, Device& device) {
        const auto queue = device.make_queue();
        const auto data = device.allocate(64);
        queue->fill(data->data(), std::byte{0}, data->bytes());
        group.all_reduce_sum(*queue, data->data(), 4 + group.rank(), DType::f32);
        try {
          group.barrier();
        } catch (const Error&) {
          group.give_up();
          queue->wait();
          throw;
        }
      });
  for (const std::string& outcome : outcomes) {
    CHECK(outcome.find("NCCL: barrier: not done after 0.3 s") != std::string::npos);
  }
}

}  // namespace
}  // namespace trainyard::testing
