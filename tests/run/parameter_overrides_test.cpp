// parameters: of a run.
#include "run/config/parameter_overrides.h"

#include <doctest/doctest.h>

#include "../graph/support.h"
#include "config/load.h"
#include "ops/loss.h"
#include "run/config/layer_overrides.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

const char* const kNamedNetwork = R"(
input: [3, 6, 6]
layers:
  - conv: [4, 3]
  - bn
  - relu
  - dense: 3
)";

RunConfig run_of(const std::string& parameters) {
  RunConfig run;
  run.network = config::parse_yaml(kNamedNetwork, "net.yaml");
  run.loss = std::make_unique<LossOp>("cross_entropy", LossAttributes{});
  run.parameters = config::parse_yaml(parameters, "run.yaml");
  return run;
}

ParameterOverrides rules_of(const std::string& parameters) {
  config::Diagnostics diagnostics;
  const RunConfig run = run_of(parameters);
  ParameterOverrides rules = parameter_overrides(run, build_network(run, 2), 100, diagnostics);
  diagnostics.raise();
  return rules;
}

std::string refusal_of(const std::string& parameters) {
  try {
    (void)build_network(run_of(parameters), 2);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a pattern names parameters, or a layer with all of its parameters") {
  const ParameterOverrides betas = rules_of("{'bn*.beta': {lr_mult: 64}}");
  REQUIRE(betas.size() == 1);
  CHECK(betas.at("bn1.beta").rate_multiplier == 64);
  CHECK_FALSE(betas.at("bn1.beta").weight_decay.has_value());
  CHECK(rules_of("{bn1: {weight_decay: 0}}").size() == 2);
  CHECK(rules_of("{'*.weight': {weight_decay: 0}}").size() == 2);
  CHECK(rules_of("{}").empty());
}

TEST_CASE("each key of several patterns counts as the last of them gives it") {
  const ParameterOverrides rules =
      rules_of("{'*': {lr_mult: 2, weight_decay: 1e-4}, 'dense1.weight': {lr_mult: 3}}");
  CHECK(rules.at("dense1.weight").rate_multiplier == 3);
  CHECK(rules.at("dense1.weight").weight_decay == 1e-4);
  CHECK(rules.at("dense1.bias").rate_multiplier == 2);
}

TEST_CASE("times are in epochs or steps") {
  const ParameterOverride rule =
      rules_of("{'bn1.gamma': {from: 250 steps, until: 3 epochs}}").at("bn1.gamma");
  CHECK(rule.first_step == 250);
  CHECK(rule.end_step == 300);
}

TEST_CASE("a parameter's optimizer replaces the run's, and its state blocks are allocated") {
  RunConfig run = run_of("{dense1: {optimizer: {adam: {amsgrad: true}}}, conv1: {lr_mult: 2}}");
  run.optimizer = std::make_shared<const Optimizer>(Optimizer{{.rate = 0.1}, {}});
  CHECK(state_blocks(run) == 3);
  config::Diagnostics diagnostics;
  const ParameterOverrides rules = parameter_overrides(run, build_network(run, 2), 1, diagnostics);
  CHECK(optimizer_of("dense1.bias", *run.optimizer, rules).name == "adam");
  CHECK(&optimizer_of("conv1.weight", *run.optimizer, rules) == run.optimizer.get());
  CHECK(&optimizer_of("bn1.beta", *run.optimizer, rules) == run.optimizer.get());
  run.optimizer = std::make_shared<const Optimizer>();
  static_cast<void>(parameter_overrides(run, build_network(run_of("{}"), 2), 1, diagnostics));
  CHECK_THROWS_WITH(diagnostics.raise(),
                    "run.yaml:1:22: 'optimizer' of parameters needs an 'lr' above 0 of the run's "
                    "optimizer, to whose schedule its own is in proportion");
}

TEST_CASE("parameters that are no matrices get the rest of an optimizer of matrices") {
  RunConfig run = run_of("{dense1.bias: {optimizer: sgd}}");
  const auto overrides = [&run](const std::string& optimizer) {
    config::Diagnostics diagnostics;
    const config::Node node = config::parse_yaml("optimizer: " + optimizer, "run.yaml");
    config::Fields fields(node, nullptr, "run", config::Profile::keras2, diagnostics);
    fields.one_of("optimizer", run.optimizer, "of the run", optimizer_kinds());
    ParameterOverrides found =
        parameter_overrides(run, build_network(run_of("{}"), 2), 1, diagnostics);
    diagnostics.raise();
    return found;
  };
  const ParameterOverrides rules = overrides("{muon: {rest: adam}}");
  CHECK(state_blocks(run) == 2);
  const auto name_of = [&](const std::string& parameter) {
    return optimizer_of(parameter, *run.optimizer, rules).name;
  };
  CHECK(name_of("conv1.weight") == "muon");
  CHECK(name_of("dense1.weight") == "muon");
  CHECK(name_of("bn1.gamma") == "adam");
  CHECK(name_of("dense1.bias") == "sgd");
  CHECK_THROWS_WITH(overrides("{muon: {lr: 0.1}}"),
                    "run.yaml:1:13: muon is for matrices, and 'conv1.bias' is not one: give it an "
                    "optimizer for such parameters, 'rest: {adamw: {lr: 3e-4}}'");
}

TEST_CASE("impossible rules of parameters are refused, each at its position") {
  CHECK(refusal_of("{bn1.bta: {lr_mult: 2}, '*.alpha': {lr_mult: 2}}") ==
        "run.yaml:1:2: parameters: no parameter is named by 'bn1.bta'; did you mean 'bn1.beta'?\n"
        "run.yaml:1:25: parameters: no parameter is named by '*.alpha'");
  CHECK(refusal_of("[bn1]") ==
        "run.yaml:1:1: parameters: expected a map of parameters to their keys, found a list");
  CHECK(refusal_of("{bn1: {until: three}}")
            .find("run.yaml:1:15: 'until' must be a number of epochs or steps, such as '2 epochs' "
                  "or '500 steps', found 'three'") != std::string::npos);
  CHECK(refusal_of("{bn1: {lr_mlt: 3}}").find("did you mean 'lr_mult'?") != std::string::npos);
  CHECK(refusal_of("{bn1: 3}").find("run.yaml:1:7") == 0);
  CHECK(refusal_of("{bn1: {lr_mult: -1}}").find("'lr_mult' must be") != std::string::npos);
}

TEST_CASE("parameters train as their rules say and the others unchanged") {
  const auto executors = make_reference_executors();
  const Target target = reference_target(Precision::fp64);
  const TrainingGraph graph = training_graph(config::parse_yaml(kNamedNetwork, "net.yaml"), 6);
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  const auto launches = make_cpu_update_launches(1);
  const auto train = [&](const std::string& parameters) {
    StepOptions options;
    options.parameters = rules_of(parameters);
    return train_ten_steps(graph, target, {*device, *queue, *executors, *launches}, options);
  };
  const Trained free = train("{}");
  CHECK(train("{'*': {lr_mult: 1}}").weights == free.weights);
  const Trained held = train("{'*': {lr_mult: 0}}");
  CHECK(held.weights != free.weights);
  CHECK(train("{'*': {from: 10 steps}}").weights == held.weights);
  CHECK(train("{'*': {until: 10 steps}}").weights == free.weights);
  CHECK(train("{'*': {from: 1 steps}}").weights != free.weights);
  CHECK(train("{'*': {weight_decay: 0.1}}").weights != free.weights);
  const std::string same = "optimizer: {sgd: {lr: " + std::to_string(Course{}.rate);
  CHECK(train("{dense1: {" + same + ", momentum: 0.9}}}}").weights == free.weights);
  CHECK(train("{'*': {" + same + ", momentum: 0.9}}}}").weights == free.weights);
  CHECK(train("{dense1: {" + same + "}}}}").weights != free.weights);
  CHECK(train("{dense1: {optimizer: rmsprop}}").weights != free.weights);
  // The norms of a parameter are those of its own chunks, whichever others its optimizer has.
  const std::string lars = "{optimizer: {lars: {lr: 0.5, eta: 0.1}}}";
  CHECK(train("{'*': " + lars + "}").weights ==
        train("{conv1: " + lars + ", bn1: " + lars + ", dense1: " + lars + "}").weights);
  CHECK(train("{'*': " + lars + "}").weights !=
        train("{'*': {optimizer: {lars: {lr: 0.5, eta: 0.2}}}}").weights);
  // One parameter alone: the losses differ once its first change has an effect.
  const Trained beta = train("{'bn1.beta': {lr_mult: 0}}");
  CHECK(beta.losses[0] == free.losses[0]);
  CHECK(beta.losses[2] != free.losses[2]);
}
