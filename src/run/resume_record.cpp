#include "run/resume_record.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "checkpoint/run_identity.h"

namespace trainyard {
namespace {

constexpr const char* kResumes = "resumes";
constexpr const char* kDataChanges = "data_changes";

Json json_of(const ResumeCircumstances& now) {
  return {{"ranks", now.ranks}, {"global_batch", now.global_batch}, {"version", now.version}};
}

/// Those of the newest start that `run` tells of; what it does not tell is as it is `now`.
Json last_circumstances(const Json& run, const Json& now) {
  const Json resumes = run.value(kResumes, Json::array());
  const Json& last = resumes.empty() ? run : resumes.back();
  Json known = now;
  for (auto& [key, value] : known.items()) {
    if (last.contains(key)) value = last[key];
  }
  return known;
}

void add(Json& run, const char* list, const ResumedOn& on, Json entry) {
  entry["epoch"] = on.epoch;
  entry["step"] = on.step;
  run[list].push_back(std::move(entry));
}

}  // namespace

void record_resume(const RunFolder& folder, const ResumeCircumstances& now, const ResumedOn& on) {
  std::optional<Json> run = run_record(folder.file("run.json"));
  if (!run) return;
  const Json before = *run;
  const Json circumstances = json_of(now);
  if (last_circumstances(*run, circumstances) != circumstances) {
    add(*run, kResumes, on, circumstances);
  }
  if (!on.changes.empty()) {
    Json former = {{"train", run->value("train_fingerprint", "")},
                   {"val", run->value("val_fingerprint", "")}};
    add(*run, kDataChanges, on,
        {{"command", on.command}, {"changes", on.changes}, {"former", std::move(former)}});
    put_facts(on.data, *run);
  }
  if (*run != before) folder.write("run.json", json_text(*run));
}

bool trained_with(const std::filesystem::path& folder, std::int64_t global_batch) {
  const std::optional<Json> run = run_record(folder / "run.json");
  if (!run) return true;
  const Json wanted = global_batch;
  const auto had_it = [&](const Json& start) {
    return start.value("global_batch", wanted) == wanted;
  };
  const Json resumes = run->value(kResumes, Json::array());
  return had_it(*run) && std::ranges::all_of(resumes, had_it);
}

}  // namespace trainyard
