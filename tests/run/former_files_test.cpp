#include <doctest/doctest.h>

#include "../base/temporary_folder.h"
#include "run/run_keeper.h"

using namespace trainyard;
using namespace trainyard::testing;

TEST_CASE("the record of a run is put back, its log and what is in its folders stay") {
  const TemporaryFolder folder;
  const std::filesystem::path run = folder / "run";
  std::filesystem::create_directories(run / "weights");
  put_text(run / "config.yaml", "epochs: 2\n");
  put_text(run / "status.json", "completed");
  put_text(run / "train.log", "one\n");
  put_text(run / "weights" / "last.safetensors", "first");
  const Disk disk;
  const RunFolder opened = RunFolder::open(disk, run);
  const FormerFiles former(opened);
  const auto written = std::filesystem::last_write_time(run / "config.yaml");
  former.restore(opened);  // nothing has changed: nothing is written
  CHECK(std::filesystem::last_write_time(run / "config.yaml") == written);
  put_text(run / "config.yaml", "epochs: 3\n");
  put_text(run / "config.1.yaml", "epochs: 2\n");
  std::filesystem::remove(run / "status.json");
  put_text(run / "train.log", "one\ntwo\n");
  put_text(run / "weights" / "last.safetensors", "second");
  former.restore(opened);
  CHECK(text_of(run / "config.yaml") == "epochs: 2\n");
  CHECK(text_of(run / "status.json") == "completed");
  CHECK_FALSE(std::filesystem::exists(run / "config.1.yaml"));
  CHECK(text_of(run / "train.log") == "one\ntwo\n");
  CHECK(text_of(run / "weights" / "last.safetensors") == "second");
}
