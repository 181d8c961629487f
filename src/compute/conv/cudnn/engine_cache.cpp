#include "compute/conv/cudnn/engine_cache.h"

#include <utility>

namespace trainyard::cudnn {
namespace {

std::filesystem::path path_in(const std::filesystem::path& folder, const std::string& gpu,
                              const std::string& cudnn_version) {
  if (folder.empty()) return {};
  return folder / ChoiceCache::file_name(gpu + "_cudnn-" + cudnn_version + ".json");
}

}  // namespace

EngineCache::EngineCache(const std::filesystem::path& folder, const std::string& gpu,
                         const std::string& cudnn_version, Warn warn)
    : cache_(
          {.path = path_in(folder, gpu, cudnn_version),
           .owner = gpu + " with cuDNN " + cudnn_version,
           .identity = {{"gpu", gpu}, {"cudnn", cudnn_version}},
           .check = [](const Json& json,
                       const std::string& source) { static_cast<void>(choice_of(json, source)); },
           .warn = std::move(warn)}) {}

std::optional<EngineChoice> EngineCache::find(const std::string& key) const {
  const std::optional<Json> found = cache_.find(key);
  if (!found) return std::nullopt;
  return choice_of(*found, path().string());
}

}  // namespace trainyard::cudnn
