#include "compute/conv/winograd/engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/host_name.h"
#include "base/parallel.h"
#include "compute/conv/winograd/executor.h"
#include "compute/conv/winograd/trial.h"

namespace trainyard::winograd {
namespace {

using Winograd = CpuExecutorSettings::Winograd;
using EngineSource = CpuExecutorSettings::EngineSource;

struct EngineKind {
  Engine engine;
  std::string_view name;
  Winograd asked;               // what asks for it alone
  std::int64_t least_channels;  // of a sum, from which on it is accurate
};
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::array<EngineKind, 4> kKinds{
    {{Engine::direct, "direct", Winograd::off, 0},
     {Engine::two, "F(2x2, 3x3)", Winograd::two, 16},
     {Engine::four_by_two, "F(4x2, 3x3)", Winograd::four_by_two, 64},
     {Engine::four, "F(4x4, 3x3)", Winograd::four, kNever}}};

/// Products of an image below which a layer is computed directly: its time is not worth a choice,
/// nor can it be measured well.
constexpr std::int64_t kLeastProducts = 1 << 19;

Json json_of(Engine engine) {
  return {{"engine", kKinds.at(static_cast<std::size_t>(engine)).name}};
}

std::string names() {
  std::string text;
  for (const EngineKind& kind : kKinds) {
    text += text.empty() ? "" : kind.engine == kKinds.back().engine ? " or " : ", ";
    text += fmt::format("'{}'", kind.name);
  }
  return text;
}

/// Throws Error{data} that names `source`.
Engine engine_of(const Json& json, const std::string& source) {
  if (json.is_object() && json.contains("engine")) {
    for (const EngineKind& kind : kKinds) {
      if (json["engine"] == Json(kind.name)) return kind.engine;
    }
  }
  throw Error(ErrorKind::data, source + ": an engine's 'engine' is not as expected: " + names());
}

std::map<std::string, Engine> parse_engines(const std::string& text, EngineSource source) {
  const std::string name = source == EngineSource::first_rank ? "the engines of rank 0"
                                                              : "the engines of the earlier run";
  std::map<std::string, Engine> engines;
  if (text.empty()) return engines;
  const Json json = parse_json(text, {.name = name, .kind = ErrorKind::data});
  if (!json.is_object()) throw Error(ErrorKind::data, name + ": not an object");
  for (const auto& [key, value] : json.items()) {
    if (key.starts_with(kProcessorKey)) engines[key] = engine_of(value, name);
  }
  return engines;
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

std::vector<Engine> all_engines() {
  std::vector<Engine> engines;
  for (const EngineKind& kind : kKinds) engines.push_back(kind.engine);
  return engines;
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

std::unique_ptr<Executor> make_engine(Engine engine, const StepDescription& step,
                                      const MakeDirect& direct) {
  if (engine == Engine::direct) return direct(step);
  constexpr std::array kTiles{Tile::two, Tile::four_by_two, Tile::four};
  return make_winograd(conv_step(step), kTiles.at(static_cast<std::size_t>(engine) - 1),
                       step.threads);
}

std::vector<Engine> accurate_engines(const ConvStep& conv) {
  const std::int64_t channels =
      conv.computes == ConvProduct::output ? conv.channels() : conv.filters();
  std::vector<Engine> engines;
  for (const EngineKind& kind : kKinds) {
    if (channels >= kind.least_channels) engines.push_back(kind.engine);
  }
  return engines;
}

Engines::Engines(CpuExecutorSettings settings, const std::string& library)
    : settings_(std::move(settings)),
      cache_(cache_settings(settings_, library)),
      earlier_(parse_engines(settings_.engines, settings_.engines_of)) {}

std::unique_ptr<Executor> Engines::make(const StepDescription& step, const MakeDirect& direct) {
  const ConvStep conv = conv_step(step);
  const bool possible = step.storage == DType::f32 && supports(conv);
  if (settings_.winograd == Winograd::off || !possible) return direct(step);
  for (const EngineKind& kind : kKinds) {
    if (settings_.winograd == kind.asked) return make_engine(kind.engine, step, direct);
  }
  const bool fast = settings_.winograd == Winograd::fast;
  const std::vector<Engine> engines = fast ? all_engines() : accurate_engines(conv);
  if (settings_.winograd == Winograd::fewest) return make_engine(engines.back(), step, direct);
  if (engines.size() == 1 || products_of_image(conv) < kLeastProducts) return direct(step);
  return make_engine(choose(step, conv, engines, direct), step, direct);
}

std::optional<Engine> Engines::known(const std::string& key,
                                     std::span<const Engine> engines) const {
  if (const auto found = earlier_.find(key); found != earlier_.end()) return found->second;
  if (settings_.engines_of == EngineSource::first_rank) {
    throw Error(ErrorKind::device,
                fmt::format("rank 0 chose no engine for a convolution here ({}); all ranks of a "
                            "run need the same build of train",
                            key));
  }
  const std::optional<Json> stored = cache_.find(key);
  if (!stored) return std::nullopt;
  const Engine engine = engine_of(*stored, cache_.path().string());
  const bool permitted = std::ranges::find(engines, engine) != engines.end();
  return permitted ? std::optional(engine) : std::nullopt;
}

Engine Engines::choose(const StepDescription& step, const ConvStep& conv,
                       std::span<const Engine> engines, const MakeDirect& direct) {
  const std::string key =
      choice_key(conv) + (settings_.winograd == Winograd::fast ? ", any form" : "");
  if (const auto found = used_.find(key); found != used_.end()) return found->second;
  std::optional<Engine> engine = known(key, engines);
  if (!engine) {
    settings_.tick();
    const TrialResult fastest = time_engines(step, products_of_image(conv), engines, direct);
    engine = fastest.engine;
    cache_.keep(key, json_of(fastest.engine), fastest.seconds * 1e6);
    cache_.save();
  }
  used_[key] = *engine;
  return *engine;
}

std::string Engines::chosen() const {
  Json all = Json::object();
  for (const auto& [key, engine] : used_) all[key] = json_of(engine);
  return json_text(all);
}

}  // namespace trainyard::winograd
