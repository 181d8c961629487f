// Evaluation by one rank and by several.
#include "train/evaluator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "../ranks/thread_ranks.h"
#include "base/error.h"
#include "base/parallel.h"
#include "data/sets/synthetic.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr const char* kNetwork = R"(
input: [1, 6, 6]
layers: [conv: {filters: 4, kernel: 3}, bn, relu, dense: 4, softmax]
)";

struct Evaluated {
  Totals totals;
  std::vector<float> outputs;  // [samples, 4]
};

/// What each rank gets.
/// `fed`: the number of samples, chosen at random, that are evaluated; 0: all, in order.
std::vector<Evaluated> evaluate_on(int ranks, std::int64_t samples, std::int64_t batch,
                                   std::int64_t fed = 0) {
  std::vector<Evaluated> all(static_cast<std::size_t>(ranks));
  const auto work = [&](Communicator& communicator) {
    set_threads(1);
    SyntheticOptions options;
    options.shape = {1, 6, 6};
    options.classes = 4;
    options.size = samples;
    const auto set = open_synthetic(options, 5);
    Pipeline pipeline({1, 6, 6}, {}, {});
    const auto device = make_cpu_device();
    const auto queue = device->make_queue();
    const auto launches = make_cpu_update_launches(1);
    const auto executors = make_cpu_executors();
    Model model(training_graph(kNetwork, batch), {*device, *queue, *executors, *launches},
                {.target = cpu_target(processor_has_avx512()), .kept_outputs = samples});
    model.initialize(3);
    Feeder feeder(*set, pipeline,
                  {.batch = batch,
                   .shuffle = fed > 0,
                   .train = false,
                   .rank = communicator.rank(),
                   .ranks = communicator.size(),
                   .samples = fed});
    Evaluated& own = all[static_cast<std::size_t>(communicator.rank())];
    Evaluator evaluator(model, feeder, communicator);
    own.totals = evaluator.run();
    const Totals again = evaluator.run();  // every evaluation begins anew
    if (again.loss != own.totals.loss || again.samples != own.totals.samples) {
      throw Error(ErrorKind::bug, "another result");
    }
    own.outputs = take_outputs(model, communicator);
  };
  const testing::Outcomes outcomes = testing::run_gloo(testing::StoreKind::memory, ranks, work);
  CHECK(outcomes == testing::Outcomes(static_cast<std::size_t>(ranks)));
  return all;
}

/// Samples whose largest output is their label's, as the program counts them.
double right_of(const std::vector<float>& outputs, std::int64_t samples) {
  SyntheticOptions options;
  options.shape = {1, 6, 6};
  options.classes = 4;
  options.size = samples;
  const auto set = open_synthetic(options, 5);
  double right = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto row = std::span(outputs).subspan(static_cast<std::size_t>(4 * i), 4);
    if (std::ranges::max_element(row) - row.begin() == set->label(i)) ++right;
  }
  return right;
}

void check_ranks_agree(int ranks, std::int64_t samples, std::int64_t batch) {
  CAPTURE(ranks);
  CAPTURE(samples);
  const Evaluated alone = evaluate_on(1, samples, batch)[0];
  CHECK(alone.totals.samples == samples);
  CHECK(alone.totals.loss > 0);
  CHECK(right_of(alone.outputs, samples) == alone.totals.metrics[0]);
  for (const Evaluated& rank : evaluate_on(ranks, samples, batch)) {
    CHECK(rank.totals.samples == samples);
    CHECK(rank.totals.loss == alone.totals.loss);
    CHECK(rank.totals.metrics == alone.totals.metrics);
    CHECK(rank.outputs == alone.outputs);
  }
}

}  // namespace

TEST_CASE("10,007 samples on 3 ranks give the loss and accuracy of one rank") {
  check_ranks_agree(3, 10'007, 32);
  const Totals alone = evaluate_on(1, 10'007, 32)[0].totals;
  REQUIRE(alone.metrics.size() == 1);
  CHECK(alone.metrics[0] == std::floor(alone.metrics[0]));
  CHECK(alone.metrics[0] > 0);
  CHECK(alone.metrics[0] < 10'007);
}

TEST_CASE("101 chosen samples on 3 ranks give the loss and accuracy of one rank") {
  const Totals alone = evaluate_on(1, 300, 8, 101)[0].totals;
  CHECK(alone.samples == 101);
  CHECK(alone.loss > 0);
  for (const Evaluated& rank : evaluate_on(3, 300, 8, 101)) {
    CHECK(rank.totals.samples == 101);
    CHECK(rank.totals.loss == alone.loss);
    CHECK(rank.totals.metrics == alone.metrics);
  }
}

TEST_CASE("ranks without a batch of their own evaluate only padding, which does not count") {
  check_ranks_agree(2, 5, 4);  // two batches
  check_ranks_agree(4, 5, 4);  // for two of the four
  check_ranks_agree(3, 1, 4);
}

TEST_CASE("the feeder of several ranks is not evaluated as one of a single rank") {
  const auto set = open_synthetic({}, 5);
  Pipeline pipeline(set->image_shape(), {}, {});
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  const auto launches = make_cpu_update_launches(1);
  const auto executors = make_reference_executors();
  Model model(training_graph("{input: [3, 32, 32], layers: [dense: 10, softmax]}", 4),
              {*device, *queue, *executors, *launches},
              {.target = reference_target(Precision::fp32)});
  Feeder feeder(*set, pipeline, {.batch = 4, .shuffle = false, .train = false, .ranks = 2});
  const auto one = make_single_communicator();
  CHECK_THROWS_AS(Evaluator(model, feeder, *one), Error);
}
