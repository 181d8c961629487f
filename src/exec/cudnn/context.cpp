#include "exec/cudnn/context.h"

#include "base/error.h"
#include "device/cuda/cuda_device.h"

namespace trainyard::cudnn {
namespace {

constexpr const char* kEarlierRun = "the engines of the earlier run";

std::map<std::string, EngineChoice> parse_engines(const std::string& text) {
  std::map<std::string, EngineChoice> choices;
  if (text.empty()) return choices;
  const Json json = parse_json(text, {.name = kEarlierRun, .kind = ErrorKind::data});
  if (!json.is_object()) throw Error(ErrorKind::data, std::string(kEarlierRun) + ": no object");
  for (const auto& [key, value] : json.items()) choices[key] = choice_of(value, kEarlierRun);
  return choices;
}

}  // namespace

Context::Context(CudaExecutorSettings settings)
    : settings_(std::move(settings)),
      stream_(cuda::stream_of(*settings_.queue)),
      library_(settings_.cudnn),
      handle_(library_, stream_),
      properties_(make_device_properties(library_, settings_.ordinal)),
      cache_(settings_.engine_folder, settings_.gpu, library_.version(), settings_.warn),
      earlier_(parse_engines(settings_.engines)) {}

const MatmulLibrary& Context::matmul_library() {
  if (!matmul_library_) matmul_library_.emplace(settings_.cublaslt);
  return *matmul_library_;
}

EngineRules Context::rules(DType storage, bool tf32) const {
  return {.deterministic = settings_.deterministic,
          .f32 = storage == DType::f32,
          .tf32 = tf32,
          .workspace_cap = static_cast<std::int64_t>(settings_.workspace_cap)};
}

std::optional<EnginePlan> Context::used(const std::string& key) const {
  const auto found = used_.find(key);
  return found == used_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<EngineChoice> Context::known(const std::string& key) const {
  if (const auto found = earlier_.find(key); found != earlier_.end()) return found->second;
  return settings_.tune ? cache_.find(key) : std::nullopt;
}

void Context::keep(const std::string& key, const EngineChoice& choice, double microseconds) {
  cache_.keep(key, choice, microseconds);
}

void Context::forget(const std::string& key, const std::string& reason) {
  earlier_.erase(key);
  cache_.forget(key, reason);
}

std::string Context::chosen_engines() const {
  Json all = Json::object();
  for (const auto& [key, plan] : used_) all[key] = json_of(plan.choice);
  return json_text(all);
}

}  // namespace trainyard::cudnn
