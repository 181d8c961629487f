#include "run/reproduction.h"

#include "base/parallel.h"
#include "base/read_file.h"

namespace trainyard {

Json reproduction(const SessionDevice& device) {
  return {{"device", device.device->name()},
          {"target", device.target.name},
          {"threads", device.threads},
          {"instruction_set", processor_has_avx512() ? "x86-64-v4" : "x86-64-v3"},
          {"libraries", device.executors->libraries()}};
}

std::vector<std::string> reproduction_differences(const std::filesystem::path& run_json,
                                                  const Json& here) {
  constexpr std::uint64_t kLimit = 1 << 20;
  Json before;
  try {
    before = parse_json(read_text(run_json, ErrorKind::data, kLimit), {.name = run_json.string()});
  } catch (const Error& error) {
    return {std::string(error.what()) + "; whether the run began on such a machine is not known"};
  }
  std::vector<std::string> differences;
  for (const auto& [key, value] : here.items()) {
    if (key == "threads" || !before.contains(key) || before[key] == value) continue;
    differences.push_back("the run was begun with " + key + " " + before[key].dump() +
                          " and goes on with " + value.dump() +
                          ": its last bits may differ from those of a run that never stopped");
  }
  return differences;
}

}  // namespace trainyard
