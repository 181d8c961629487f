// The networks that are trained as PyTorch trained them, with its losses.
#pragma once

#include <string>
#include <vector>

#include "config/load.h"
#include "training_samples.h"

namespace trainyard::test {

inline const std::string kRoot = TY_SOURCE_DIR;

[[nodiscard]] inline std::vector<double> numbers(const config::Node& list) {
  std::vector<double> values;
  for (const config::Node& item : list.items) values.push_back(item.real);
  return values;
}

[[nodiscard]] inline Losses losses_of(const config::Node& node) {
  Losses losses{.batch = node.find("batch")->integer, .of_sets = {}, .spread = {}};
  for (const config::Node& set : node.find("losses")->items) {
    losses.of_sets.push_back(numbers(set));
  }
  if (const config::Node* spread = node.find("spread")) {
    for (const config::Node& set : spread->items) losses.spread.push_back(numbers(set));
  }
  return losses;
}

[[nodiscard]] inline Golden load_golden(const std::string& name, const std::string& file,
                                        const std::string& overrides) {
  const config::Node all = config::load_yaml(kRoot + "/tests/golden/training.yaml");
  const config::Node& node = *all.find("networks")->find(name);
  return {.name = name,
          .file = file,
          .overrides = overrides,
          .rate = node.find("rate")->real,
          .in_double = losses_of(*node.find("double")),
          .in_float = node.find("float") == nullptr ? Losses{} : losses_of(*node.find("float"))};
}

[[nodiscard]] inline Golden resnet20() {
  return load_golden("resnet20", "resnet_cifar.yaml", "{vars: {n: 3}}");
}
[[nodiscard]] inline Golden minigooglenet() {
  return load_golden("minigooglenet", "minigooglenet.yaml", "{}");
}
[[nodiscard]] inline Golden keras_cnn() { return load_golden("keras_cnn", "keras_cnn.yaml", "{}"); }
[[nodiscard]] inline Golden resnet_v2() {
  return load_golden("resnet_v2", "resnet_v2_cifar.yaml", "{vars: {n: 2}}");
}
[[nodiscard]] inline Golden grouped() {
  return load_golden("grouped", "resnext29_cifar.yaml", "{vars: {card: 4, width: 8, n: 1}}");
}

/// The same with batch norms whose statistics are fixed.
[[nodiscard]] inline Golden fixed_statistics() {
  Golden golden =
      load_golden("fixed_statistics", "resnext29_cifar.yaml", "{vars: {card: 4, width: 8, n: 1}}");
  golden.fixed_statistics = true;
  return golden;
}

/// Two outputs, class weights and an ignored label.
[[nodiscard]] inline Golden two_heads() {
  Golden golden = load_golden("two_heads", "../tests/golden/two_heads.yaml", "{}");
  golden.heads = {{.output = "aux", .weight = 0.25}};
  golden.class_weights = {1, 2, 0.5, 1, 1, 0.25, 1, 0, 1, 4};
  return golden;
}

/// Two outputs with smoothed losses of samples that are mixed.
[[nodiscard]] inline Golden mixed() {
  Golden golden = load_golden("mixed", "../tests/golden/two_heads.yaml", "{}");
  golden.heads = {{.label_smoothing = 0.125, .output = "aux", .weight = 0.25}};
  golden.smoothing = 0.125;
  golden.mixed = true;
  return golden;
}

/// Muon of all matrices in torch's form, and of filters in airbench's.
[[nodiscard]] inline Golden muon() {
  Golden golden = load_golden("muon", "../tests/golden/matrices.yaml", "{}");
  golden.optimizer =
      "{muon: {lr: $rate, rest: {adamw: {lr: 0.01, form: torch, epsilon: 1e-8, decay_on: [bias, "
      "gamma, beta]}}}}";
  return golden;
}
[[nodiscard]] inline Golden airbench() {
  Golden golden = load_golden("airbench", "../tests/golden/matrices.yaml", "{}");
  golden.parameters =
      "{conv*.weight: {optimizer: {muon: {form: airbench, lr: 0.24, momentum: 0.6}}}}";
  return golden;
}

[[nodiscard]] inline Golden lookahead() {
  Golden golden = load_golden("lookahead", "../tests/golden/matrices.yaml", "{}");
  golden.lookahead = "{every: 3}";
  return golden;
}
[[nodiscard]] inline Golden scheduled_lookahead() {
  Golden golden = load_golden("scheduled_lookahead", "../tests/golden/matrices.yaml", "{}");
  golden.lookahead =
      "{every: 2, pull: 1, schedule: {expression: $1 - 0.95**2 * ((step + 1) / steps)**3}}";
  return golden;
}

/// Today's networks with the optimizers of their recipes; sgd() is that of most.
[[nodiscard]] inline std::string sgd(const std::string& keys) {
  return "{sgd: {lr: $rate, decay_on: [kernel, bias, gamma, beta], " + keys + "}}";
}
/// The weights of airbench94's first layer stay, and its bias is trained for three steps.
[[nodiscard]] inline Golden airbench94() {
  Golden golden = load_golden("airbench94", "airbench94.yaml", "{}");
  golden.smoothing = 0.2;
  golden.optimizer = sgd("momentum: 0.85, nesterov: true, weight_decay: 1.33044e-3");
  golden.parameters =
      "{'*.beta': {lr_mult: 64, weight_decay: 2.0788e-5}, conv1.weight: {lr_mult: 0}, "
      "conv1.bias: {until: 3 epochs}}";
  golden.lookahead =
      "{every: 5, pull: 1, schedule: {expression: $1 - 0.95**5 * ((step + 1) / steps)**3}}";
  return golden;
}
/// Branches of samples at random are dropped.
[[nodiscard]] inline Golden wide_resnet() {
  Golden golden = load_golden("wide_resnet", "wide_resnet_cifar.yaml",
                              "{vars: {n: 2, k: 1}, blocks: {branch: {layers: [fan_out_conv: {f: "
                              "$f, s: $s}, bn, relu, fan_out_conv: $f, drop_path: 0.25]}}}");
  golden.optimizer = sgd("momentum: 0.9, nesterov: true, weight_decay: 5e-4");
  return golden;
}
/// Muon for the filters.
[[nodiscard]] inline Golden densenet() {
  Golden golden = load_golden("densenet", "densenet_cifar.yaml", "{vars: {n: 3, k: 4}}");
  golden.optimizer = sgd("momentum: 0.9, nesterov: true, weight_decay: 1e-4");
  golden.parameters =
      "{'*conv*.weight': {optimizer: {muon: {form: airbench, lr: 0.24, momentum: 0.6}}}}";
  return golden;
}
/// Mixed samples.
[[nodiscard]] inline Golden convmixer() {
  Golden golden = load_golden("convmixer", "convmixer_cifar.yaml", "{vars: {width: 24, depth: 2}}");
  golden.mixed = true;
  golden.optimizer =
      "{adamw: {lr: $rate, form: torch, epsilon: 1e-8, weight_decay: 0.005, decay_on: [kernel, "
      "bias, gamma, beta]}}";
  return golden;
}
[[nodiscard]] inline Golden mobilenet_v2() {
  Golden golden = load_golden("mobilenet_v2", "mobilenet_v2_cifar.yaml",
                              "{vars: {stages: [{expand: 1, channels: 32, f: 16, n: 1, s: 2}, "
                              "{expand: 6, channels: 16, f: 24, n: 2, s: 2}, "
                              "{expand: 6, channels: 24, f: 32, n: 1, s: 2}]}}");
  golden.optimizer = sgd("momentum: 0.9, weight_decay: 5e-4");
  return golden;
}

/// PyTorch's LSTM, and Keras's gates by their formula.
[[nodiscard]] inline Golden recurrent() {
  return load_golden("recurrent", "../tests/golden/recurrent.yaml",
                     "{defaults: {lstm: {gates: sigmoid}}}");
}
[[nodiscard]] inline Golden keras_recurrent() {
  return load_golden("keras_recurrent", "../tests/golden/recurrent.yaml", "{}");
}
/// Sequences that end early, as PyTorch packs them; read in both directions.
[[nodiscard]] inline Golden with_lengths(const std::string& name) {
  Golden golden =
      load_golden(name, "../tests/golden/" + name + ".yaml",
                  "{defaults: {lstm: {gates: sigmoid}, gru: {gates: sigmoid, reset: after}}}");
  golden.lengths = true;
  return golden;
}
[[nodiscard]] inline Golden lengths() { return with_lengths("lengths"); }
[[nodiscard]] inline Golden bidirectional() { return with_lengths("bidirectional"); }
/// A label at every position of a sequence of tokens.
[[nodiscard]] inline Golden sequence() {
  Golden golden = load_golden("sequence", "../tests/golden/sequence.yaml", "{}");
  golden.tokens = 12;
  golden.classes = 50;
  return golden;
}

}  // namespace trainyard::test
