// What the host calls for a batch on a GPU: one copy, one launch of a recording, and no wait.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "data/sets/synthetic.h"
#include "device/cuda/cuda_device.h"
#include "one_gpu.h"
#include "ranks/comm/communicator.h"
#include "runtime/control.h"
#include "train/evaluator.h"
#include "train/train_step.h"
#include "training_networks.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Calls of CUDA in some work, whose numbers must not depend on how much there is of it but by its
/// batches.
struct Calls {
  std::uint64_t copies = 0, fills = 0, launches = 0, waits = 0;
  bool operator==(const Calls&) const = default;
};

Calls calls_so_far() {
  return {.copies = standin::calls_made("cudaMemcpyAsync") + standin::calls_made("cudaMemcpy"),
          .fills = standin::calls_made("cudaMemsetAsync"),
          .launches = standin::calls_made("cudaGraphLaunch"),
          .waits = standin::calls_made("cudaStreamSynchronize") +
                   standin::calls_made("cudaDeviceSynchronize")};
}

template <class Work>
Calls calls_of(const Work& work) {
  const Calls before = calls_so_far();
  work();
  const Calls after = calls_so_far();
  return {.copies = after.copies - before.copies,
          .fills = after.fills - before.fills,
          .launches = after.launches - before.launches,
          .waits = after.waits - before.waits};
}

/// The first of two ranks, of which the other evaluates the same.
class FirstOfTwo final : public ForwardingCommunicator {
 public:
  explicit FirstOfTwo(Communicator& alone) : ForwardingCommunicator(alone) {}
  [[nodiscard]] int size() const override { return 2; }
  void all_gather(Queue&, const void* mine, std::size_t bytes, void* out) override {
    std::memcpy(out, mine, bytes);
    std::memcpy(static_cast<std::byte*>(out) + bytes, mine, bytes);
  }
};

constexpr std::int64_t kBatch = 4;

std::unique_ptr<Dataset> set_of(std::int64_t samples) {
  SyntheticOptions options;
  options.shape = {3, 9, 7};
  options.classes = 4;
  options.size = samples;
  return open_synthetic(options, 3);
}

/// A model on a GPU, with results that are read 16 steps late as in a run.
class Training {
 public:
  Training() { model_.initialize(7); }

  void train(std::int64_t steps) {
    for (std::int64_t step = 0; step < steps; ++step) {
      if (left_-- == 0) {
        feeder_.start(epoch_++);
        left_ = feeder_.batches_per_epoch() - 1;
      }
      step_.run([this]() -> const Batch& { return feeder_.next(); });
      if (step_.results().full()) static_cast<void>(step_.results().take_oldest());
    }
  }
  /// Totals of all its batches, as one rank of `ranks`.
  Totals evaluate(std::int64_t batches, Communicator& ranks) {
    const auto set = set_of(batches * kBatch * ranks.size());
    Feeder feeder(*set, pipeline_,
                  {.batch = kBatch, .shuffle = false, .train = false, .ranks = ranks.size()});
    Evaluator evaluator(model_, feeder, ranks);
    Totals totals;
    calls_ = calls_of([&] { totals = evaluator.run(); });
    return totals;
  }
  [[nodiscard]] const Calls& calls() const { return calls_; }

 private:
  OneGpu gpu_;
  std::unique_ptr<Optimizer> optimizer_ = make_optimizer("sgd", "{lr: 0.02, momentum: 0.9}");
  std::unique_ptr<Dataset> set_ = set_of(1000);
  Pipeline pipeline_{set_->image_shape(), {}, {}};
  Feeder feeder_{*set_, pipeline_, {.batch = kBatch}};
  Model model_{training_graph(kWideNetwork, kBatch),
               gpu_.compute(),
               {.target = cuda_target(Precision::bf16), .slots = 1}};
  TrainStep step_{model_, gpu_.ranks(), *optimizer_, nullptr, {.base = 0.02}, {.results = 16}};
  std::uint32_t epoch_ = 0;
  std::int64_t left_ = 0;
  Calls calls_;
};

}  // namespace

TEST_CASE("a training step is one copy and one launch of a recording, and the host does not wait") {
  Training training;
  training.train(32);  // records the step for each place of a batch
  // In 16 steps also the results of 16 are copied.
  CHECK(calls_of([&] { training.train(16); }) == Calls{.copies = 16 + 1, .launches = 16});
  CHECK(calls_of([&] { training.train(32); }) == Calls{.copies = 32 + 2, .launches = 32});
}

TEST_CASE("an evaluated batch is one copy and one launch, and the host waits once an evaluation") {
  Training training;
  const auto alone = make_single_communicator();
  static_cast<void>(training.evaluate(8, *alone));  // records
  for (const std::int64_t batches : {5, 21}) {
    static_cast<void>(training.evaluate(batches, *alone));
    const auto count = static_cast<std::uint64_t>(batches);
    CHECK(training.calls() ==
          Calls{.copies = count + 1, .fills = 1, .launches = count, .waits = 1});
  }
}

TEST_CASE("on several ranks too, whose batches each leave a row of results on the device") {
  Training training;
  const auto alone = make_single_communicator();
  FirstOfTwo two(*alone);
  const Totals once = training.evaluate(8, *alone);
  for (const std::int64_t batches : {5, 21}) {
    const Totals totals = training.evaluate(batches, two);
    CHECK(totals.samples == 2 * batches * kBatch);
    CHECK(totals.loss > 0);
    const auto count = static_cast<std::uint64_t>(batches);
    CHECK(training.calls() ==
          Calls{.copies = 2 * count + 1, .fills = count, .launches = count, .waits = 1});
  }
  CHECK(training.evaluate(8, *alone).loss == once.loss);
}

TEST_CASE("querying an event that is not done leaves no error for the next check") {
  const auto device = cuda::make_cuda_device(0);
  const auto queue = device->make_queue();
  const auto memory = device->allocate(16);
  const auto event = device->make_event();
  standin::set_idle(std::chrono::hours(1));
  queue->fill(memory->data(), std::byte{0}, 16);
  event->record(*queue);
  CHECK_FALSE(event->done());
  CHECK(cudaGetLastError() == cudaSuccess);
  queue->wait();
  CHECK(event->done());
  standin::set_idle(std::chrono::milliseconds(1));
}

TEST_CASE("an event whose work failed reports it") {
  const auto event = cuda::make_cuda_device(0)->make_event();
  standin::request_failures("cudaEventQuery=cudaErrorInvalidResourceHandle");
  CHECK_THROWS_AS(static_cast<void>(event->done()), Error);
  standin::request_failures("");
}
