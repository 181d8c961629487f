#include "run/run_start.h"

#include "base/host.h"
#include "graph/summary.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"
#include "run/config/resolved_config.h"
#include "run/config_changes.h"
#include "run/reproduction.h"
#include "run/resumed_run.h"
#include "run/training_files.h"

namespace trainyard {

namespace {

/// The table of `train summary`, with the activations of a rank.
std::string network_table(const RunConfig& config, int ranks) {
  const Graph graph = build_whole_network(config, replica_batch(config, ranks));
  return summary_text(summarise(graph, loss_computes_closing(config, graph)));
}

constexpr const char* kRunsFolder = "runs";

}  // namespace

void RunStart::describe_config(int ranks) {
  config_ = {.resolved = resolved_yaml(request_.config),
             .typed = typed_yaml(request_.config),
             .network = network_table(request_.config, ranks)};
  config_.hash = config_hash(config_.typed, init_hash_);
}

std::unique_ptr<RunStart> make_start(TrainingRequest& request) {
  if (request.resume.empty()) return std::make_unique<NewRun>(request);
  return std::make_unique<ResumedRun>(request);
}

NewRun::NewRun(TrainingRequest& request)
    : RunStart(request, request.id, request.init ? request.init->hash : ""), init_(request.init) {}

fs::path NewRun::folder() const {
  if (!request_.out.empty()) return request_.out;
  return fs::path(kRunsFolder) / request_.config.name;
}

void NewRun::require_folder(const Disk& disk) const {
  if (!request_.out.empty()) return RunFolder::require_place_at(disk, request_.out);
  RunFolder::require_place(disk, kRunsFolder, request_.config.name);
}

RunFolder NewRun::open_folder(const Disk& disk) const {
  if (!request_.out.empty()) return RunFolder::create_at(disk, request_.out);
  return RunFolder::create(disk, kRunsFolder, request_.config.name);
}

std::unique_ptr<Session> NewRun::make_session(RankGroup& ranks, const Warn& /*warn*/) {
  return std::make_unique<Session>(request_.config, request_.device, nullptr, ranks);
}

TrainingState NewRun::fill(Session& session, const Warn& /*warn*/) {
  session.initialize();
  if (init_) initialize_from(session.model(), *init_);
  return {};
}

void NewRun::write_record(const RunFolder& folder, Session& session) const {
  Json run{{"id", id_.value_or("")},
           {"version", request_.version},
           {"host", host_name()},
           {"ranks", session.batch().ranks},
           {"global_batch", session.batch().global},
           {"seed", session.config().seed},
           {"overrides", request_.overrides},
           {"config_hash", config().hash}};
  put_facts(facts_of(session.data()), run);
  if (request_.config.data.val_fraction) put_division(run);
  run[kTypedPaths] = typed_paths(request_.config.settled);
  if (session.model().memory().averages()) {
    run["judged_weights"] = session.model().judges_average() ? "average" : "trained";
  }
  if (request_.init) run["init"] = json_of(*request_.init);
  if (!request_.output.empty()) {
    run[kImage] = fs::absolute(request_.output).string();
  }
  run.update(reproduction(session.device()));
  folder.write("config.orig.yaml", request_.original_yaml);
  folder.write("command.txt", request_.command + "\n");
  folder.write("run.json", json_text(run));
  folder.write("network.txt", config().network);
  folder.write("config.yaml", config().resolved);  // last: with it the folder can be resumed
  write_statistics(folder, session.data().statistics);
  write_samples(folder, *session.data().train);
  write_vocabulary(folder, session.data().train->vocabulary());
}

}  // namespace trainyard
