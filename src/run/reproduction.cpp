#include "run/reproduction.h"

#include "base/parallel.h"
#include "base/read_file.h"

namespace trainyard {

namespace {

/// Throws Error{data}.
Json record_of(const fs::path& run_json) {
  constexpr std::uint64_t kLimit = 1 << 20;
  return parse_json(read_text(run_json, ErrorKind::data, kLimit), {.name = run_json.string()});
}

}  // namespace

Json reproduction(const SessionDevice& device) {
  return {{"device", device.device->name()},
          {"target", device.target.name},
          {"threads", device.threads},
          {"instruction_set", processor_has_avx512() ? "x86-64-v4" : "x86-64-v3"},
          {"libraries", device.executors->libraries()},
          {"choices", parse_json(device.executors->choices(), {.name = "choices"})}};
}

std::string choices_of(const fs::path& run_json) {
  try {
    const Json record = record_of(run_json);
    return record.contains("choices") ? json_text(record["choices"]) : "";
  } catch (const Error&) {
    return "";  // reproduction_differences() reports that the file cannot be read
  }
}

std::vector<std::string> reproduction_differences(const fs::path& run_json, const Json& here) {
  Json before;
  try {
    before = record_of(run_json);
  } catch (const Error& error) {
    return {std::string(error.what()) +
            "; it is not known whether the run began on a machine like this"};
  }
  std::vector<std::string> differences;
  for (const auto& [key, value] : here.items()) {
    if (key == "threads" || !before.contains(key) || before[key] == value) continue;
    // The engines of all convolutions are pages of text.
    const bool pages = key == "choices";
    differences.push_back(
        "the run was started with " +
        (pages ? "other engines of the library (choices in run.json) than it has now"
               : key + " " + before[key].dump() + " and continues with " + value.dump()) +
        ": the last bits of its results may differ from those of an uninterrupted run");
  }
  return differences;
}

}  // namespace trainyard
