#include "conformance.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <mutex>

#include "base/half.h"
#include "ranks/comm/tree_sum.h"
#include "sequential_ranks.h"
#include "thread_ranks.h"
#include "tree_reference.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// The lines of all ranks with violations.
std::vector<std::string> breaches_with_gloo(StoreKind kind, int ranks) {
  std::mutex mutex;
  std::vector<std::string> all;
  const Outcomes outcomes = run_gloo(kind, ranks, [&](Communicator& group) {
    const auto device = make_cpu_device();
    const auto breaches = breaches_of(group, *device);
    const std::scoped_lock lock(mutex);
    all.insert(all.end(), breaches.begin(), breaches.end());
  });
  for (const std::string& outcome : outcomes) {
    if (!outcome.empty()) all.push_back(outcome);
  }
  return all;
}

/// The CPU device with recordings that do nothing.
class ForgetfulDevice final : public Device {
 public:
  [[nodiscard]] std::string name() const override { return "forgetful"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    return cpu_->allocate(bytes);
  }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) override {
    return cpu_->allocate_host(bytes);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override { return cpu_->make_queue(); }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return cpu_->make_event(); }
  [[nodiscard]] std::unique_ptr<Recording> record(Queue& queue, std::function<void()>) override {
    return cpu_->record(queue, [] {});
  }
  [[nodiscard]] std::size_t free_bytes() const override { return cpu_->free_bytes(); }

 private:
  std::unique_ptr<Device> cpu_ = make_cpu_device();
};

}  // namespace

TEST_CASE("a group of one passes the conformance suite") {
  const auto device = make_cpu_device();
  const auto group = make_single_communicator();
  for (const std::string& breach : breaches_of(*group, *device)) FAIL_CHECK(breach);
}

TEST_CASE("groups of Gloo pass the conformance suite") {
  for (const StoreKind kind : {StoreKind::memory, StoreKind::tcp}) {
    for (const int ranks : {1, 2, 3, 4, 5, 6, 8, 11}) {
      INFO(ranks, " ranks, store ", static_cast<int>(kind));
      for (const std::string& breach : breaches_with_gloo(kind, ranks)) FAIL_CHECK(breach);
    }
  }
}

TEST_CASE("sums in another order must be within their rounding and bit-identical on all ranks") {
  constexpr int kRanks = 4;
  for (const int summed : {kRanks, kRanks - 1}) {
    std::atomic<int> breaches{0};
    const Outcomes outcomes = run_gloo(StoreKind::memory, kRanks, [&](Communicator& group) {
      SequentialRanks sequential(group, summed);
      const auto device = make_cpu_device();
      breaches += static_cast<int>(breaches_of(sequential, *device).size());
    });
    CHECK(outcomes == Outcomes(kRanks));
    CHECK((breaches.load() == 0) == (summed == kRanks));
  }
}

TEST_CASE("an all-reduce that a replay leaves out is a violation") {
  ForgetfulDevice device;
  const std::vector<std::string> breaches = breaches_of(*make_single_communicator(), device);
  // For two sizes, in each run but the first.
  CHECK(breaches.size() == 2 * 3);
  for (const std::string& breach : breaches) {
    CHECK(breach.find("of a recorded sum") != std::string::npos);
  }
}

TEST_CASE("the sum tree has the documented order, and the order matters") {
  const std::array<float, 5> values{1e8F, 1.0F, -1e8F, 1.0F, 0.5F};
  const float left = values[0] + values[1];
  const float right = values[2] + values[3];
  const float written = (left + right) + values[4];
  CHECK(tree_sum_of<float>(values) == written);
  const float in_sequence = ((values[0] + values[1]) + values[2]) + values[3] + values[4];
  CHECK(written != in_sequence);

  std::array<const void*, 5> inputs;
  for (std::size_t i = 0; i < 5; ++i) inputs[i] = &values[i];
  float sum = 0;
  TreeSum().run(inputs, &sum, 1, DType::f32);
  CHECK(sum == written);
}

TEST_CASE("16-bit sums are rounded once") {
  // 1 + 2^-11 rounds back to 1 in f16; three of them in a row remain if summed in f32 first.
  const std::array<Float16, 4> values{Float16(1.0F), Float16(0x1p-11F), Float16(0x1p-11F),
                                      Float16(0x1p-11F)};
  std::array<const void*, 4> inputs;
  for (std::size_t i = 0; i < 4; ++i) inputs[i] = &values[i];
  Float16 sum;
  TreeSum().run(inputs, &sum, 1, DType::f16);
  CHECK(static_cast<float>(sum) == static_cast<float>(Float16(1.0F + 0x3p-11F)));
  CHECK(static_cast<float>(sum) > 1.0F);
}

TEST_CASE("a barrier returns when every rank has called it") {
  constexpr int kRanks = 4;
  constexpr int kRounds = 200;
  std::atomic<int> arrived{0};
  std::atomic<int> early{0};
  const Outcomes outcomes = run_gloo(StoreKind::memory, kRanks, [&](Communicator& group) {
    for (int round = 1; round <= kRounds; ++round) {
      ++arrived;
      group.barrier();
      if (arrived.load() < kRanks * round) ++early;
    }
  });
  CHECK(outcomes == Outcomes(kRanks));
  CHECK(early.load() == 0);
  CHECK(arrived.load() == kRanks * kRounds);
}

TEST_CASE("sums are bit-identical however the ranks are delayed") {
  constexpr int kRanks = 3;
  std::vector<std::vector<float>> sums;
  std::mutex mutex;
  for (int slow = 0; slow < kRanks; ++slow) {
    run_gloo(StoreKind::memory, kRanks, [&](Communicator& group) {
      const auto queue = make_cpu_device()->make_queue();
      std::vector<float> mine(5001);
      for (std::size_t i = 0; i < mine.size(); ++i) {
        mine[i] = 1.0F / static_cast<float>(i + 1 + 17 * static_cast<std::size_t>(group.rank()));
      }
      // The slow rank is last: the others' messages are all in flight before it begins.
      if (group.rank() == slow)
        static_cast<void>(breaches_of(*make_single_communicator(), *make_cpu_device()));
      group.all_reduce_sum(*queue, mine.data(), 5001, DType::f32);
      const std::scoped_lock lock(mutex);
      sums.push_back(mine);
    });
  }
  REQUIRE(sums.size() == 9);
  for (const auto& sum : sums) CHECK(sum == sums.front());
}
