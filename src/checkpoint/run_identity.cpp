#include "checkpoint/run_identity.h"

#include "base/read_file.h"
#include "base/text.h"

namespace trainyard {

namespace {

std::string run_name(const std::string& id) {
  return id.empty() ? "a run without an id" : "run " + id;
}

}  // namespace

std::optional<Json> run_record(const fs::path& run_json) {
  constexpr std::uint64_t kLimit = 16u << 20;
  try {
    Json run =
        parse_json(read_text(run_json, ErrorKind::data, kLimit), {.name = run_json.string()});
    return run.is_object() ? std::optional(std::move(run)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::string> recorded_id(const fs::path& run_json) {
  const std::optional<Json> run = run_record(run_json);
  if (!run) return std::nullopt;
  const Json id = run->value("id", Json(""));
  return id.is_string() ? std::optional(id.get<std::string>()) : std::nullopt;
}

std::string recorded_init_hash(const fs::path& run_json) {
  const std::optional<Json> run = run_record(run_json);
  const Json init = run ? run->value("init", Json::object()) : Json::object();
  const Json hash = init.is_object() ? init.value("hash", Json("")) : Json("");
  return hash.is_string() ? hash.get<std::string>() : "";
}

std::string id_of_own(const LoadedCheckpoint& checkpoint,
                      const std::optional<std::string>& recorded, const fs::path& folder) {
  if (!recorded || *recorded == checkpoint.run) return checkpoint.run;
  const std::string path = checkpoint.path.string();
  throw checkpoint_error(path + ": is a checkpoint of " + run_name(checkpoint.run) + ", but '" +
                         folder.string() + "' is " + run_name(*recorded) +
                         "; move it away to continue from this run's own; to start a new run with "
                         "its weights: train --config FILE --init " +
                         shell_quoted(path));
}

}  // namespace trainyard
