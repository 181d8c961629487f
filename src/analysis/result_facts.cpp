#include "analysis/result_facts.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"

namespace trainyard {
namespace {

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The values of a key at the start of a run and at its resumes, each once.
std::string values_text(const Json& run, const std::string& key) {
  std::vector<std::string> values = {text_of(run.at(key))};
  for (const Json& resume : run.value("resumes", Json::array())) {
    if (!resume.contains(key)) continue;
    const std::string value = text_of(resume.at(key));
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return joined(values);
}

/// "cpu, oneDNN 2.6.3, 0f3a...": the device, its libraries and the hash of the engines chosen.
std::string kernels_text(const Json& run) {
  const std::string device = run.value("device", "");
  std::string text = device == "reference" ? device : run.value("target", device);
  const std::string libraries = run.value("libraries", "");
  if (!libraries.empty()) text += ", " + libraries;
  const Json choices = run.value("choices", Json::object());
  return choices.empty() ? text : text + ", " + hash128_hex(choices.dump());
}

}  // namespace

const std::vector<std::string>& result_fact_keys() {
  static const std::vector<std::string> kKeys = {
      "run.init",     "run.ranks",   "run.global_batch", "run.train_data",
      "run.val_data", "run.kernels", "run.version"};
  return kKeys;
}

std::vector<ResultFact> result_facts(const Json& run) {
  const Json init = run.value("init", Json::object());
  std::vector<ResultFact> facts = {{"run.init", init.value("hash", "")}};
  const auto add = [&](const std::string& key, const std::string& name, const auto& text) {
    if (run.contains(name)) facts.push_back({key, text(run, name)});
  };
  const auto value = [](const Json& from, const std::string& name) {
    return text_of(from.at(name));
  };
  const auto kernels = [](const Json& from, const std::string&) { return kernels_text(from); };
  add("run.ranks", "ranks", values_text);
  add("run.global_batch", "global_batch", values_text);
  add("run.train_data", "train_fingerprint", value);
  add("run.val_data", "val_fingerprint", value);
  add("run.kernels", "target", kernels);
  add("run.version", "version", values_text);
  return facts;
}

}  // namespace trainyard
