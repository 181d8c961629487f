#include "compute/conv/cudnn/engine_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace trainyard::cudnn {
namespace {

/// A numerical note of an engine, when it counts against the engine, and the reason in words.
struct NoteRule {
  cudnnBackendNumericalNote_t note;
  std::string_view reason;
  bool (*refuses)(const EnginePolicy&);
};

bool always(const EnginePolicy&) { return true; }
bool in_f32(const EnginePolicy& rules) { return rules.f32; }

// Winograd's small tiles have a few times the error of plain sums and are permitted; the error of
// large tiles and of Fourier transforms is far larger (Lavin and Gray 2016, section 4.1).
constexpr std::array<NoteRule, 7> kNoteRules{{
    {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, "not deterministic",
     [](const EnginePolicy& rules) { return rules.deterministic; }},
    {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, "rounds f32 factors to TF32",
     [](const EnginePolicy& rules) { return rules.f32 && !rules.tf32; }},
    {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, "converts its inputs to a smaller type", &always},
    {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, "sums in less than f32", &always},
    {CUDNN_NUMERICAL_NOTE_FFT, "Fourier transform", &in_f32},
    {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6, "Winograd with large tiles", &in_f32},
    {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13, "Winograd with large tiles", &in_f32},
}};

[[noreturn]] void bad_choice(const std::string& source, std::string_view key) {
  throw Error(ErrorKind::data, fmt::format("{}: an engine's '{}' is not as expected", source, key));
}

std::int64_t integer_of(const Json& json, const std::string& source, std::string_view key) {
  if (!json.is_number_integer()) bad_choice(source, key);
  return json.get<std::int64_t>();
}

}  // namespace

Json json_of(const EngineChoice& choice) {
  Json knobs = Json::array();
  for (const Knob& knob : choice.knobs) knobs.push_back(Json::array({knob.type, knob.value}));
  Json json{
      {"engine", choice.engine}, {"knobs", std::move(knobs)}, {"adds_bias", choice.adds_bias}};
  if (choice.adds_result) json["adds_result"] = true;
  return json;
}

EngineChoice choice_of(const Json& json, const std::string& source) {
  for (const char* key : {"engine", "knobs", "adds_bias"}) {
    if (!json.is_object() || !json.contains(key)) bad_choice(source, key);
  }
  EngineChoice choice;
  choice.engine = integer_of(json["engine"], source, "engine");
  if (choice.engine < 0) bad_choice(source, "engine");
  if (!json["knobs"].is_array()) bad_choice(source, "knobs");
  for (const Json& knob : json["knobs"]) {
    if (!knob.is_array() || knob.size() != 2) bad_choice(source, "knobs");
    choice.knobs.push_back(
        {integer_of(knob[0], source, "knobs"), integer_of(knob[1], source, "knobs")});
  }
  if (!json["adds_bias"].is_boolean()) bad_choice(source, "adds_bias");
  choice.adds_bias = json["adds_bias"].get<bool>();
  if (!json.contains("adds_result")) return choice;
  if (!json["adds_result"].is_boolean()) bad_choice(source, "adds_result");
  choice.adds_result = json["adds_result"].get<bool>();
  return choice;
}

std::string_view refusal(const EngineFacts& facts, const EnginePolicy& rules) {
  for (const NoteRule& rule : kNoteRules) {
    if (std::ranges::count(facts.numerical_notes, rule.note) > 0 && rule.refuses(rules)) {
      return rule.reason;
    }
  }
  if (facts.workspace_bytes > rules.workspace_cap) return "needs more workspace than the plan has";
  return "";
}

std::string text_of(const EnginePolicy& rules) {
  const std::string_view type = !rules.f32 ? "half" : rules.tf32 ? "tf32" : "f32";
  return fmt::format("{}, {}, workspace up to {}",
                     rules.deterministic ? "deterministic" : "any order", type,
                     rules.workspace_cap);
}

std::string RefusalCount::text() const {
  std::string out;
  for (const auto& [reason, count] : counts_) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, reason);
  }
  return out.empty() ? "cuDNN proposed none" : out;
}

}  // namespace trainyard::cudnn
