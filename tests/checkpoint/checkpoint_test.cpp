#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/manifest.h"
#include "checkpoint/run_identity.h"
#include "sample_checkpoint.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

void save(const std::filesystem::path& folder, std::int64_t epoch, std::int64_t step,
          const CheckpointOptions& options = {}) {
  const SampleCheckpoint sample(epoch, step);
  save_checkpoint(Disk(), folder, sample.content(), options);
}

std::string names_in(const std::filesystem::path& folder) {
  std::string names;
  for (const CheckpointEntry& entry : list_checkpoints(folder)) names += entry.file_name + " ";
  return names;
}

}  // namespace

TEST_CASE("a checkpoint is read back with its tensors and its state") {
  const TemporaryFolder folder;
  const SampleCheckpoint sample(10, 3910);
  const auto path = save_checkpoint(Disk(), folder.path(), sample.content(), {});
  CHECK(path.filename() == "epoch-0010_step-003910");
  const auto loaded = load_newest_checkpoint(folder.path());
  REQUIRE(loaded.has_value());
  CHECK(loaded->path == path);
  CHECK(loaded->epoch == 10);
  CHECK(loaded->step == 3910);
  CHECK(loaded->warnings.empty());
  CHECK(loaded->state == sample.content().state);
  CHECK(loaded->files.size() == 2);
  for (const auto& [name, tensors] : sample.content().files) {
    for (const NamedTensor& tensor : tensors) {
      const NamedTensor& back = loaded->files.at(name).at(tensor.name);
      CHECK(back.shape == tensor.shape);
      CHECK(std::equal(back.bytes.begin(), back.bytes.end(), tensor.bytes.begin(),
                       tensor.bytes.end()));
    }
  }
}

TEST_CASE(
    "a checkpoint names its run, and the manifest of one from before ids existed is unchanged") {
  const TemporaryFolder folder;
  const SampleCheckpoint sample(1, 10);  // owns what the content refers to
  CheckpointContent content = sample.content();
  const auto before = save_checkpoint(Disk(), folder.path(), content, {});
  CHECK(text_of(before / "MANIFEST.json").find("\"run\"") == std::string::npos);
  CHECK(load_checkpoint(before).run == "");
  content.run = "0123";
  content.step = 20;
  CHECK(load_checkpoint(save_checkpoint(Disk(), folder.path(), content, {})).run == "0123");
}

TEST_CASE("a checkpoint of another run is refused with both runs named, even if one has no id") {
  const auto refusal = [](const std::string& saved_by, const std::optional<std::string>& run) {
    LoadedCheckpoint checkpoint;
    checkpoint.path = "runs/a b/0001/checkpoints/epoch-0001_step-000010";
    checkpoint.run = saved_by;
    std::string id = saved_by;
    const std::string message =
        error_of(ErrorKind::checkpoint, [&] { id = id_of_own(checkpoint, run, "runs/a b/0001"); });
    CHECK(id == saved_by);
    return message;
  };
  const std::string foreign = refusal("22", "11");
  CHECK(foreign.find("is a checkpoint of run 22, but 'runs/a b/0001' is run 11") !=
        std::string::npos);
  CHECK(foreign.ends_with("--init 'runs/a b/0001/checkpoints/epoch-0001_step-000010'"));
  CHECK(refusal("", "11").find("of a run without an id, but") != std::string::npos);
  CHECK(refusal("22", "").find("is a run without an id;") != std::string::npos);
  CHECK(refusal("11", "11") == "");
  CHECK(refusal("", "") == "");
  CHECK(refusal("22", std::nullopt) == "");  // run.json cannot be read: the id of the checkpoint
}

TEST_CASE("the id of a run is that of its run.json, none if that cannot be read") {
  const TemporaryFolder folder;
  const auto file = folder / "run.json";
  CHECK_FALSE(recorded_id(file).has_value());
  put_text(file, "{");
  CHECK_FALSE(recorded_id(file).has_value());
  put_text(file, R"({"id": 3})");
  CHECK_FALSE(recorded_id(file).has_value());
  put_text(file, R"({"version": "0.1"})");
  CHECK(recorded_id(file) == "");
  put_text(file, R"({"id": "0123"})");
  CHECK(recorded_id(file) == "0123");
}

TEST_CASE("a folder without checkpoints reports that none was ever written") {
  const TemporaryFolder folder;
  CHECK_FALSE(load_newest_checkpoint(folder / "checkpoints").has_value());
  put_text(folder / "last", "epoch-0001_step-000001\n");
  std::filesystem::create_directory(folder / ".tmp-epoch-0001_step-000001");
  CHECK_FALSE(load_newest_checkpoint(folder.path()).has_value());
}

TEST_CASE("the newest ones, the best and the last are kept, and the pointers name them") {
  const TemporaryFolder folder;
  save(folder.path(), 1, 10, {.is_best = true, .keep = 2});
  save(folder.path(), 2, 20, {.keep = 2});
  save(folder.path(), 3, 30, {.keep = 2});
  save(folder.path(), 4, 40, {.keep = 2});
  CHECK(names_in(folder.path()) ==
        "epoch-0004_step-000040 epoch-0003_step-000030 epoch-0001_step-000010 ");
  CHECK(text_of(folder / "last") == "epoch-0004_step-000040\n");
  CHECK(text_of(folder / "best") == "epoch-0001_step-000010\n");
  save(folder.path(), 5, 50, {.is_best = true, .keep = 1});
  CHECK(names_in(folder.path()) == "epoch-0005_step-000050 ");
  CHECK(checkpoint_pointer(folder.path(), "best") == "epoch-0005_step-000050");
}

TEST_CASE("more than 999,999 steps and 9,999 epochs still sort by number") {
  const TemporaryFolder folder;
  save(folder.path(), 10000, 1000000);
  save(folder.path(), 9999, 999999, {.keep = 5});
  CHECK(checkpoint_name(10000, 1000000) == "epoch-10000_step-1000000");
  save(folder.path(), 10001, 1000001, {.keep = 5});
  CHECK(names_in(folder.path()) == "epoch-10001_step-1000001 epoch-9999_step-999999 ");
}

TEST_CASE("names that are not of checkpoints are left alone") {
  for (const char* name : {"epoch-1_step-10", "epoch-0001_step-", "epoch-0001_step-0000010x",
                           "epoch-00010_step-000010", "notes", ".tmp-epoch-0001_step-000010",
                           "epoch-0001_step--00010"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_checkpoint_name(name).has_value());
  }
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "notes");
  save(folder.path(), 1, 10, {.keep = 1});
  save(folder.path(), 2, 20, {.keep = 1});
  CHECK(std::filesystem::exists(folder / "notes"));
}

TEST_CASE("a pointer with any other content counts as missing") {
  const TemporaryFolder folder;
  for (const char* text : {"", "../../etc\n", "epoch-1\n", ".old-epoch-0001_step-000010\n"}) {
    put_text(folder / "best", text);
    CHECK(checkpoint_pointer(folder.path(), "best").empty());
  }
  CHECK(checkpoint_pointer(folder.path(), "last").empty());
}

TEST_CASE("saving the same step again replaces the content") {
  const TemporaryFolder folder;
  SampleCheckpoint sample(1, 10);
  save_checkpoint(Disk(), folder.path(), sample.content(), {});
  sample.weights[0] = 99;
  save_checkpoint(Disk(), folder.path(), sample.content(), {});
  CHECK(names_in(folder.path()) == "epoch-0001_step-000010 ");
  const auto loaded = load_newest_checkpoint(folder.path());
  REQUIRE(loaded.has_value());
  const auto bytes = loaded->files.at("weights.safetensors").at("stem.conv1.kernel").bytes;
  CHECK(std::equal(bytes.begin(), bytes.end(), std::as_bytes(std::span(sample.weights)).begin()));
}

TEST_CASE("a checkpoint whose replacement was interrupted is read, and gets its name back") {
  const TemporaryFolder folder;
  save(folder.path(), 1, 10);
  std::filesystem::rename(folder / "epoch-0001_step-000010",
                          folder / ".old-epoch-0001_step-000010");
  const auto loaded = load_newest_checkpoint(folder.path());
  REQUIRE(loaded.has_value());
  CHECK(loaded->step == 10);
  save(folder.path(), 2, 20);
  CHECK(names_in(folder.path()) == "epoch-0002_step-000020 epoch-0001_step-000010 ");
}

TEST_CASE("settling repairs what a save that was cut off left, and only that") {
  const TemporaryFolder folder;
  for (std::int64_t epoch = 1; epoch <= 5; ++epoch) {
    save(folder.path(), epoch, 10 * epoch, {.keep = 9});
  }
  const auto entry = [](std::int64_t epoch) {
    return CheckpointEntry{checkpoint_name(epoch, 10 * epoch), epoch, 10 * epoch};
  };
  put_text(folder / "last", checkpoint_name(3, 30) + "\n");
  put_text(folder / "best", checkpoint_name(1, 10) + "\n");
  std::filesystem::create_directory(folder / ".tmp-epoch-0006_step-000060");
  // Epoch 5 is damaged: the run continues from 4. It is not the settling that removes it.
  settle_checkpoints(Disk(), folder.path(), entry(4), entry(2), 1);
  CHECK(names_in(folder.path()) ==
        "epoch-0005_step-000050 epoch-0004_step-000040 epoch-0002_step-000020 ");
  CHECK(text_of(folder / "last") == checkpoint_name(4, 40) + "\n");
  CHECK(text_of(folder / "best") == checkpoint_name(2, 20) + "\n");
  CHECK_FALSE(std::filesystem::exists(folder / ".tmp-epoch-0006_step-000060"));
  settle_checkpoints(Disk(), folder.path(), entry(4), std::nullopt, 1);
  CHECK_FALSE(std::filesystem::exists(folder / "best"));
  CHECK(names_in(folder.path()) == "epoch-0005_step-000050 epoch-0004_step-000040 ");
}

TEST_CASE("settling gives a replaced checkpoint its name back, before the pointers name it") {
  const TemporaryFolder folder;
  save(folder.path(), 1, 10, {.is_best = true});
  const std::string name = checkpoint_name(1, 10);
  std::filesystem::rename(folder / name, folder / (".old-" + name));
  const CheckpointEntry replaced{".old-" + name, 1, 10};
  std::filesystem::remove(folder / "best");
  settle_checkpoints(Disk(), folder.path(), replaced, replaced, 2);
  CHECK(text_of(folder / "best") == name + "\n");
  CHECK(names_in(folder.path()) == name + " ");
}

TEST_CASE("the state of a checkpoint is read without its tensors") {
  const TemporaryFolder folder;
  save(folder.path(), 2, 20);
  const std::filesystem::path path = folder / checkpoint_name(2, 20);
  put_text(path / "weights.safetensors", "damaged");
  const LoadedCheckpoint loaded = load_checkpoint_state(path);
  CHECK(loaded.epoch == 2);
  CHECK(loaded.state.at("step") == 20);
  CHECK(loaded.files.empty());
  put_text(path / "state.json", "{}");
  CHECK(error_of(ErrorKind::checkpoint, [&] {
          (void)load_checkpoint_state(path);
        }).find("state.json: damaged") != std::string::npos);
}

TEST_CASE("a number that is not finite is never written") {
  const TemporaryFolder folder;
  SampleCheckpoint sample(1, 10);
  sample.momentum[5] = std::numeric_limits<float>::quiet_NaN();
  CHECK(error_of(ErrorKind::diverged,
                 [&] { save_checkpoint(Disk(), folder.path(), sample.content(), {}); }) ==
        "checkpoint epoch-0001_step-000010 is not written: 'stem.conv1.kernel' of "
        "optimizer.safetensors holds nan at element 5; earlier checkpoints are untouched");
  sample.momentum[5] = 0;
  CheckpointContent content = sample.content();
  content.state["best"]["value"] = -std::numeric_limits<double>::infinity();
  CHECK(
      error_of(ErrorKind::diverged, [&] {
        save_checkpoint(Disk(), folder.path(), content, {});
      }).find("state.json holds a number that is not finite at /best/value") != std::string::npos);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("too little free space is an error before anything is written") {
  const TemporaryFolder folder;
  const SampleCheckpoint sample(1, 10);
  const std::uint64_t needed = checkpoint_bytes(sample.content());
  const std::string message = error_of(ErrorKind::disk, [&] {
    save_checkpoint(Disk({}, needed - 1), folder.path(), sample.content(), {});
  });
  CHECK(message.starts_with("cannot save a checkpoint in '" + folder.path().string() + "': "));
  CHECK(message.ends_with(" free; free some space or choose another folder with --out"));
  CHECK(std::filesystem::is_empty(folder.path()));
  save_checkpoint(Disk({}, needed), folder.path(), sample.content(), {});
}

TEST_CASE("saving takes no more bytes than requested") {
  const TemporaryFolder folder;
  const SampleCheckpoint sample(1, 10);
  const auto path = save_checkpoint(Disk(), folder.path(), sample.content(), {});
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path)) bytes += entry.file_size();
  CHECK(bytes <= checkpoint_bytes(sample.content()));
}
