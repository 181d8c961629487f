#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../base/temporary_folder.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "run/data_facts.h"
#include "run/resumed_run.h"
#include "run/run_folder.h"
#include "run/training_files.h"

using namespace trainyard;
using trainyard::testing::TemporaryFolder;

namespace {

/// Three files of two classes, whose hashes are known.
SplitFacts three_files() {
  return {.fingerprint = "one",
          .samples = 3,
          .classes = 2,
          .class_names = {"cat", "dog"},
          .files = {.folder = "/nonexistent",
                    .files = {{.name = "cat/1.png", .label = 0, .bytes = 10, .changed = 5},
                              {.name = "cat/2.png", .label = 0, .bytes = 20, .changed = 5},
                              {.name = "dog/1.png", .label = 1, .bytes = 30, .changed = 5}}}};
}

std::string change(const SplitFacts& before, SplitFacts now, bool all_files = false) {
  return split_change(before, now, all_files);
}

void put_run(const RunFolder& folder, const DataFacts& facts) {
  Json run{{"id", "x"}, {"ranks", 1}, {"global_batch", 8}, {"version", "1"}};
  put_facts(facts, run);
  folder.write("run.json", json_text(run));
  folder.write("data_files.csv", data_files_csv(facts));
}

}  // namespace

TEST_CASE("the same data have no change, and nothing is said of what was not recorded") {
  CHECK(change(three_files(), three_files()).empty());
  CHECK(change(SplitFacts(), three_files()).empty());
  SplitFacts other = three_files();
  other.fingerprint = "two";  // a set of which another part has changed
  CHECK(change(three_files(), other).empty());
}

TEST_CASE("samples, classes and files are counted, each with the first example") {
  SplitFacts now = three_files();
  now.fingerprint = "two";
  now.samples = 4;
  now.classes = 3;
  now.class_names = {"cat", "eel", "owl"};
  now.files.files = {{.name = "cat/1.png", .label = 2, .bytes = 10, .changed = 5},
                     {.name = "cat/2.png", .label = 0, .bytes = 21, .changed = 5},
                     {.name = "eel/1.png", .label = 1, .bytes = 1},
                     {.name = "eel/2.png", .label = 1, .bytes = 1}};
  CHECK(change(three_files(), now) ==
        "3 -> 4 samples; 2 -> 3 classes; classes added: eel, owl; class removed: dog; "
        "2 files added, the first 'eel/1.png'; 1 file removed, 'dog/1.png'; "
        "1 file with another label, 'cat/1.png'; 1 file with another length, 'cat/2.png'");
  now.files.files.clear();
  now.samples = 3;
  now.classes = 2;
  now.class_names = {};
  CHECK(change(three_files(), now) == "other contents: fingerprint one -> two");
}

TEST_CASE("a file is read again if its time has changed, or all are wanted") {
  const TemporaryFolder folder;
  folder.write("cat/1.png", "other");
  SplitFacts before = three_files(), now = three_files();
  before.files.files.resize(1);
  before.files.files[0].hash = hash128_hex(std::string_view("pixels"));
  now.files.folder = folder.path();
  now.files.files.resize(1);
  CHECK(change(before, now).empty());
  CHECK(change(before, now, true) == "1 file with other contents, 'cat/1.png'");
  now.files.files[0].changed = 6;
  CHECK(change(before, now) == "1 file with other contents, 'cat/1.png'");
  folder.write("cat/1.png", "pixels");
  CHECK(change(before, now).empty());
  now.files.files[0].hash = hash128_hex(std::string_view("decoded"));  // no file is read
  now.files.folder = "/nonexistent";
  CHECK(change(before, now) == "1 file with other contents, 'cat/1.png'");
}

TEST_CASE("the hashes that a run knows are passed on to the data that are opened") {
  SplitFacts before = three_files(), now = three_files();
  before.files.files[1].hash = "known";
  CHECK(split_change(before, now, false).empty());
  CHECK(now.files.files[1].hash == "known");
  CHECK(now.files.files[0].hash.empty());
}

TEST_CASE("a run folder gives back what was recorded of its data") {
  const TemporaryFolder place;
  const Disk disk;
  const RunFolder folder = RunFolder::create_at(disk, place / "run");
  DataFacts facts{three_files(), three_files()};
  facts.train.files.files[0] = {.name = "a, \"b\"\nc.png",
                                .label = 3,
                                .bytes = 1,
                                .changed = -7,
                                .hash = "0123456789abcdef0123456789abcdef"};
  put_run(folder, facts);
  replace_samples(
      folder, {.image = {3, 8, 8}, .eight_bit = true, .classes = 2, .class_names = {"cat", "dog"}});
  const DataFacts read = recorded_facts(folder.path());
  CHECK(read.train.fingerprint == "one");
  CHECK(read.val.samples == 3);
  CHECK(read.train.class_names == facts.train.class_names);
  CHECK(data_files_csv(read) == data_files_csv(facts));
  folder.write("data_files.csv", "split,name,label,bytes,changed,hash\nval,a,one,2,3,\n");
  CHECK_THROWS_WITH_AS(static_cast<void>(recorded_facts(folder.path())),
                       (folder.file("data_files.csv").string() +
                        ": does not list the files of the run's data: 'one' is not a whole number; "
                        "remove it, and changed data are noticed without the names of their files")
                           .c_str(),
                       Error);
}

TEST_CASE("other data end the work, or are a warning if that is allowed") {
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& text) { warnings.push_back(text); };
  judge_changes({}, "runs/a", "go on", {}, warn);
  CHECK(warnings.empty());
  const std::vector<std::string> changes = {"training split: 1 -> 2 samples"};
  const std::string said = "the data are not those of the run runs/a:\n  " + changes[0];
  judge_changes(changes, "runs/a", "go on", {.changed = true}, warn);
  CHECK(warnings == std::vector<std::string>{said});
  CHECK_THROWS_WITH_AS(judge_changes(changes, "runs/a", "go on", {}, warn),
                       (said + "\nput them back as they were, or go on").c_str(), Error);
}

TEST_CASE("a resume is recorded if something that determines the result is new") {
  const TemporaryFolder place;
  const Disk disk;
  const RunFolder folder = RunFolder::create_at(disk, place / "run");
  put_run(folder, {three_files(), three_files()});
  const auto text = [&] { return read_text(folder.file("run.json"), ErrorKind::disk, 1 << 20); };
  const std::string before = text();
  record_resume(folder, {.ranks = 1, .global_batch = 8, .version = "1"}, {});
  CHECK(text() == before);
  CHECK(trained_with(folder.path(), 8));
  CHECK_FALSE(trained_with(folder.path(), 16));
  record_resume(folder, {.ranks = 2, .global_batch = 16, .version = "1"}, {.epoch = 3, .step = 7});
  const std::string resumed = text();
  record_resume(folder, {.ranks = 2, .global_batch = 16, .version = "1"}, {.epoch = 4, .step = 9});
  CHECK(text() == resumed);
  CHECK_FALSE(trained_with(folder.path(), 8));
  DataFacts now{three_files(), three_files()};
  now.val.fingerprint = "two";
  record_resume(
      folder, {.ranks = 2, .global_batch = 16, .version = "1"},
      {.data = now, .changes = {"a change"}, .command = "resume", .epoch = 5, .step = 11});
  const Json run = parse_json(text(), {.name = "run.json"});
  CHECK(run["resumes"] ==
        Json{{{"ranks", 2}, {"global_batch", 16}, {"version", "1"}, {"epoch", 3}, {"step", 7}}});
  CHECK(run["data_changes"][0]["former"] == Json{{"train", "one"}, {"val", "one"}});
  CHECK(run["data_changes"][0]["step"] == 11);
  CHECK(run["val_fingerprint"] == "two");
}
