// Keys of the optimizers: defaults, decay groups, messages.
#include <doctest/doctest.h>

#include "read.h"

namespace trainyard {
namespace {

using namespace test;

using Names = std::vector<std::string>;

Names slot_names(const Optimizer& rule) {
  Names names;
  for (const OptimizerSlot& slot : rule.slots) names.push_back(slot.name);
  return names;
}

TEST_CASE("the optimizer's learning rate and state names follow the file") {
  const auto sgd = optimizer("sgd: {lr: 5e-3, momentum: 0.9}");
  CHECK(sgd->name == "sgd");
  CHECK(sgd->rate == 5e-3);
  CHECK(slot_names(*sgd) == Names{"momentum"});
  CHECK(slot_names(*optimizer("adam")) == Names{"mean", "square"});
  CHECK(optimizer("adam: 0.02")->rate == 0.02);
  CHECK(slot_names(*optimizer("adagrad")) == Names{"square_sum"});
  CHECK(slot_names(*optimizer("rmsprop")) == Names{"square"});
}

TEST_CASE("a variant of a rule has the state blocks that it needs, each with its start") {
  const auto both = optimizer("rmsprop: {centered: true, momentum: 0.9, start: 1}");
  CHECK(slot_names(*both) == Names{"square", "mean", "momentum"});
  CHECK(both->slots[0].start == 1);
  CHECK(both->slots[1].start == 0);
  CHECK(slot_names(*optimizer("adam: {amsgrad: true}")) ==
        Names{"mean", "square", "largest_square"});
  for (const auto& kind : optimizer_kinds()) {
    const auto rule = optimizer(std::string(kind.name));
    const auto needed = std::visit(
        [](const auto& own) { return std::remove_cvref_t<decltype(own)>::kSlots; }, rule->rule);
    CHECK(rule->slots.size() == needed);
  }
}

TEST_CASE("adamw decays weights and not gradients, by 0.01 unless the file says otherwise") {
  CHECK(optimizer("adamw")->weight_decay.decoupled);
  CHECK(optimizer("adamw")->weight_decay.of(ParameterGroup::kernel) == 0.01);
  CHECK(optimizer("adamw: {weight_decay: 0}")->weight_decay.of(ParameterGroup::kernel) == 0);
  CHECK_FALSE(optimizer("adam: {weight_decay: 0.1}")->weight_decay.decoupled);
}

TEST_CASE("weight decay applies only to kernels unless decay_on names more groups") {
  const auto usual = optimizer("sgd: {weight_decay: 1e-4}", config::Profile::torch);
  CHECK(usual->weight_decay.of(ParameterGroup::kernel) == 1e-4);
  CHECK(usual->weight_decay.of(ParameterGroup::bias) == 0);
  CHECK(usual->weight_decay.of(ParameterGroup::gamma) == 0);
  CHECK(usual->weight_decay.of(ParameterGroup::beta) == 0);
  const auto all = optimizer("sgd: {weight_decay: 1e-4, decay_on: [kernel, bias, gamma, beta]}");
  CHECK(all->weight_decay.of(ParameterGroup::bias) == 1e-4);
  CHECK(all->weight_decay.of(ParameterGroup::gamma) == 1e-4);
  CHECK(all->weight_decay.of(ParameterGroup::beta) == 1e-4);
  CHECK(optimizer("sgd")->weight_decay.of(ParameterGroup::kernel) == 0);
}

TEST_CASE("an unknown decay group is refused with the nearest one") {
  CHECK(message_of([] { return optimizer("sgd: {decay_on: [kernal]}"); }) ==
        "t.yaml:2:19: unknown parameter group 'kernal'; expected kernel, bias, gamma or beta; did "
        "you mean 'kernel'?");
}

TEST_CASE("the trust ratio applies only to kernels unless ratio_on names more groups") {
  CHECK(optimizer("lars")->ratio_on == Names{"kernel"});
  CHECK(optimizer("lamb: {ratio_on: [kernel, gamma]}")->ratio_on == Names{"kernel", "gamma"});
  CHECK(optimizer("sgd")->ratio_on.empty());
  CHECK(is_one_of(ParameterGroup::gamma, {"bias", "gamma"}));
  CHECK_FALSE(is_one_of(ParameterGroup::beta, {"bias", "gamma"}));
  CHECK(message_of([] { return optimizer("lamb: {ratio_on: [gama]}"); }) ==
        "t.yaml:2:20: unknown parameter group 'gama'; expected kernel, bias, gamma or beta; did "
        "you mean 'gamma'?");
}

TEST_CASE("rules with a trust ratio say that they need norms") {
  CHECK(needs_norms(optimizer("lars")->rule));
  CHECK(needs_norms(optimizer("lamb")->rule));
  CHECK_FALSE(needs_norms(optimizer("adam")->rule));
}

TEST_CASE("a parameter has the optimizer of its override, else the run's") {
  const auto usual = optimizer("sgd");
  const ParameterOverrides overrides{{"a.bias", {.optimizer = optimizer("lion")}},
                                     {"b.bias", {.rate_multiplier = 2}}};
  CHECK(optimizer_of("a.bias", *usual, overrides).name == "lion");
  CHECK(&optimizer_of("b.bias", *usual, overrides) == usual.get());
  CHECK(&optimizer_of("c.bias", *usual, overrides) == usual.get());
}

TEST_CASE("muon has torch's defaults, and airbench's in its form") {
  const auto rule_of = [](const std::string& yaml) {
    return std::get<Muon>(optimizer(yaml)->rule);
  };
  const Muon torch = rule_of("muon");
  CHECK(torch.iteration.iterations == 5);
  CHECK(torch.scale(12, 3) == 2);
  CHECK(torch.scale(3, 12) == 1);
  CHECK(optimizer("muon")->weight_decay.amount == 0.1);
  const Muon airbench = rule_of("muon: {form: airbench}");
  CHECK(airbench.iteration.iterations == 3);
  CHECK(airbench.scale(12, 3) == 1);
  CHECK(optimizer("muon: {form: airbench}")->weight_decay.amount == 0);
  CHECK(needs_norms(UpdateRule(torch)));
  CHECK(of_matrices(UpdateRule(torch)));
  CHECK_FALSE(of_matrices(optimizer("lion")->rule));
}

TEST_CASE("muon has an optimizer of the rest, which is no muon") {
  const auto muon = optimizer("muon: {rest: {adamw: {lr: 3e-4}}}");
  REQUIRE(muon->rest != nullptr);
  CHECK(muon->rest->name == "adamw");
  CHECK(muon->rest->rate == 3e-4);
  CHECK(optimizer("muon")->rest == nullptr);
}

TEST_CASE("impossible keys of muon are refused") {
  const auto refusal = [](const std::string& keys) {
    return message_of([&] { return optimizer("muon: {" + keys + "}"); });
  };
  CHECK(refusal("coefficients: [2, -1.5]") ==
        "t.yaml:2:24: 'coefficients' must be three numbers, as in [2, -1.5, 0.5], found 2");
  CHECK(refusal("lr: 0, rest: lion") ==
        "t.yaml:2:23: 'rest' needs an 'lr' above 0 beside it, to whose schedule its own is in "
        "proportion");
  CHECK(refusal("rest: muon").find("'rest' must be one of sgd, ") != std::string::npos);
  CHECK(refusal("steps: 0").find("'steps' must be") != std::string::npos);
  CHECK(refusal("form: keller").find("'form' must be") != std::string::npos);
}

TEST_CASE("Nesterov without momentum is refused") {
  CHECK(message_of([] { return optimizer("lars: {momentum: 0, nesterov: true}"); }) ==
        "t.yaml:2:33: 'nesterov' needs a momentum above 0; set momentum or remove nesterov");
  CHECK(message_of([] { return optimizer("sgd: {nesterov: true}"); }) ==
        "t.yaml:2:19: 'nesterov' needs a momentum above 0; set momentum or remove nesterov");
}

TEST_CASE("warm-up in both epochs and steps is refused") {
  CHECK(message_of([] { return schedule("constant: {warmup: {epochs: 1, steps: 1}}"); }) ==
        "t.yaml:2:41: 'epochs' and 'steps' exclude each other; remove one of them");
}

TEST_CASE("a chain needs parts, and a length of each but the last") {
  CHECK(message_of([] { return schedule("chain"); }) ==
        "t.yaml:2:3: 'chain' needs schedules, as in {parts: [{linear: {from: 0.2, to: 1, length: "
        "5}}, cosine]}");
  CHECK(message_of([] { return schedule("chain: {parts: [cosine, constant]}"); }) ==
        "t.yaml:2:18: part 1 of the chain, 'cosine', needs a 'length': only the last part takes "
        "the rest of the run");
}

TEST_CASE("a chain contains no chain") {
  CHECK(message_of([] {
          return schedule("chain: {parts: [chain: {parts: [cosine]}]}");
        }).find("'parts' must be one of constant, ") != std::string::npos);
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
