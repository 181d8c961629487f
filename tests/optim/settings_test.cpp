// Keys of the optimizers: defaults, decay groups, messages.
#include <doctest/doctest.h>

#include "read.h"

namespace trainyard {
namespace {

using test::message_of;
using test::optimizer;
using test::schedule;

TEST_CASE("the optimizer's learning rate and state names follow the file") {
  const auto sgd = optimizer("sgd: {lr: 5e-3, momentum: 0.9}");
  CHECK(sgd->name() == "sgd");
  CHECK(sgd->rate() == 5e-3);
  CHECK(sgd->slots() == std::vector<std::string>{"momentum"});
  CHECK(optimizer("adam")->slots() == std::vector<std::string>{"mean", "square"});
  CHECK(optimizer("adam: 0.02")->rate() == 0.02);
  CHECK(optimizer("adagrad")->slots() == std::vector<std::string>{"square_sum"});
  CHECK(optimizer("rmsprop")->slots() == std::vector<std::string>{"square"});
}

TEST_CASE("weight decay applies only to kernels unless decay_on names more groups") {
  const auto usual = optimizer("sgd: {weight_decay: 1e-4}", config::Profile::torch);
  CHECK(usual->decay(ParameterGroup::kernel) == 1e-4);
  CHECK(usual->decay(ParameterGroup::bias) == 0);
  CHECK(usual->decay(ParameterGroup::gamma) == 0);
  CHECK(usual->decay(ParameterGroup::beta) == 0);
  const auto all = optimizer("sgd: {weight_decay: 1e-4, decay_on: [kernel, bias, gamma, beta]}");
  CHECK(all->decay(ParameterGroup::bias) == 1e-4);
  CHECK(all->decay(ParameterGroup::gamma) == 1e-4);
  CHECK(all->decay(ParameterGroup::beta) == 1e-4);
  CHECK(optimizer("sgd")->decay(ParameterGroup::kernel) == 0);
}

TEST_CASE("an unknown decay group is refused with the nearest one") {
  CHECK(message_of([] { return optimizer("sgd: {decay_on: [kernal]}"); }) ==
        "t.yaml:2:19: unknown parameter group 'kernal'; expected kernel, bias, gamma or beta; did "
        "you mean 'kernel'?");
}

TEST_CASE("Nesterov without momentum is refused") {
  CHECK(message_of([] { return optimizer("sgd: {nesterov: true}"); }) ==
        "t.yaml:2:19: 'nesterov' needs a momentum above 0; set momentum or remove nesterov");
}

TEST_CASE("warm-up in both epochs and steps is refused") {
  CHECK(message_of([] { return schedule("constant: {warmup: {epochs: 1, steps: 1}}"); }) ==
        "t.yaml:2:41: 'epochs' and 'steps' exclude each other; remove one of them");
}

TEST_CASE("tables and boundaries must exist and rise") {
  CHECK(message_of([] { return schedule("piecewise: [[0, 1e-3], [0, 1e-4]]"); }) ==
        "t.yaml:2:15: 'table' must hold rows [t, lr] with rising t; row 2 is not one");
  CHECK(message_of([] { return schedule("piecewise: [[0, 1e-3, 2]]"); }) ==
        "t.yaml:2:15: 'table' must hold rows [t, lr] with rising t; row 1 is not one");
  CHECK(message_of([] { return schedule("piecewise"); }) ==
        "t.yaml:2:3: 'piecewise' needs rows [t, lr], as in [[0, 1e-3], [81, 1e-4]]");
  CHECK(message_of([] { return schedule("multistep: [20, 10]"); }) ==
        "t.yaml:2:15: 'at' must hold rising boundaries");
  CHECK(message_of([] { return schedule("multistep"); }) ==
        "t.yaml:2:3: 'multistep' needs boundaries, as in [80, 120]");
}

}  // namespace
}  // namespace trainyard
