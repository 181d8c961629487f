#include "run/run_identity.h"

#include "base/read_file.h"
#include "base/text.h"

namespace trainyard {

namespace {

std::string run_name(const std::string& id) {
  return id.empty() ? "a run without an id" : "run " + id;
}

}  // namespace

RunIdentity identity_of(const std::filesystem::path& run_json) {
  constexpr std::uint64_t kLimit = 16u << 20;
  try {
    const Json run =
        parse_json(read_text(run_json, ErrorKind::data, kLimit), {.name = run_json.string()});
    return {.id = run.value("id", "")};
  } catch (const Json::exception&) {
    return {};
  } catch (const Error&) {
    return {};
  }
}

std::string id_of_own(const LoadedCheckpoint& checkpoint, const RunIdentity& run,
                      const std::filesystem::path& folder) {
  if (!run.id || *run.id == checkpoint.run) return checkpoint.run;
  const std::string path = checkpoint.path.string();
  throw Error(ErrorKind::checkpoint,
              path + ": is a checkpoint of " + run_name(checkpoint.run) + ", but '" +
                  folder.string() + "' is " + run_name(*run.id) +
                  "; move it away to go on from this run's own; to begin a new run with its "
                  "weights: train --config FILE --init " +
                  shell_quoted(path));
}

}  // namespace trainyard
