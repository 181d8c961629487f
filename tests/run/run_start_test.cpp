// The two starts of a run: what each makes, and what it writes into the run's folder.
#include "run/run_start.h"

#include <doctest/doctest.h>

#include <map>

#include "../base/temporary_folder.h"
#include "base/read_file.h"
#include "checkpoint/checkpoint_files.h"
#include "formats/json.h"
#include "run/config/resolved_config.h"
#include "run/resumed_run.h"
#include "run/snapshot.h"
#include "run/training_run.h"
#include "run_text.h"

using namespace trainyard;

namespace {

namespace fs = std::filesystem;

TrainingRequest new_request(const fs::path& out) {
  return {.config = test::read_run(test::kTenStepRun),
          .original_yaml = test::kTenStepRun,
          .command = "train it",
          .overrides = {"epochs=1"},
          .id = "an id",
          .out = out};
}

/// A complete run of one epoch in `folder`.
void train_into(const fs::path& folder) {
  RankGroup alone({});
  const Disk disk;
  const SystemClock clock;
  const StopSignals signals;
  static_cast<void>(run_training(new_request(folder), disk, clock, signals, alone));
}

TrainingRequest resume_request(const fs::path& folder,
                               const std::vector<std::string>& overrides = {}) {
  return {.config = read_run_config(folder / "config.yaml", overrides),
          .command = "resume it",
          .resume = folder};
}

std::string text_in(const fs::path& folder, const std::string& name) {
  return read_text(folder / name, ErrorKind::disk, 1 << 20);
}

using Weights = std::map<std::string, std::vector<std::byte>>;

Weights weights_in(const std::vector<NamedTensor>& tensors) {
  Weights weights;
  for (const NamedTensor& tensor : tensors) {
    weights[tensor.name].assign(tensor.bytes.begin(), tensor.bytes.end());
  }
  return weights;
}

Weights weights_in(Session& session) {
  const CheckpointContent content = snapshot(session, {});
  return weights_in(content.files.at("weights.safetensors"));
}

/// A started session with its state, and the warnings.
struct Started {
  explicit Started(RunStart& start) {
    const auto warn = [this](const std::string& text) { warnings.push_back(text); };
    session = start.make_session(alone, warn);
    state = start.fill(*session, warn);
    start.describe_config(1);
  }
  RankGroup alone{{}};
  std::unique_ptr<Session> session;
  TrainingState state;
  std::vector<std::string> warnings;
};

}  // namespace

TEST_CASE("a request names a folder to resume, or starts a new run") {
  const testing::TemporaryFolder folder;
  TrainingRequest request{.config = test::read_run(test::kTenStepRun)};
  CHECK(dynamic_cast<NewRun*>(make_start(request).get()) != nullptr);
  request.resume = folder / "run";
  CHECK(dynamic_cast<ResumedRun*>(make_start(request).get()) != nullptr);
}

TEST_CASE("a new run has a folder of its own, made when it is opened") {
  const testing::TemporaryFolder folder;
  TrainingRequest request = new_request(folder / "run");
  const NewRun start(request);
  CHECK(start.folder() == folder / "run");
  CHECK_FALSE(start.has_folder());
  CHECK(start.id() == "an id");
  start.require_folder(Disk());
  CHECK_FALSE(fs::exists(folder / "run"));
  CHECK(start.open_folder(Disk()).path() == folder / "run");
  CHECK(fs::is_directory(folder / "run" / "checkpoints"));
  request.out.clear();
  CHECK(NewRun(request).folder() == fs::path("runs") / "tiny");
}

TEST_CASE("a folder that holds something is not a place for a new run") {
  const testing::TemporaryFolder folder;
  train_into(folder / "run");
  TrainingRequest request = new_request(folder / "run");
  const NewRun start(request);
  const std::string refused = "--out: '" + (folder / "run").string() +
                              "' is not empty; name another folder, or continue its run with "
                              "--resume";
  CHECK(test::refusal([&] { start.require_folder(Disk()); }) == refused);
  CHECK(test::refusal([&] { (void)start.open_folder(Disk()); }) == refused);
}

TEST_CASE("a new run starts at step 0 with the weights of its seed") {
  const testing::TemporaryFolder folder;
  TrainingRequest request = new_request(folder / "run");
  NewRun start(request);
  Started started(start);
  CHECK(started.state.step == 0);
  CHECK_FALSE(start.resumed().has_value());
  CHECK(started.warnings.empty());
  Session alike(request.config, {}, nullptr, started.alone);
  alike.model().initialize(static_cast<std::uint64_t>(request.config.seed));
  CHECK((weights_in(*started.session) == weights_in(alike)));
  CHECK_FALSE(fs::exists(folder / "run"));
}

TEST_CASE("a new run writes its whole record, and no changes") {
  const testing::TemporaryFolder folder;
  TrainingRequest request = new_request(folder / "run");
  NewRun start(request);
  Started started(start);
  {
    const Disk disk;
    const RunFolder opened = start.open_folder(disk);
    start.write_record(opened, *started.session);
    CHECK(start.write_changes(opened, {}).empty());
  }
  CHECK(text_in(folder / "run", "config.yaml") == start.config().resolved);
  CHECK(text_in(folder / "run", "config.orig.yaml") == test::kTenStepRun);
  CHECK(text_in(folder / "run", "command.txt") == "train it\n");
  CHECK(text_in(folder / "run", "network.txt") == start.config().network);
  CHECK_FALSE(fs::exists(folder / "run" / "config.1.yaml"));
  const Json run = parse_json(text_in(folder / "run", "run.json"), {.name = "run.json"});
  CHECK(run.at("id").get<std::string>() == "an id");
  CHECK(run.at("ranks").get<int>() == 1);
  CHECK(run.at("config_hash").get<std::string>() == start.config().hash);
  CHECK(run.at("overrides").dump() == R"(["epochs=1"])");
  CHECK(run.at("threads").get<int>() == 1);
}

TEST_CASE("a resumed run continues in its folder, from its newest checkpoint") {
  const testing::TemporaryFolder folder;
  const fs::path run = folder / "run";
  train_into(run);
  const TrainingRequest request = resume_request(run, {"epochs=2"});
  ResumedRun start(request);
  CHECK(start.folder() == run);
  CHECK(start.has_folder());
  CHECK(start.id() == "an id");
  start.require_folder(Disk());
  CHECK(start.open_folder(Disk()).path() == run);
  Started started(start);
  CHECK(started.warnings.empty());
  CHECK(started.state.epoch == 1);
  CHECK(started.state.step == 10);
  const auto checkpoint = load_newest_checkpoint(run / "checkpoints");
  REQUIRE(checkpoint.has_value());
  CHECK(start.resumed().value().checkpoint == checkpoint->path.string());
  CHECK(start.resumed()->epochs == 2);
  CHECK((weights_in(*started.session) ==
         weights_in(checkpoint->files.at("weights.safetensors").tensors())));
}

TEST_CASE("a run without a checkpoint is resumed at step 0, with a warning") {
  const testing::TemporaryFolder folder;
  const fs::path run = folder / "run";
  train_into(run);
  fs::remove_all(run / "checkpoints");
  const TrainingRequest request = resume_request(run);
  ResumedRun start(request);
  Started started(start);
  CHECK(started.state.step == 0);
  CHECK_FALSE(start.resumed().has_value());
  CHECK(started.warnings == std::vector<std::string>{"no checkpoint was ever written in " +
                                                     run.string() + ": starting at step 0"});
  Session alike(request.config, {}, nullptr, started.alone);
  alike.model().initialize(static_cast<std::uint64_t>(request.config.seed));
  CHECK((weights_in(*started.session) == weights_in(alike)));
}

TEST_CASE("a resumed run adds its command, and records a changed config when it trains") {
  const testing::TemporaryFolder folder;
  const fs::path run = folder / "run";
  train_into(run);
  const std::string former = text_in(run, "config.yaml");
  const TrainingRequest request = resume_request(run, {"epochs=2"});
  ResumedRun start(request);
  Started started(start);
  const Disk disk;
  const RunFolder opened = start.open_folder(disk);
  start.write_record(opened, *started.session);
  CHECK(text_in(run, "command.txt") == "train it\nresume it\n");
  CHECK(text_in(run, "network.txt") == start.config().network);
  CHECK(text_in(run, "config.yaml") == former);
  CHECK(start.write_changes(opened, started.state).empty());
  CHECK(text_in(run, "config.yaml") == start.config().resolved);
  CHECK(text_in(run, "config.1.yaml") == former);
  const Json record = parse_json(text_in(run, "run.json"), {.name = "run.json"});
  CHECK(record.at("id").get<std::string>() == "an id");
  CHECK(record.at("config_hash").get<std::string>() == start.config().hash);
  REQUIRE(record.at("config_changes").size() == 1);
  CHECK(record.at("config_changes")[0].at("epoch").get<int>() == 2);
  CHECK(record.at("config_changes")[0].at("step").get<int>() == 11);
}

TEST_CASE("a resume writes what a start or a save that died left out") {
  const testing::TemporaryFolder folder;
  const fs::path run = folder / "run", checkpoints = run / "checkpoints";
  train_into(run);
  const std::string samples = text_in(run, "samples.json"), best = text_in(checkpoints, "best");
  fs::remove(run / "samples.json");
  fs::remove(checkpoints / "best");
  testing::put_text(checkpoints / "last", "epoch-0000_step-000005\n");
  const TrainingRequest request = resume_request(run);
  ResumedRun start(request);
  Started started(start);
  CHECK(started.warnings.empty());
  CHECK(start.unchanged());
  const Disk disk;
  start.write_record(start.open_folder(disk), *started.session);
  CHECK(text_in(run, "samples.json") == samples);
  CHECK(text_in(checkpoints, "best") == best);
  CHECK(text_in(checkpoints, "last") == best);
  const TrainingRequest longer = resume_request(run, {"epochs=2"});
  ResumedRun changed(longer);
  (void)Started(changed);
  CHECK_FALSE(changed.unchanged());
}

TEST_CASE("a resume with the run's own config changes no record of it") {
  const testing::TemporaryFolder folder;
  const fs::path run = folder / "run";
  train_into(run);
  const std::string former = text_in(run, "config.yaml"), record = text_in(run, "run.json");
  const TrainingRequest request = resume_request(run);
  const ResumedRun start(request);
  CHECK(start.write_changes(start.open_folder(Disk()), {}).empty());
  CHECK(text_in(run, "config.yaml") == former);
  CHECK(text_in(run, "run.json") == record);
  CHECK_FALSE(fs::exists(run / "config.1.yaml"));
}
