#include "analysis/run_difference.h"

#include "base/error.h"
#include "base/text.h"

namespace trainyard {

namespace {

void require_config(const RecordedRun& run) {
  if (run.config.kind == config::Node::Kind::map) return;
  throw Error(ErrorKind::data, "the config of '" + run.folder.string() +
                                   "' cannot be read: " + joined(run.problems, "; "));
}

std::string or_unset(const std::string& value) { return value.empty() ? "(not set)" : value; }
Json or_null(const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); }

}  // namespace

std::vector<config::Difference> run_differences(const RecordedRun& before,
                                                const RecordedRun& after) {
  require_config(before);
  require_config(after);
  std::vector<config::Difference> found = config::differences(before.config, after.config);
  std::erase_if(found,
                [](const config::Difference& difference) { return difference.key == kThreadsKey; });
  for (const std::string& key : result_fact_keys()) {
    const auto a = fact_of(before, key), b = fact_of(after, key);
    if (a && b && *a != *b) found.push_back({.key = key, .before = *a, .after = *b});
  }
  return found;
}

std::string differences_text(const std::vector<config::Difference>& differences) {
  if (differences.empty()) return "the configs are the same\n";
  std::string text;
  for (const config::Difference& difference : differences) {
    text += difference.key + ": " + or_unset(difference.before) + " -> " +
            or_unset(difference.after) + "\n";
  }
  return text;
}

Json differences_json(const std::vector<config::Difference>& differences) {
  Json json = Json::object();
  for (const config::Difference& difference : differences) {
    json[difference.key] = {{"before", or_null(difference.before)},
                            {"after", or_null(difference.after)}};
  }
  return json;
}

}  // namespace trainyard
