#include <doctest/doctest.h>

#include "../base/temporary_folder.h"
#include "checkpoint/checkpoint_files.h"
#include "run/run_folder.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// Saves a checkpoint without tensors after `epoch` epochs of 10 steps and `steps` steps more.
void save_judged(const TemporaryFolder& folder, std::int64_t epoch, std::int64_t steps,
                 std::int64_t best_epoch) {
  const CheckpointContent content{.epoch = epoch,
                                  .step = 10 * epoch + steps,
                                  .state = {{"step_in_epoch", steps}, {"best_epoch", best_epoch}}};
  save_checkpoint(Disk(), folder.path(), content, {.keep = 9});
}

std::string name_of_best(const TemporaryFolder& folder) {
  const auto best = best_checkpoint(folder.path());
  REQUIRE(best.has_value());
  return best->checkpoint ? best->checkpoint->file_name : "lost";
}

}  // namespace

TEST_CASE("the best checkpoint is that of the best epoch of the newest one, at the epoch's end") {
  const TemporaryFolder folder;
  CHECK_FALSE(best_checkpoint(folder.path()).has_value());
  save_judged(folder, 0, 5, 0);
  CHECK(best_checkpoint(folder.path())->epoch == 0);
  CHECK(name_of_best(folder) == "lost");
  save_judged(folder, 1, 0, 1);
  CHECK(name_of_best(folder) == "epoch-0001_step-000010");
  save_judged(folder, 1, 5, 1);  // in the midst of the second epoch
  CHECK(name_of_best(folder) == "epoch-0001_step-000010");
  save_judged(folder, 2, 0, 1);
  save_judged(folder, 3, 0, 3);
  CHECK(name_of_best(folder) == "epoch-0003_step-000030");
  CHECK(checkpoint_after_epoch(folder.path(), 2)->step == 20);
  CHECK_FALSE(checkpoint_after_epoch(folder.path(), 4).has_value());
}

TEST_CASE("without its checkpoint the best epoch is known and lost, not replaced by another one") {
  const TemporaryFolder folder;
  save_judged(folder, 1, 0, 1);
  save_judged(folder, 1, 5, 1);
  save_judged(folder, 2, 0, 1);
  std::filesystem::remove_all(folder / "epoch-0001_step-000010");
  CHECK(best_checkpoint(folder.path())->epoch == 1);
  CHECK(name_of_best(folder) == "lost");
}

TEST_CASE("a newest checkpoint that cannot be read, or is of no run, is passed over") {
  const TemporaryFolder folder;
  save_judged(folder, 1, 0, 1);
  save_judged(folder, 2, 0, 2);
  put_text(folder / "epoch-0002_step-000020" / "state.json", "{}");
  CHECK(name_of_best(folder) == "epoch-0001_step-000010");
  CheckpointContent foreign{.epoch = 3, .step = 30};
  foreign.state = {{"step", 30}};
  save_checkpoint(Disk(), folder.path(), foreign, {.keep = 9});
  CHECK(name_of_best(folder) == "epoch-0001_step-000010");
}
