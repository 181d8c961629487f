#include "run/readiness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "model/model.h"
#include "report/plotter.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"
#include "run/snapshot.h"

namespace trainyard {
namespace {

using Types = std::span<const std::string_view>;

constexpr std::string_view kPassing[] = {"pad",      "crop",     "slice",           "permute",
                                         "reshape",  "flatten",  "identity",        "dropout",
                                         "max_pool", "avg_pool", "gaussian_noise",  "upsample",
                                         "relu",     "concat",   "spatial_dropout", "drop_path"};
constexpr std::string_view kProducts[] = {"conv", "conv_transpose", "dense", "lstm",
                                          "gru",  "simple_rnn"};
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

std::uint64_t bytes_of(const std::vector<NamedTensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const NamedTensor& tensor : tensors) bytes += tensor.bytes.size();
  return bytes;
}

/// The most bytes that a run has on its disk at once: the newest checkpoints, the best one, one
/// being saved, and the weights.
std::uint64_t most_bytes(const CheckpointContent& content, const RunConfig& config,
                         std::int64_t epochs) {
  std::uint64_t checkpoint = 0;
  for (const auto& [name, tensors] : content.files) checkpoint += bytes_of(tensors);
  std::int64_t kept = config.checkpoint ? config.checkpoint->keep + 2 : 0;
  if (config.checkpoint_every.unit == Interval::Unit::epoch) kept = std::min(kept, epochs);
  return static_cast<std::uint64_t>(kept) * checkpoint +
         2 * bytes_of(content.files.at("weights.safetensors"));
}

std::string mebibyte_text(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

/// `most`: the bytes of most_bytes(). `free`: those of the disk of `place`.
std::string room_warning(std::uint64_t most, const fs::path& place, std::uint64_t free) {
  if (free >= most) return "";
  return fmt::format(
      "the disk of '{}' has {} free, but the run's checkpoints and weights may take {}: free some "
      "space, lower 'checkpoint.keep', or choose another folder with --out",
      place.string(), mebibyte_text(free), mebibyte_text(most));
}

/// The next batch forward and backward, without an optimizer step.
Totals totals_of_batch(Session& session) {
  session.step().load([&]() -> const Batch& { return session.data().train_feeder->next(); });
  if (const auto culprit = session.step().check()) {
    const std::string where = culprit->where.text();
    throw Error(ErrorKind::diverged, where + (where.empty() ? "" : ": ") + "layer '" +
                                         culprit->path + "': its " + culprit->what +
                                         " is not finite in the first batch");
  }
  Model& model = session.model();
  model.add_results(model.train());
  return model.take_totals();
}

/// The sum of a rank's numbers.
double sum_over_ranks(RankGroup& ranks, double own) {
  double sum = 0;
  for (const std::string& text : ranks.gather(number_text(own))) sum += std::stod(text);
  return sum;
}

}  // namespace

std::string schedule_warning(const Schedule* schedule, const BatchNumbers& batch) {
  if (schedule == nullptr) return "";
  const std::int64_t steps = batch.all_steps;
  const std::string run =
      fmt::format("the run has {} {} ({} of {})", with_separators(steps), plural(steps, "step"),
                  count_text(batch.epochs, "epoch"), with_separators(batch.steps));
  const std::int64_t warmup = schedule->warmup_steps(batch.steps);
  if (warmup > steps) {
    return fmt::format(
        "the warm-up takes {} steps, but {}: the learning rate never reaches its full value; "
        "shorten the warm-up, or train longer",
        with_separators(warmup), run);
  }
  const std::int64_t last = schedule->last_part(batch.steps);
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

double loss_of_one_batch(Session& session, RankGroup& ranks) {
  const TrainingGraph& graph = session.model().graph();
  session.step().prepare();
  session.data().train_feeder->start(0);
  const std::int64_t most = std::min<std::int64_t>(session.batch().steps, 100);
  for (std::int64_t batch = 0; batch < most; ++batch) {
    const Totals totals = totals_of_batch(session);
    const auto counted = static_cast<double>(counted_rows(graph, totals.metrics, totals.samples));
    if (sum_over_ranks(ranks, counted) == 0) continue;
    const double weight = total_weight(graph, totals.metrics, totals.samples);
    const double loss = sum_over_ranks(ranks, totals.loss) / sum_over_ranks(ranks, weight);
    if (std::isfinite(loss)) return loss;
    throw Error(ErrorKind::diverged,
                fmt::format("the loss of the first batch is {}, which is not finite", loss));
  }
  throw Error(ErrorKind::diverged,
              fmt::format("every sample of the first {} is ignored: its label is 'ignore_label' or "
                          "its weight is 0, so that there is no loss",
                          most == 1 ? "batch" : fmt::format("{} batches", most)));
}

void require_request(const TrainingRequest& request, const RunStart& start, const RankGroup& ranks,
                     const Disk& disk) {
  if (request.max_seconds > 0 && !request.config.checkpoint) {
    refuse_command(
        "--max-time ends a run so that it can be resumed, but 'checkpoint' is off; leave out one "
        "of the two");
  }
  if (!request.output.empty() && !request.config.output.plot) {
    refuse_command("--plot: 'output.plot' is off; leave out one of the two");
  }
  if (!request.output.empty()) check_plot_output(request.output, !request.gnuplot.empty());
  if (ranks.rank() == 0) start.require_folder(disk);
}

void require_agreement(Session& session, RankGroup& ranks, const std::string& config,
                       std::int64_t step) {
  ranks.require_equal("config", hash128_hex(std::string_view(config)));
  ranks.require_equal("training set", session.data().train->fingerprint());
  ranks.require_equal("validation set", session.data().val->fingerprint());
  ranks.require_equal("plan", hash128_hex(text_of(session.model().train().plan())));
  ranks.require_equal("step to begin at", std::to_string(step));
  std::vector<std::byte> copy;
  ranks.require_equal("model to begin with", model_hash(session.model(), copy));
}

std::vector<std::string> require_room(Session& session, const TrainingRequest& request,
                                      const RunStart& start, const Disk& disk) {
  const RunConfig& config = session.config();
  const fs::path place = start.folder();
  const CheckpointContent content = snapshot(session, {});
  if (config.checkpoint) require_checkpoint_space(disk, place, content);
  const BatchNumbers& batch = session.batch();
  const Graph& network = session.model().programs().eval->plan().laid_out.graph;
  const Graph whole = build_whole_network(config, batch.replica);
  std::vector<std::string> warnings = {rate_warning(config, batch.ranks, batch.global),
                                       frozen_warning(network),
                                       plateau_warning(config),
                                       schedule_warning(session.schedule(), batch),
                                       scale_warning(config.data, *session.data().train, whole),
                                       softmax_warning(whole)};
  if (request.gnuplot.empty() && config.output.plot) warnings.push_back(missing_gnuplot_warning());
  // A folder from an earlier start already has checkpoints, whose room is not free.
  if (!start.has_folder()) {
    warnings.push_back(
        room_warning(most_bytes(content, config, batch.epochs), place, disk.free_bytes(place)));
  }
  std::erase(warnings, "");
  return warnings;
}

ReadyRun ready_run(TrainingRequest& request, RankGroup& ranks, const Disk& disk) {
  NewRun start(request);
  require_request(request, start, ranks, disk);
  start.describe_config(ranks.size());
  ReadyRun ready{.session = start.make_session(ranks, request.device.warn),
                 .folder = start.folder()};
  const TrainingState state = start.fill(*ready.session, request.device.warn);
  require_agreement(*ready.session, ranks, start.config().typed, state.step);
  if (ranks.rank() == 0) ready.warnings = require_room(*ready.session, request, start, disk);
  return ready;
}

}  // namespace trainyard
