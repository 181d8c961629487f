#include "exec/winograd/engines.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/host_name.h"
#include "base/parallel.h"
#include "exec/winograd/executor.h"
#include "exec/winograd/trial.h"

namespace trainyard::winograd {
namespace {

using Winograd = CpuExecutorSettings::Winograd;
using EngineSource = CpuExecutorSettings::EngineSource;

struct EngineName {
  Engine engine;
  std::string_view name;
};
constexpr std::array<EngineName, 3> kNames{
    {{Engine::direct, "direct"}, {Engine::two, "F(2x2, 3x3)"}, {Engine::four, "F(4x4, 3x3)"}}};

/// Products of an image below which a layer is computed directly: its time is not worth a choice,
/// nor can it be measured well.
constexpr std::int64_t kLeastProducts = 1 << 19;

Json json_of(Engine engine) {
  for (const auto& [one, name] : kNames) {
    if (one == engine) return {{"engine", name}};
  }
  throw Error(ErrorKind::bug, "an engine without a name");
}

/// Throws Error{data} that names `source`.
Engine engine_of(const Json& json, const std::string& source) {
  if (json.is_object() && json.contains("engine")) {
    for (const auto& [engine, name] : kNames) {
      if (json["engine"] == Json(name)) return engine;
    }
  }
  throw Error(ErrorKind::data,
              source +
                  ": an engine's 'engine' is not as expected: 'direct', 'F(2x2, 3x3)' or "
                  "'F(4x4, 3x3)'");
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

ChoiceCache::Settings cache_settings(const CpuExecutorSettings& settings,
                                     const std::string& library) {
  const std::string set = processor_has_avx512() ? "AVX-512" : "AVX2";
  const std::string owner = fmt::format("{} with {} and {}", processor_name(), set, library);
  const bool stored = !settings.engine_folder.empty() && settings.winograd == Winograd::timed;
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
  return make_winograd(conv_step(step), engine == Engine::two ? Tile::two : Tile::four,
                       step.threads);
}

Engines::Engines(CpuExecutorSettings settings, const std::string& library)
    : settings_(std::move(settings)),
      cache_(cache_settings(settings_, library)),
      earlier_(parse_engines(settings_.engines, settings_.engines_of)) {}

std::unique_ptr<Executor> Engines::make(const StepDescription& step, const MakeDirect& direct) {
  const ConvStep conv = conv_step(step);
  if (settings_.winograd == Winograd::off || !supports(conv)) return direct(step);
  if (settings_.winograd != Winograd::timed) {
    const bool two = settings_.winograd == Winograd::two;
    return make_engine(two ? Engine::two : Engine::four, step, direct);
  }
  if (products_of_image(conv) < kLeastProducts) return direct(step);
  return make_engine(choose(step, conv, direct), step, direct);
}

std::optional<Engine> Engines::known(const std::string& key) const {
  if (const auto found = earlier_.find(key); found != earlier_.end()) return found->second;
  if (settings_.engines_of == EngineSource::first_rank) {
    throw Error(ErrorKind::device,
                fmt::format("rank 0 chose no engine for a convolution here ({}); all ranks of a "
                            "run need the same build of train",
                            key));
  }
  const std::optional<Json> stored = cache_.find(key);
  if (!stored) return std::nullopt;
  return engine_of(*stored, cache_.path().string());
}

Engine Engines::choose(const StepDescription& step, const ConvStep& conv,
                       const MakeDirect& direct) {
  const std::string key = choice_key(conv);
  if (const auto found = used_.find(key); found != used_.end()) return found->second;
  std::optional<Engine> engine = known(key);
  if (!engine) {
    settings_.tick();
    const TrialResult fastest = time_engines(step, products_of_image(conv), direct);
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
