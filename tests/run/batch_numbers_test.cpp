// The batch of a run in numbers.
#include "run/config/batch_numbers.h"

#include <doctest/doctest.h>

#include "run_text.h"

using namespace trainyard;
using test::refusal;

namespace {

RunConfig with_batch(const BatchConfig& batch, std::int64_t accumulate = 1) {
  RunConfig run;
  run.batch = batch;
  run.accumulate = accumulate;
  return run;
}

}  // namespace

TEST_CASE("a batch per GPU is multiplied by ranks and micro-batches") {
  const BatchNumbers numbers = batch_numbers(with_batch({.per_gpu = 8}, 3), 4, 1000);
  CHECK(numbers.replica == 8);
  CHECK(numbers.ranks == 4);
  CHECK(numbers.global == 96);
  CHECK(numbers.steps == 10);
  CHECK(numbers.dropped == 40);
}

TEST_CASE("a run of a part of an epoch, or of steps, ends within its last epoch") {
  RunConfig run = with_batch({.per_gpu = 100});
  const auto numbers = [&](const RunLength& length) {
    run.length = length;
    const BatchNumbers batch = batch_numbers(run, 1, 1000);
    return std::pair{batch.epochs, batch.all_steps};
  };
  using Expected = std::pair<std::int64_t, std::int64_t>;
  CHECK(numbers({.epochs = 3}) == Expected{3, 30});
  CHECK(numbers({.epochs = 9.9}) == Expected{10, 99});  // 9.9 * 10 is above 99
  CHECK(numbers({.epochs = 2.41}) == Expected{3, 25});  // a part of a step is a step
  CHECK(numbers({.epochs = 0.01}) == Expected{1, 1});
  CHECK(numbers({.steps = 30}) == Expected{3, 30});
  CHECK(numbers({.steps = 31}) == Expected{4, 31});
}

TEST_CASE("a total is divided by ranks and micro-batches") {
  const BatchNumbers numbers = batch_numbers(with_batch({.total = 96}, 3), 4, 1000);
  CHECK(numbers.replica == 8);
  CHECK(numbers.global == 96);
  CHECK(numbers.steps == 10);
  CHECK(numbers.dropped == 40);
}

TEST_CASE("with shards only the number of ranks depends on the number of ranks") {
  const RunConfig run = with_batch({.total = 96, .shards = 16}, 3);
  for (const std::int64_t ranks : {1, 2, 4, 8, 16}) {
    const BatchNumbers numbers = batch_numbers(run, ranks, 1000);
    CHECK(numbers.replica == 2);
    CHECK(numbers.ranks == ranks);
    CHECK(numbers.global == 96);
    CHECK(numbers.steps == 10);
    CHECK(numbers.dropped == 40);
  }
}

TEST_CASE("a total that is not divisible is refused") {
  CHECK(refusal([] { (void)replica_batch(with_batch({.total = 96}, 5), 4); }) ==
        "batch.total 96 is not divisible by 20 (ranks x accumulate); choose a multiple of it");
}

TEST_CASE("samples that fill one step suffice") {
  const RunConfig run = with_batch({.per_gpu = 8}, 2);
  CHECK(batch_numbers(run, 2, 32).steps == 1);
  CHECK(batch_numbers(run, 2, 32).dropped == 0);
  CHECK(refusal([&] { (void)batch_numbers(run, 2, 31); }) ==
        "the training split has 31 samples, fewer than one global batch of 32; use a smaller "
        "batch");
}

TEST_CASE("settings that a run cannot have are refused with what they may be") {
  const auto refused = [](const std::string& run, const char* setting) {
    return refusal([&] { (void)test::read_run(run, {setting}); });
  };
  std::string unsized = test::kTinyRun;
  unsized.replace(unsized.find("per_gpu: 8"), 10, "remainder: drop");
  CHECK(refused(unsized, "seed=1").find("'batch' requires either 'per_gpu' or 'total'") !=
        std::string::npos);
  const std::string twice = std::string(test::kTinyRun) + "steps: 5\n";
  CHECK(refused(twice, "seed=1")
            .find("'epochs' and 'steps' exclude each other; remove one of them") !=
        std::string::npos);
  for (const auto& [setting, message] :
       {std::pair{"loss_scale=1000", "'start' must be a power of two, found 1000"},
        {"checkpoint.every=often",
         "'every' must be a number of epochs or steps, such as '1 epoch' or '500 steps', found "
         "'often'"},
        {"train_eval=500 steps",
         "'every' must be a number of epochs, such as '5 epochs', found '500 steps'"},
        {"epochs=0", "'epochs' must be a number above 0 and at most 1e+09, found number 0"},
        {"steps=0", "'steps' must be a whole number of at least 1, found number 0"}}) {
    CAPTURE(setting);
    CHECK(refused(test::kTinyRun, setting).find(message) != std::string::npos);
  }
}
