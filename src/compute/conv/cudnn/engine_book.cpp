#include "compute/conv/cudnn/engine_book.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace trainyard::cudnn {
namespace {

std::filesystem::path path_in(const std::filesystem::path& folder, const std::string& gpu,
                              const std::string& cudnn_version) {
  if (folder.empty()) return {};
  return folder / ChoiceCache::file_name(gpu + "_cudnn-" + cudnn_version + ".json");
}

[[noreturn]] void differs_from_first(const std::string& key, const std::string& problem) {
  throw Error(ErrorKind::device,
              fmt::format("{} ({}); all ranks of a run need the same GPU model and the same cuDNN",
                          problem, key));
}

}  // namespace

EngineCache::EngineCache(const std::filesystem::path& folder, const std::string& gpu,
                         const std::string& cudnn_version, Warn warn)
    : ChoiceCache(
          {.path = path_in(folder, gpu, cudnn_version),
           .owner = gpu + " with cuDNN " + cudnn_version,
           .identity = {{"gpu", gpu}, {"cudnn", cudnn_version}},
           .check = [](const Json& json,
                       const std::string& source) { static_cast<void>(choice_of(json, source)); },
           .warn = std::move(warn)}) {}

std::optional<EngineChoice> EngineCache::find(const std::string& key) const {
  const std::optional<Json> found = ChoiceCache::find(key);
  if (!found) return std::nullopt;
  return choice_of(*found, path().string());
}

EngineBook::EngineBook(const CudaExecutorSettings& settings, const std::string& cudnn_version)
    : tune_(settings.tune),
      follows_(settings.engines_of == EngineSource::first_rank),
      warn_(settings.warn),
      cache_(settings.engine_folder, settings.gpu, cudnn_version, settings.warn),
      earlier_(earlier_choices(settings.engines, settings.engines_of, false, choice_of)) {}

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
