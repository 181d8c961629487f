#include "compute/conv/cudnn/engine_book.h"

#include <fmt/format.h>

#include "base/error.h"

namespace trainyard::cudnn {
namespace {

using Source = CudaExecutorSettings::EngineSource;

std::map<std::string, EngineChoice> parse_engines(const std::string& text, Source source) {
  const std::string name =
      source == Source::first_rank ? "the engines of rank 0" : "the engines of the earlier run";
  std::map<std::string, EngineChoice> choices;
  if (text.empty()) return choices;
  const Json json = parse_json(text, {.name = name, .kind = ErrorKind::data});
  if (!json.is_object()) throw Error(ErrorKind::data, name + ": not an object");
  for (const auto& [key, value] : json.items()) {
    if (!key.starts_with(kProcessorKey)) choices[key] = choice_of(value, name);
  }
  return choices;
}

[[noreturn]] void differs_from_first(const std::string& key, const std::string& problem) {
  throw Error(ErrorKind::device,
              fmt::format("{} ({}); all ranks of a run need the same GPU model and the same cuDNN",
                          problem, key));
}

}  // namespace

EngineBook::EngineBook(const CudaExecutorSettings& settings, const std::string& cudnn_version)
    : tune_(settings.tune),
      follows_(settings.engines_of == Source::first_rank),
      warn_(settings.warn),
      cache_(settings.engine_folder, settings.gpu, cudnn_version, settings.warn),
      earlier_(parse_engines(settings.engines, settings.engines_of)) {}

std::optional<EnginePlan> EngineBook::used(const std::string& key) const {
  const auto found = used_.find(key);
  return found == used_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<EngineChoice> EngineBook::known(const std::string& key) const {
  if (const auto found = earlier_.find(key); found != earlier_.end()) return found->second;
  if (follows_) differs_from_first(key, "rank 0 chose no cuDNN engine for a convolution here");
  return tune_ ? cache_.find(key) : std::nullopt;
}

void EngineBook::reject(const std::string& key, const std::string& reason) {
  if (follows_) {
    differs_from_first(key, "the cuDNN engine that rank 0 chose is unusable here: " + reason);
  }
  if (earlier_.erase(key) == 0) return cache_.forget(key, key + ": " + reason);
  warn_(
      fmt::format("a cuDNN engine that this run began with is unusable here, and {}: the "
                  "last bits of its results may differ from those of an uninterrupted run "
                  "({}: {})",
                  tune_ ? "engines are timed again" : "another one is taken", key, reason));
}

void EngineBook::keep(const std::string& key, const EngineChoice& choice, double microseconds) {
  cache_.keep(key, choice, microseconds);
  cache_.save();
}

std::string EngineBook::chosen() const {
  Json all = Json::object();
  for (const auto& [key, plan] : used_) all[key] = json_of(plan.choice);
  return json_text(all);
}

}  // namespace trainyard::cudnn
