#include "compute/conv/winograd/algorithms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/host.h"
#include "base/parallel.h"
#include "compute/conv/winograd/executor.h"
#include "compute/conv/winograd/trial.h"

namespace trainyard::winograd {
namespace {

using Winograd = CpuExecutorSettings::Winograd;
using EngineSource = CpuExecutorSettings::EngineSource;

struct EngineKind {
  ConvAlgorithm algorithm;
  std::string_view name;
  Winograd asked;               // what asks for it alone
  std::int64_t least_channels;  // of a sum, from which on it is accurate
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
  throw Error(ErrorKind::data, source + ": an engine's 'engine' is not as expected: " + names());
}

std::map<std::string, ConvAlgorithm> parse_engines(const std::string& text, EngineSource source) {
  const std::string name = source == EngineSource::first_rank ? "the engines of rank 0"
                                                              : "the engines of the earlier run";
  std::map<std::string, ConvAlgorithm> algorithms;
  if (text.empty()) return algorithms;
  const Json json = parse_json(text, {.name = name, .kind = ErrorKind::data});
  if (!json.is_object()) throw Error(ErrorKind::data, name + ": not an object");
  for (const auto& [key, value] : json.items()) {
    if (key.starts_with(kProcessorKey)) algorithms[key] = engine_of(value, name);
  }
  return algorithms;
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
      .path = stored ? settings.engine_folder / (ChoiceCache::file_name(owner) + ".json")
                     : std::filesystem::path(),
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

std::unique_ptr<Executor> make_algorithm(ConvAlgorithm algorithm, const StepDescription& step,
                                         const MakeDirect& direct) {
  if (algorithm == ConvAlgorithm::direct) return direct(step);
  constexpr std::array kTiles{Tile::two, Tile::four_by_two, Tile::four};
  return make_winograd(conv_step(step), kTiles.at(static_cast<std::size_t>(algorithm) - 1),
                       step.threads);
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
      earlier_(parse_engines(settings_.engines, settings_.engines_of)) {}

std::unique_ptr<Executor> ConvAlgorithms::make(const StepDescription& step,
                                               const MakeDirect& direct) {
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
    throw Error(ErrorKind::device,
                fmt::format("rank 0 chose no engine for a convolution here ({}); all ranks of a "
                            "run need the same build of train",
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
