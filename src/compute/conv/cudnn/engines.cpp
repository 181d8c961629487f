#include "compute/conv/cudnn/engines.h"

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
  throw data_error(fmt::format("{}: an engine's '{}' is not as expected", source, key));
}

std::int64_t integer_of(const Json& json, const std::string& source, std::string_view key) {
  if (!json.is_number_integer()) bad_choice(source, key);
  return json.get<std::int64_t>();
}

using DescriptorList = std::vector<std::shared_ptr<Descriptor>>;

/// More configurations than any heuristic has proposed for a convolution.
constexpr std::int64_t kMostProposals = 64;

/// Engine configurations that one heuristic proposes; if it fails, none, and the failure is
/// counted.
DescriptorList proposals(const PlanQuery& query, cudnnBackendHeurMode_t mode,
                         RefusalCount& refused) {
  const DescriptorPtr& graph = query.operation_graph;
  Descriptor heuristic(graph->library(), CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, graph->what());
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, query.device);
  if (const std::string problem = heuristic.try_finalize(); !problem.empty()) {
    refused.add("heuristic: " + problem);
    return {};
  }
  const std::int64_t count =
      heuristic.count(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  return heuristic.get_descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                   CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, graph->what(),
                                   std::min(count, kMostProposals));
}

std::vector<Knob> knobs_of(const Descriptor& configuration) {
  std::vector<Knob> knobs;
  const auto choices = configuration.get_descriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                                     CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                                                     configuration.what(), CUDNN_KNOB_TYPE_COUNTS);
  for (const auto& choice : choices) {
    knobs.push_back({choice->get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE),
                     choice->get<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE)});
  }
  return knobs;
}

/// The engine of a configuration: its index and notes.
struct Engine {
  EngineChoice choice;
  EngineFacts facts;
};

Engine engine_of(const Descriptor& configuration, const PlanQuery& query) {
  const auto engines = configuration.get_descriptors(
      CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, configuration.what(), 1);
  TY_CHECK(engines.size() == 1, "a configuration belongs to one engine");
  Engine engine;
  engine.choice = {.engine = engines[0]->get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX),
                   .knobs = knobs_of(configuration),
                   .adds_bias = query.adds_bias,
                   .adds_result = query.adds_result};
  engine.facts.numerical_notes = engines[0]->get_list<cudnnBackendNumericalNote_t>(
      CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  return engine;
}

/// Sets `made`, or returns why cuDNN makes no plan.
std::string make_plan(const DescriptorPtr& configuration, const DescriptorPtr& device,
                      const EngineChoice& choice, EnginePlan& made) {
  auto plan = std::make_shared<Descriptor>(
      configuration->library(), CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, configuration->what());
  plan->set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  plan->set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device);
  if (std::string problem = plan->try_finalize(); !problem.empty()) return problem;
  made = {.choice = choice,
          .workspace_bytes = plan->get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE),
          .plan = plan};
  return "";
}

/// Sets `made` to the plan of a proposed engine, or returns why it may not be used.
std::string admit(const DescriptorPtr& configuration, Engine& engine, const PlanQuery& query,
                  EnginePlan& made) {
  // Notes first: making the plan of a refused engine may cost a compilation.
  if (const auto reason = refusal(engine.facts, query.rules); !reason.empty()) {
    return std::string(reason);
  }
  query.tick();
  std::string problem = make_plan(configuration, query.device, engine.choice, made);
  if (!problem.empty()) return problem;
  engine.facts.workspace_bytes = made.workspace_bytes;
  if (const auto reason = refusal(engine.facts, query.rules); !reason.empty()) {
    return std::string(reason);
  }
  return query.refusal_of(made);
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

DescriptorPtr make_device_properties(const Library& library, int device) {
  auto descriptor = std::make_shared<Descriptor>(library, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
                                                 "describing the GPU");
  descriptor->set(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, std::int32_t{device});
  descriptor->finalize();
  return descriptor;
}

std::vector<EnginePlan> find_plans(const PlanQuery& query, RefusalCount& refused) {
  std::vector<EnginePlan> plans;
  std::vector<EngineChoice> seen;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (plans.size() == query.most) return plans;
    for (const auto& configuration : proposals(query, mode, refused)) {
      if (plans.size() == query.most) return plans;
      Engine engine = engine_of(*configuration, query);
      if (std::ranges::find(seen, engine.choice) != seen.end()) continue;
      seen.push_back(engine.choice);
      EnginePlan plan;
      const std::string reason = admit(configuration, engine, query, plan);
      if (reason.empty()) {
        plans.push_back(std::move(plan));
      } else {
        refused.add(reason);
      }
    }
  }
  return plans;
}

EnginePlan remake_plan(const DescriptorPtr& operation_graph, const DescriptorPtr& device,
                       const EngineChoice& choice) {
  const Library& library = operation_graph->library();
  const std::string& what = operation_graph->what();
  auto engine = std::make_shared<Descriptor>(library, CUDNN_BACKEND_ENGINE_DESCRIPTOR, what);
  engine->set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, operation_graph);
  engine->set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, choice.engine);
  engine->set(CUDNN_ATTR_ENGINE_DEVICEPROP, device);
  engine->finalize();
  std::vector<DescriptorPtr> knobs;
  for (const Knob& knob : choice.knobs) {
    auto descriptor =
        std::make_shared<Descriptor>(library, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, what);
    descriptor->set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                    static_cast<cudnnBackendKnobType_t>(knob.type));
    descriptor->set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, knob.value);
    descriptor->finalize();
    knobs.push_back(std::move(descriptor));
  }
  auto configuration =
      std::make_shared<Descriptor>(library, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, what);
  configuration->set(CUDNN_ATTR_ENGINECFG_ENGINE, DescriptorPtr(engine));
  if (!knobs.empty()) {
    configuration->set_list(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                            std::span<const DescriptorPtr>(knobs));
  }
  configuration->finalize();
  EnginePlan plan;
  const std::string problem = make_plan(configuration, device, choice, plan);
  if (!problem.empty()) throw device_error("cuDNN: " + what + ": " + problem);
  return plan;
}

DescriptorPtr make_variant_pack(const Library& library, const GraphAddresses& addresses) {
  std::vector<std::int64_t> roles;
  std::vector<void*> pointers;
  const auto add = [&](Role role, void* address) {
    if (address == nullptr) return;
    TY_CHECK(reinterpret_cast<std::uintptr_t>(address) % kAlignment == 0,
             "tensors of a graph begin at multiples of its alignment");
    roles.push_back(static_cast<std::int64_t>(role));
    pointers.push_back(address);
  };
  add(Role::input, addresses.input);
  add(Role::weight, addresses.weight);
  add(Role::output, addresses.output);
  add(Role::bias, addresses.bias);
  auto pack = std::make_shared<Descriptor>(library, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
                                           "giving a graph its addresses");
  pack->set_list(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const std::int64_t>(roles));
  pack->set_list(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span<void* const>(pointers));
  pack->set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, addresses.workspace);
  pack->finalize();
  return pack;
}

}  // namespace trainyard::cudnn
