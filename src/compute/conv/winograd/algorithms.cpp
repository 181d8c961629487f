#include "compute/conv/winograd/algorithms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "base/offset_allocator.h"
#include "base/parallel.h"

namespace trainyard::winograd {
namespace {

struct TrialResult {
  ConvAlgorithm algorithm = ConvAlgorithm::direct;
  double seconds = 0;  // time of one run of some images
};

constexpr int kRounds = 4;                              // after one that is not counted
constexpr std::int64_t kProductsOfThread = 50'000'000;  // products of a run: a millisecond
constexpr double kMargin = 0.95;                        // share of the direct algorithm's time

/// Floats at a cache line.
class Floats {
 public:
  explicit Floats(std::size_t count) : values_(count + kLine, 0.0F) {}
  [[nodiscard]] float* data() {
    const auto at = reinterpret_cast<std::uintptr_t>(values_.data());
    return values_.data() + (round_up(at, kLine * sizeof(float)) - at) / sizeof(float);
  }

 private:
  static constexpr std::size_t kLine = 16;
  std::vector<float> values_;
};

/// The step with other images.
StepDescription with_images(StepDescription step, std::int64_t images) {
  for (std::vector<Layout>* list : {&step.inputs, &step.outputs}) {
    for (Layout& layout : *list) {
      Shape shape = shape_of(layout);
      layout = blocked_layout(Shape{images, shape.c(), shape.h(), shape.w()}, layout.block);
    }
  }
  return step;
}

/// An executor of `algorithm`.
ExecutorPtr make_algorithm(ConvAlgorithm algorithm, const StepDescription& step,
                           const MakeDirect& direct) {
  if (algorithm == ConvAlgorithm::direct) return direct(step);
  constexpr std::array kTiles{Tile::two, Tile::four_by_two, Tile::four};
  return make_winograd(conv_step(step), kTiles.at(static_cast<std::size_t>(algorithm) - 1),
                       step.threads);
}

/// An algorithm with memory to run in.
class Candidate {
 public:
  Candidate(ConvAlgorithm algorithm, const StepDescription& step, const MakeDirect& direct)
      : algorithm_(algorithm), executor_(make_algorithm(algorithm, step, direct)) {
    const bool forward = step.pass != Pass::backward_data;
    StepTensors tensors;
    const TensorView input = view(step.inputs[0]), output = view(step.outputs[0]);
    tensors.parameters = {view(plain_layout(Shape{weight_count(step)})),
                          view(plain_layout(Shape{shape_of(step.outputs[0]).c()}))};
    if (forward) {
      tensors.inputs = {input};
      tensors.outputs = {output};
    } else {
      tensors.input_gradients = {input};
      tensors.output_gradients = {output};
    }
    tensors.workspace = take(executor_->workspace_bytes() / sizeof(float) + 1);
    executor_->bind(tensors);
  }
  [[nodiscard]] ConvAlgorithm algorithm() const { return algorithm_; }
  [[nodiscard]] double seconds(const Clock& clock) {
    const double begin = clock.seconds();
    executor_->run();
    return clock.seconds() - begin;
  }

 private:
  static std::int64_t weight_count(const StepDescription& step) {
    return shape_of(step.inputs[0]).c() * shape_of(step.outputs[0]).c() * 9;
  }
  float* take(std::size_t count) { return memory_.emplace_back(count).data(); }
  TensorView view(const Layout& layout) {
    return {.data = take(static_cast<std::size_t>(span_elements(layout))), .layout = layout};
  }

  ConvAlgorithm algorithm_;
  ExecutorPtr executor_;
  std::vector<Floats> memory_;
};

/// The fastest of `algorithms`, the first of which is direct, for a step that all support: each
/// runs some images of the step's shape a few times in turn, in memory of its own, with the step's
/// threads. Another algorithm than the direct one must be faster by a margin.
TrialResult time_engines(const StepDescription& step, std::int64_t products_of_image,
                         std::span<const ConvAlgorithm> algorithms, const MakeDirect& direct) {
  const std::int64_t images =
      step.threads * std::max<std::int64_t>(1, kProductsOfThread / products_of_image);
  const StepDescription trial = with_images(step, images);
  std::vector<Candidate> candidates;
  for (const ConvAlgorithm algorithm : algorithms)
    candidates.emplace_back(algorithm, trial, direct);
  std::vector<double> best(candidates.size(), std::numeric_limits<double>::infinity());
  const SystemClock clock;
  for (int round = 0; round <= kRounds; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const double seconds = candidates[i].seconds(clock);
      if (round > 0) best[i] = std::min(best[i], seconds);
    }
  }
  const double to_beat = kMargin * best[0];
  TrialResult fastest{.algorithm = ConvAlgorithm::direct, .seconds = best[0]};
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (best[i] < std::min(to_beat, fastest.seconds)) {
      fastest = {.algorithm = candidates[i].algorithm(), .seconds = best[i]};
    }
  }
  return fastest;
}

using Winograd = CpuExecutorSettings::Winograd;

struct EngineKind {
  ConvAlgorithm algorithm;
  std::string_view name;
  Winograd asked;               // what asks for it alone
  std::int64_t least_channels;  // channels of a sum from which on it is accurate
};
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::array<EngineKind, 4> kKinds{
    {{ConvAlgorithm::direct, "direct", Winograd::off, 0},
     {ConvAlgorithm::two, "F(2x2, 3x3)", Winograd::two, 16},
     {ConvAlgorithm::four_by_two, "F(4x2, 3x3)", Winograd::four_by_two, 64},
     {ConvAlgorithm::four, "F(4x4, 3x3)", Winograd::four, kNever}}};

/// Products of an image below which a layer is computed directly: its time is not worth a choice,
/// nor can it be measured well.
constexpr std::int64_t kLeastProducts = 1 << 19;

Json json_of(ConvAlgorithm algorithm) {
  return {{"engine", kKinds.at(static_cast<std::size_t>(algorithm)).name}};
}

std::string names() {
  std::string text;
  for (const EngineKind& kind : kKinds) {
    text += text.empty() ? "" : kind.algorithm == kKinds.back().algorithm ? " or " : ", ";
    text += fmt::format("'{}'", kind.name);
  }
  return text;
}

/// Throws Error{data} that names `source`.
ConvAlgorithm engine_of(const Json& json, const std::string& source) {
  if (json.is_object() && json.contains("engine")) {
    for (const EngineKind& kind : kKinds) {
      if (json["engine"] == Json(kind.name)) return kind.algorithm;
    }
  }
  throw data_error(source + ": an engine's 'engine' is not as expected: " + names());
}

bool timed(Winograd winograd) {
  return winograd == Winograd::accurate || winograd == Winograd::fast;
}

ChoiceCache::Settings cache_settings(const CpuExecutorSettings& settings,
                                     const std::string& library) {
  const std::string set = processor_has_avx512() ? "AVX-512" : "AVX2";
  const std::string owner = fmt::format("{} with {} and {}", processor_name(), set, library);
  const bool stored = !settings.engine_folder.empty() && timed(settings.winograd);
  return {
      .path =
          stored ? settings.engine_folder / (ChoiceCache::file_name(owner) + ".json") : fs::path(),
      .owner = owner,
      .identity = {{"processor", processor_name()}, {"instruction_set", set}, {"library", library}},
      .check = [](const Json& json,
                  const std::string& source) { static_cast<void>(engine_of(json, source)); },
      .warn = settings.warn};
}

std::int64_t products_of_image(const ConvStep& conv) {
  const Layout& output = conv.maps.output;
  return conv.filters() * conv.channels() * 9 * output.extent[2] * output.extent[3];
}

std::vector<ConvAlgorithm> all_engines() {
  std::vector<ConvAlgorithm> algorithms;
  for (const EngineKind& kind : kKinds) algorithms.push_back(kind.algorithm);
  return algorithms;
}

std::string map_text(const Layout& layout) {
  return fmt::format("{}x{}x{}", layout.extent[1], layout.extent[2], layout.extent[3]);
}

}  // namespace

std::string choice_key(const ConvStep& conv) {
  const Margins& m = conv.margins;
  return fmt::format("{}3x3 {}, {} to {}, margins {} {} {} {}", kProcessorKey,
                     conv.computes == ConvProduct::output ? "output" : "input gradient",
                     map_text(conv.maps.input), map_text(conv.maps.output), m.top, m.left, m.bottom,
                     m.right);
}

std::vector<ConvAlgorithm> accurate_algorithms(const ConvStep& conv) {
  const std::int64_t channels =
      conv.computes == ConvProduct::output ? conv.channels() : conv.filters();
  std::vector<ConvAlgorithm> algorithms;
  for (const EngineKind& kind : kKinds) {
    if (channels >= kind.least_channels) algorithms.push_back(kind.algorithm);
  }
  return algorithms;
}

ConvAlgorithms::ConvAlgorithms(CpuExecutorSettings settings, const std::string& library)
    : settings_(std::move(settings)),
      cache_(cache_settings(settings_, library)),
      earlier_(earlier_choices(settings_.engines, settings_.engines_of, true, engine_of)) {}

ExecutorPtr ConvAlgorithms::make(const StepDescription& step, const MakeDirect& direct) {
  const ConvStep conv = conv_step(step);
  const bool possible = step.storage == DType::f32 && supports(conv);
  if (settings_.winograd == Winograd::off || !possible) return direct(step);
  for (const EngineKind& kind : kKinds) {
    if (settings_.winograd == kind.asked) return make_algorithm(kind.algorithm, step, direct);
  }
  const bool fast = settings_.winograd == Winograd::fast;
  const std::vector<ConvAlgorithm> algorithms = fast ? all_engines() : accurate_algorithms(conv);
  if (settings_.winograd == Winograd::fewest)
    return make_algorithm(algorithms.back(), step, direct);
  if (algorithms.size() == 1 || products_of_image(conv) < kLeastProducts) return direct(step);
  return make_algorithm(choose(step, conv, algorithms, direct), step, direct);
}

std::optional<ConvAlgorithm> ConvAlgorithms::known(
    const std::string& key, std::span<const ConvAlgorithm> algorithms) const {
  if (const auto found = earlier_.find(key); found != earlier_.end()) return found->second;
  if (settings_.engines_of == EngineSource::first_rank) {
    throw device_error(
        fmt::format("rank 0 chose no engine for a convolution here ({}); all ranks of a run need "
                    "the same build of train",
                    key));
  }
  const std::optional<Json> stored = cache_.find(key);
  if (!stored) return std::nullopt;
  const ConvAlgorithm algorithm = engine_of(*stored, cache_.path().string());
  const bool permitted = std::ranges::find(algorithms, algorithm) != algorithms.end();
  return permitted ? std::optional(algorithm) : std::nullopt;
}

ConvAlgorithm ConvAlgorithms::choose(const StepDescription& step, const ConvStep& conv,
                                     std::span<const ConvAlgorithm> algorithms,
                                     const MakeDirect& direct) {
  const std::string key =
      choice_key(conv) + (settings_.winograd == Winograd::fast ? ", any form" : "");
  if (const auto found = used_.find(key); found != used_.end()) return found->second;
  std::optional<ConvAlgorithm> algorithm = known(key, algorithms);
  if (!algorithm) {
    settings_.tick();
    const TrialResult fastest = time_engines(step, products_of_image(conv), algorithms, direct);
    algorithm = fastest.algorithm;
    cache_.keep(key, json_of(fastest.algorithm), fastest.seconds * 1e6);
    cache_.save();
  }
  used_[key] = *algorithm;
  return *algorithm;
}

std::string ConvAlgorithms::chosen() const {
  Json all = Json::object();
  for (const auto& [key, algorithm] : used_) all[key] = json_of(algorithm);
  return json_text(all);
}

}  // namespace trainyard::winograd
