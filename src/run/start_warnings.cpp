#include "run/start_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/plural.h"
#include "base/text.h"

namespace trainyard {
namespace {

using Types = std::span<const std::string_view>;

constexpr std::string_view kPassing[] = {"pad",      "crop",     "slice",          "permute",
                                         "reshape",  "flatten",  "identity",       "dropout",
                                         "max_pool", "avg_pool", "gaussian_noise", "upsample",
                                         "relu",     "concat",   "spatial_dropout"};
constexpr std::string_view kProducts[] = {"conv", "conv_transpose", "dense", "lstm", "simple_rnn"};
constexpr std::string_view kNorms[] = {"bn", "layer_norm", "group_norm", "instance_norm"};

bool is_one(const Node& node, Types types) {
  return std::ranges::find(types, node.op->type()) != types.end();
}

/// Whether something reads `value`, and each reader is a norm.
bool is_normalised(const Graph& graph, ValueId value) {
  bool any = false;
  for (const Node& node : graph.nodes) {
    if (std::ranges::find(node.inputs, value) == node.inputs.end()) continue;
    if (!is_one(node, kNorms)) return false;
    any = true;
  }
  return any;
}

/// The first layer that multiplies the network's input by weights, with no layer before it that
/// scales it, nor a norm behind it, for which a factor of the input makes no difference; or null.
const Node* unscaled_product(const Graph& graph) {
  std::vector<bool> raw(graph.values.size(), false);
  raw[static_cast<std::size_t>(graph.inputs.at(0))] = true;
  for (const Node& node : graph.nodes) {
    const bool reads = std::ranges::any_of(
        node.inputs, [&](ValueId value) { return raw[static_cast<std::size_t>(value)]; });
    if (!reads) continue;
    const ValueId output = node.outputs.at(0);
    if (is_one(node, kPassing)) raw[static_cast<std::size_t>(output)] = true;
    if (is_one(node, kProducts) && !is_normalised(graph, output)) return &node;
  }
  return nullptr;
}

/// The largest magnitude in a few samples; 0 if they cannot be read, which is reported elsewhere.
float largest_value(const Dataset& set) {
  constexpr std::int64_t kSamples = 8;
  float largest = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::int64_t index = i * set.size() / kSamples;
    std::vector<float> image(static_cast<std::size_t>(set.sample_shape(index).elements()));
    try {
      set.read(index, image.data());
    } catch (const Error&) {
      continue;
    }
    for (const float value : image) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

std::string place_of(const Node& node) {
  const std::string at = node.where.text();
  return "'" + node.path + "'" + (at.empty() ? "" : " (" + at + ")");
}

}  // namespace

std::string schedule_warning(const Schedule* schedule, std::int64_t epochs,
                             std::int64_t steps_per_epoch) {
  if (schedule == nullptr) return "";
  const std::int64_t steps = epochs * steps_per_epoch;
  const std::string run =
      fmt::format("the run has {} {} ({} of {})", with_separators(steps), plural(steps, "step"),
                  count_text(epochs, "epoch"), with_separators(steps_per_epoch));
  const std::int64_t warmup = schedule->warmup_steps(steps_per_epoch);
  if (warmup > steps) {
    return fmt::format(
        "the warm-up takes {} steps, but {}: the learning rate never reaches its full value; "
        "shorten the warm-up, or train longer",
        with_separators(warmup), run);
  }
  const std::int64_t last = schedule->last_part(steps_per_epoch);
  if (last == 0 || last < steps) return "";
  return fmt::format(
      "the last part of schedule '{}' begins after {} steps, but {}: it is never reached",
      schedule->name(), with_separators(last), run);
}

std::string scale_warning(const DataConfig& config, const Dataset& train, const Graph& network) {
  constexpr float kLarge = 32;
  if (!config.preprocess.empty() || !has_images(train) || network.vocabulary > 0) return "";
  const Node* first = unscaled_product(network);
  if (first == nullptr) return "";
  const float largest = largest_value(train);
  if (largest < kLarge) return "";
  return fmt::format(
      "the samples have values of up to {}, which layer {} reads as they are; most networks learn "
      "better from values near 1: add 'preprocess: [{}]' to 'data', or begin with bn",
      number_text(largest), place_of(*first),
      train.eight_bit() || largest <= 255 ? "scale: $1/255" : "mean_rgb: train, std_rgb: train");
}

std::string softmax_warning(const Graph& network) {
  for (const Node& node : network.nodes) {
    if (node.op->type() != "dense") continue;
    const NodeId producer = network.values[static_cast<std::size_t>(node.inputs[0])].producer;
    if (producer < 0) continue;
    const Node& before = network.nodes[static_cast<std::size_t>(producer)];
    if (before.op->type() != "softmax") continue;
    return fmt::format(
        "layer {} reads the softmax {}: probabilities are an output; between layers use relu or "
        "another activation",
        place_of(node), place_of(before));
  }
  return "";
}

}  // namespace trainyard
