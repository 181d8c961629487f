// Parts of a TrainStep alone: the learning-rate window and the ring of results.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "compute/executor.h"
#include "device/device.h"
#include "optim/update_launches.h"
#include "train/learning_rate_window.h"
#include "train/result_ring.h"

using namespace trainyard;

namespace {

struct Host {
  std::unique_ptr<Device> device = make_cpu_device();
  std::unique_ptr<Queue> queue = device->make_queue();
  std::unique_ptr<ExecutorFactory> executors = make_cpu_executors();
  std::unique_ptr<UpdateLaunches> launches = make_cpu_update_launches(1);
  [[nodiscard]] Compute compute() const { return {*device, *queue, *executors, *launches}; }
};

/// A rate that is the number of its step.
class Counting final : public Schedule {
 public:
  [[nodiscard]] std::string_view name() const override { return "counting"; }
  [[nodiscard]] double rate(std::int64_t step, const ScheduleContext&) const override {
    return static_cast<double>(step);
  }
};

/// Writes the row of step `step` as the device does.
void write_row(const ResultRing& ring, std::int64_t step) {
  double* const row = ring.rows() + step % ring.capacity() * ring.width();
  for (std::int64_t i = 0; i < ring.width(); ++i) row[i] = 0;
  row[ResultRow::rate] = static_cast<double>(step);
}

}  // namespace

TEST_CASE("the window holds the step's rate, and is refilled at its end and after a reset") {
  const Host host;
  const Counting schedule;
  LearningRateWindow window(host.compute(), &schedule, {});
  window.prepare(7);
  CHECK(window.data()->first == 7);
  CHECK(window.data()->rates[3] == 10);
  window.prepare(7 + RateWindow::kRates - 1);
  CHECK(window.data()->first == 7);
  window.prepare(7 + RateWindow::kRates);
  CHECK(window.data()->first == 7 + RateWindow::kRates);
  window.reset();
  window.prepare(2);
  CHECK(window.data()->first == 2);
}

TEST_CASE("without a schedule every step has the base rate") {
  const Host host;
  LearningRateWindow window(host.compute(), nullptr, {.base = 0.25});
  window.prepare(0);
  CHECK(window.data()->rates[RateWindow::kRates - 1] == 0.25);
}

TEST_CASE("a plateau multiplies the rates of the steps after it, within a window too") {
  const Host host;
  const Counting schedule;
  LearningRateWindow window(host.compute(), &schedule, {});
  window.prepare(6);
  window.follow({.factor = 0.5}, 4.5);
  window.prepare(8);
  CHECK(window.data()->first == 8);
  CHECK(window.data()->rates[0] == 4.5);  // not 4: the least rate
  CHECK(window.data()->rates[2] == 5);
  window.follow({.factor = 0.5, .waited = 3}, 4.5);  // the same rates
  window.prepare(9);
  CHECK(window.data()->first == 8);
  window.prepare(8 + RateWindow::kRates);
  CHECK(window.data()->rates[0] == 0.5 * (8 + RateWindow::kRates));
}

TEST_CASE("with several rows the oldest results are taken while the newest are written") {
  const Host host;
  ResultRing ring(host.compute(), ResultRow::loss + 1, 3);
  CHECK(ring.capacity() == 6);
  ring.start_at(4);
  std::vector<double> rates;
  for (std::int64_t step = 4; step < 16; ++step) {
    write_row(ring, step);
    ring.add(10 + step);
    CHECK(ring.pending() <= ring.capacity());
    if (!ring.full()) continue;
    for (const StepResult& result : ring.take_oldest()) {
      rates.push_back(result.rate);
      CHECK(result.totals.samples == 10 + static_cast<std::int64_t>(result.rate));
    }
    CHECK(ring.pending() == 3);
  }
  for (const StepResult& result : ring.take_all()) rates.push_back(result.rate);
  CHECK(rates == std::vector<double>{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(ring.pending() == 0);
}

TEST_CASE("with one row each result is taken at once") {
  const Host host;
  ResultRing ring(host.compute(), ResultRow::loss + 1, 1);
  CHECK(ring.capacity() == 1);
  for (std::int64_t step = 0; step < 3; ++step) {
    CHECK_FALSE(ring.full());
    write_row(ring, step);
    ring.add(1);
    REQUIRE(ring.full());
    CHECK(ring.take_oldest()[0].rate == static_cast<double>(step));
  }
}
