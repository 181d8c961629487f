// The order of the passes of a plan.
#include "plan/passes.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

using namespace trainyard;

namespace {

struct NamedPass {
  std::string name;
  std::function<void(Plan&)> run;
};

/// Passes that change a plan, in their order.
const std::vector<NamedPass> kPasses = {
    {"cancel_biases", [](Plan& plan) { cancel_biases(plan, {}); }},
    {"differentiate", [](Plan& plan) { differentiate(plan, -1, {}); }},
    {"absorb_relus", absorb_relus},
    {"join_loss", [](Plan& plan) { join_loss(plan, -1); }},
    {"fold_accumulations", fold_accumulations},
    {"recompute_outputs", recompute_outputs},
    {"unpack_gradients", [](Plan& plan) { unpack_gradients(plan, {}); }},
    {"join_siblings", join_siblings},
    {"use_side_queue", use_side_queue},
    {"complete", [](Plan& plan) { complete(plan, {}); }},
};

/// What running a pass again after `earlier` ones says; "" if it runs.
std::string refusal(const NamedPass& pass, Plan& plan) {
  try {
    pass.run(plan);
    return "";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::bug);
    return error.what();
  }
}

}  // namespace

TEST_CASE("the passes of a plan run in one order, where some may be left out") {
  for (std::size_t left_out = 0; left_out <= kPasses.size(); ++left_out) {
    Plan plan;
    for (std::size_t i = 0; i < kPasses.size(); ++i) {
      if (i != left_out) CHECK(refusal(kPasses[i], plan) == "");
    }
  }
}

TEST_CASE("a pass of a plan after a later one, or twice, is a bug that names both") {
  for (std::size_t late = 0; late < kPasses.size(); ++late) {
    for (std::size_t early = 0; early <= late; ++early) {
      Plan plan;
      kPasses[late].run(plan);
      CAPTURE(kPasses[early].name);
      const std::string text = refusal(kPasses[early], plan);
      CHECK(text.find(kPasses[early].name + " after " + kPasses[late].name) != std::string::npos);
    }
  }
}

TEST_CASE("plan_for() runs all passes but the last") {
  Plan plan = plan_for({}, reference_target(Precision::fp32), {.train = false});
  CHECK(plan.passed == PlanPass::use_side_queue);
  CHECK(refusal(kPasses.back(), plan) == "");
}
