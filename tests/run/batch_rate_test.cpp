// `lr_scaling` of a run file: what it can be combined with, its effect on a run's learning rates,
// and the warning without it.
#include <doctest/doctest.h>

#include <string>

#include "run/config/batch_numbers.h"
#include "run/session/session.h"
#include "run_text.h"

using namespace trainyard;
using test::refusal;

namespace {

RunConfig read_rated(const std::string& batch, const std::string& scaling,
                     const std::string& schedule = "constant") {
  return test::read_run("name: tiny\nbatch: " + batch + "\n" + scaling + "\nschedule: " + schedule +
                        R"(
network:
  input: [3, 8, 8]
  layers: [conv: {filters: 4, kernel: 3}, relu, dense: 4]
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 100}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 18, split: test}
loss: cross_entropy
optimizer: {sgd: {lr: 0.1}}
accumulate: 2
epochs: 20
)");
}

}  // namespace

TEST_CASE("the reference batch is that of one rank unless given") {
  CHECK(rate_factor(read_rated("{per_gpu: 8}", "lr_scaling: linear"), 64) == 4);
  CHECK(rate_factor(read_rated("{per_gpu: 8}", "lr_scaling: sqrt"), 64) == 2);
  CHECK(rate_factor(read_rated("{per_gpu: 8}", "lr_scaling: {linear: 128}"), 64) == 0.5);
  CHECK(rate_factor(read_rated("{total: 64}", "lr_scaling: {linear: {batch: 32}}"), 64) == 2);
  CHECK(rate_factor(read_rated("{per_gpu: 8}", "lr_scaling: none"), 64) == 1);
  CHECK(rate_factor(read_rated("{per_gpu: 8}", ""), 64) == 1);
}

TEST_CASE("a session's learning rates are scaled") {
  RankGroup alone{{}};
  const Session session(
      read_rated("{per_gpu: 8}", "lr_scaling: {linear: {batch: 4, warmup_epochs: 2}}"),
      {.threads = 1}, nullptr, alone);
  REQUIRE(session.batch().global == 16);
  const ScheduleContext context{0.1, 20 * session.batch().steps, session.batch().steps};
  const Schedule& schedule = *session.schedule();
  CHECK(schedule.rate(0, context) == 0.1);
  CHECK(schedule.rate(2 * session.batch().steps, context) == doctest::Approx(0.4).epsilon(1e-15));
  CHECK(session.config().schedule->rate(2 * session.batch().steps, context) == 0.1);
}

TEST_CASE("a rule that cannot know its reference batch is refused") {
  CHECK(refusal([] { (void)read_rated("{total: 64}", "lr_scaling: linear"); }) ==
        "3:13: 'linear' requires the batch that the learning rate was chosen for, which "
        "'batch.total' does not give: {linear: {batch: 64}}");
  CHECK(refusal([] { (void)read_rated("{total: 64}", "lr_scaling: none"); }) == "accepted");
}

TEST_CASE("two warm-ups are refused") {
  const std::string warm = "{constant: {warmup: {epochs: 1}}}";
  CHECK(refusal([&] {
          (void)read_rated("{per_gpu: 8}", "lr_scaling: {sqrt: {warmup_epochs: 2}}", warm);
        }) == "3:13: both 'schedule' and 'sqrt' warm up; leave out one of the two");
  CHECK(refusal([&] { (void)read_rated("{per_gpu: 8}", "lr_scaling: sqrt", warm); }) == "accepted");
}

TEST_CASE("a batch that grew with the ranks gives a warning unless the run sets lr_scaling") {
  CHECK(
      rate_warning(read_rated("{per_gpu: 8}", ""), 4, 64) ==
      "the global batch 64 is 4 times that of one rank, but the learning rate is unchanged: an "
      "epoch has 4 times fewer steps, which often costs accuracy; 'lr_scaling: linear' multiplies "
      "the learning rate by 4 after a warm-up, 'lr_scaling: none' states that this is intended");
  CHECK(rate_warning(read_rated("{per_gpu: 8}", ""), 1, 16).empty());
  CHECK(rate_warning(read_rated("{per_gpu: 8}", "lr_scaling: none"), 4, 64).empty());
  CHECK(rate_warning(read_rated("{per_gpu: 8}", "lr_scaling: linear"), 4, 64).empty());
  CHECK(rate_warning(read_rated("{total: 64}", ""), 4, 64).empty());
}
