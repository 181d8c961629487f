#include <doctest/doctest.h>

#include <array>

#include "device/device.h"
#include "ranks/comm/communicator.h"

using namespace trainyard;

namespace {

/// Doubles what it sums, as a second rank with the same values would.
class Doubling final : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 1; }
  [[nodiscard]] int size() const override { return 2; }
  void all_reduce_sums(Queue&, std::span<const SumPart> parts) override {
    for (const SumPart& part : parts) {
      for (std::int64_t i = 0; i < part.count; ++i) static_cast<float*>(part.data)[i] *= 2;
      ++sums;
    }
  }
  void broadcast(Queue&, void*, std::size_t, int) override { ++others; }
  void all_gather(Queue&, const void*, std::size_t, void*) override { ++others; }
  void barrier() override { ++others; }
  void all_to_all(Queue&, const void*, std::size_t, void*) override { ++others; }
  [[nodiscard]] bool recordable() const override { return false; }
  [[nodiscard]] bool sums_in_tree() const override { return true; }

  int sums = 0, others = 0;
};

struct Measured {
  std::unique_ptr<Device> device = make_cpu_device();
  std::unique_ptr<Queue> queue = device->make_queue();
  Doubling ranks;
  TimedAllReduce sums;
  std::array<float, 3> values = {1, 2, 3};

  Measured() { CHECK(&sums.around(ranks) == &sums); }
  void sum_of(std::int64_t count) { sums.all_reduce_sum(*queue, values.data(), count, DType::f32); }
};

}  // namespace

TEST_CASE("all-reduces are made, and left out on request") {
  Measured measured;
  measured.sum_of(3);
  CHECK(measured.values == std::array<float, 3>{2, 4, 6});
  measured.sums.set_mode(TimedAllReduce::Mode::leave_out);
  measured.sum_of(3);
  CHECK(measured.values == std::array<float, 3>{2, 4, 6});
  CHECK(measured.sums.noted() == 0);
}

TEST_CASE("one of the noted all-reduces is made alone, and has a size") {
  Measured measured;
  measured.sums.set_mode(TimedAllReduce::Mode::note);
  measured.sum_of(1);
  measured.sum_of(2);
  REQUIRE(measured.sums.noted() == 2);
  CHECK(measured.sums.noted_parts(1).size() == 1);
  CHECK(measured.sums.noted_parts(1)[0].count == 2);
  CHECK(measured.values == std::array<float, 3>{4, 4, 3});
  measured.sums.make_noted(0);
  CHECK(measured.values == std::array<float, 3>{8, 4, 3});
}

TEST_CASE("noted all-reduces are made, and made again alone over zeros") {
  Measured measured;
  measured.sums.set_mode(TimedAllReduce::Mode::note);
  measured.sum_of(3);
  measured.sum_of(2);
  CHECK(measured.values == std::array<float, 3>{4, 8, 6});
  CHECK(measured.sums.noted() == 2);
  measured.sums.set_mode(TimedAllReduce::Mode::leave_out);
  measured.sums.make_noted();
  CHECK(measured.ranks.sums == 4);
  CHECK(measured.values == std::array<float, 3>{16, 32, 12});
  measured.sums.clear_noted();
  measured.sums.make_noted();
  measured.sums.wait();
  CHECK(measured.values == std::array<float, 3>{0, 0, 0});
}

TEST_CASE("everything but all-reduces is forwarded to the ranks") {
  Measured measured;
  measured.sums.set_mode(TimedAllReduce::Mode::leave_out);
  CHECK(measured.sums.rank() == 1);
  CHECK(measured.sums.size() == 2);
  measured.sums.broadcast(*measured.queue, measured.values.data(), 4, 0);
  measured.sums.all_gather(*measured.queue, measured.values.data(), 4, measured.values.data());
  measured.sums.barrier();
  measured.sums.all_to_all(*measured.queue, measured.values.data(), 2, measured.values.data());
  CHECK_FALSE(measured.sums.recordable());
  CHECK(measured.sums.sums_in_tree());
  CHECK(measured.ranks.others == 4);
}
