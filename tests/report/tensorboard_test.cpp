// Event files, read back by the specifications of their formats (event_reader.h).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "../base/manual_clock.h"
#include "../base/temporary_folder.h"
#include "base/error.h"
#include "event_reader.h"
#include "report/sinks.h"

using namespace trainyard;
using namespace trainyard::test;
using namespace trainyard::testing;

namespace {

namespace fs = std::filesystem;

using Scalars = std::vector<std::pair<std::string, float>>;
using Points = std::vector<std::pair<std::int64_t, float>>;

/// The sum in a record, without its mask.
std::uint32_t unmasked(std::uint32_t sum) {
  const std::uint32_t rotated = sum - 0xa282ead8;
  return (rotated >> 17) | (rotated << 15);
}

std::vector<fs::path> sorted_files(const fs::path& folder) {
  std::vector<fs::path> files = entries_of(folder);
  std::ranges::sort(files);
  return files;
}

/// All events of a folder, in the order of the files' names.
std::vector<ReadEvent> events_in(const fs::path& folder) {
  std::vector<ReadEvent> all;
  for (const fs::path& path : sorted_files(folder)) {
    std::ranges::move(events_of(text_of(path)), std::back_inserter(all));
  }
  return all;
}

/// The points of a curve, as they stand in the files.
Points curve(const fs::path& folder, const std::string& tag) {
  Points points;
  for (const ReadEvent& event : events_in(folder)) {
    for (const auto& [name, value] : event.scalars) {
      if (name == tag) points.emplace_back(event.step, value);
    }
  }
  return points;
}

EpochRow event_row(std::int64_t epoch, double loss) {
  EpochRow row;
  row.epoch = epoch;
  row.step = epoch * 10;
  row.samples = epoch * 160;
  row.loss = loss;
  row.val_loss = 2 * loss;
  row.clean_loss = loss / 2;
  row.metrics = {{.name = "accuracy", .training = 0.5, .validation = 0.25}};
  row.lr = 0.125;
  return row;
}

StepRow event_step_row(std::int64_t step, double loss) {
  return {.step = step, .epoch = 1 + step / 10, .loss = loss, .lr = 0.5};
}

/// A run in `folder` that continues after `from` and reports epochs up to `last`, of ten steps
/// each; its losses are `scale` times the numbers.
std::vector<std::string> report_run(const fs::path& folder, const ResumePoint& from,
                                    std::int64_t last, double scale) {
  const Disk disk;
  const ManualClock clock(1'800'000'000);
  TensorboardSink sink(disk, clock, folder, {.from = from, .with_steps = true, .head = {"a: 1\n"}});
  for (std::int64_t step = from.step + 1; step <= 10 * last; ++step) {
    sink.on_step(event_step_row(step, scale * static_cast<double>(step)));
    if (step % 10 == 0) sink.on_epoch(event_row(step / 10, scale * static_cast<double>(step)));
  }
  sink.sync();
  return sink.warnings();
}

Points line(std::int64_t last, std::int64_t by, double scale, std::int64_t changed = 0,
            double later = 1) {
  Points points;
  for (std::int64_t i = 1; i <= last; ++i) {
    points.emplace_back(i,
                        (changed > 0 && i > changed ? later : scale) * static_cast<double>(i * by));
  }
  return points;
}

}  // namespace

TEST_CASE("sums are those of RFC 3720 and of the first record of every event file") {
  std::string ascending;
  for (char byte = 0; byte < 32; ++byte) ascending += byte;
  CHECK(unmasked(masked_crc32c("")) == 0);
  CHECK(unmasked(masked_crc32c("123456789")) == 0xe3069283);
  CHECK(unmasked(masked_crc32c(std::string(32, '\0'))) == 0x8a9136aa);
  CHECK(unmasked(masked_crc32c(std::string(32, '\xff'))) == 0x62a8ab43);
  CHECK(unmasked(masked_crc32c(ascending)) == 0x46dd794e);
  // TensorFlow's files begin with the length 24 and these bytes.
  CHECK(masked_crc32c(std::string("\x18\0\0\0\0\0\0\0", 8)) == 0x224b7fa3);
}

TEST_CASE("the columns of metrics.csv are curves of training, validation and clean passes") {
  const TemporaryFolder folder;
  const Disk disk;
  const ManualClock clock(1'800'000'000);
  TensorboardSink sink(disk, clock, folder.path(), {.columns = {.clean = true}});
  EpochRow row = event_row(1, 3);
  row.val_loss = std::nan("");
  sink.on_epoch(row);
  sink.on_step(event_step_row(1, 3));  // not asked for
  const std::vector<ReadEvent> train = events_in(folder.path() / "train");
  REQUIRE(train.size() == 4);
  CHECK(train[0].version == "brain.Event:2");
  CHECK(train[0].time == 1'800'000'000);
  CHECK(train[1].start);
  CHECK(train[3].step == 1);
  CHECK(train[3].scalars == Scalars{{"epoch/loss", 3.0F},
                                    {"epoch/accuracy", 0.5F},
                                    {"epoch/lr", 0.125F},
                                    {"epoch/skipped_steps", 0.0F},
                                    {"epoch/is_best", 0.0F},
                                    {"epoch/elapsed_s", 0.0F},
                                    {"epoch/epoch_s", 0.0F},
                                    {"epoch/images_per_s", 0.0F}});
  const Scalars val = events_in(folder.path() / "validation").back().scalars;
  REQUIRE(val.size() == 2);
  CHECK(val[0].first == "epoch/loss");
  CHECK(std::isnan(val[0].second));
  CHECK(val[1] == Scalars::value_type{"epoch/accuracy", 0.25F});
  CHECK(curve(folder.path() / "clean", "epoch/loss") == Points{{1, 1.5F}});
  CHECK_FALSE(fs::exists(folder.path() / "steps"));
}

TEST_CASE("the config is a text and sheets of samples are images") {
  const TemporaryFolder folder;
  const Disk disk;
  const ManualClock clock(1'800'000'000);
  const TensorboardHead head{.config = "name: a\nepochs: 3\n",
                             .train_samples = EventImage{.png = "train's", .h = 2, .w = 3},
                             .val_samples = EventImage{.png = "val's", .h = 2, .w = 3}};
  const TensorboardSink sink(disk, clock, folder.path(), {.head = head});
  const ReadEvent train = events_in(folder.path() / "train").at(2);
  CHECK(train.step == 0);
  CHECK(train.texts.at("config") == "    name: a\n    epochs: 3\n    \n");
  CHECK(train.images.at("samples") == "train's");
  CHECK(events_in(folder.path() / "validation").at(2).images.at("samples") == "val's");
}

TEST_CASE("each record is one write") {
  const TemporaryFolder folder;
  int writes = 0;
  const Disk disk([&](DiskCall call) {
    if (call == DiskCall::write) ++writes;
    return 0;
  });
  const ManualClock clock(1'800'000'000);
  TensorboardSink sink(disk, clock, folder.path(), {});
  const int before = writes;
  sink.on_epoch(event_row(1, 1));
  CHECK(writes - before == 2);
  CHECK(events_in(folder.path() / "train").size() +
            events_in(folder.path() / "validation").size() ==
        static_cast<std::size_t>(writes));
}

TEST_CASE("a killed and resumed run has curves without gaps and without points twice") {
  const TemporaryFolder folder;
  // Killed in epoch 4, with a checkpoint within epoch 2, the next time with one after epoch 5.
  CHECK(report_run(folder.path(), {}, 3, 1).empty());
  CHECK(report_run(folder.path(), {.epoch = 2, .step = 25}, 6, 1).empty());
  CHECK(report_run(folder.path(), {.epoch = 5, .step = 50}, 8, 1).empty());
  CHECK(curve(folder.path() / "train", "epoch/loss") == line(8, 10, 1));
  CHECK(curve(folder.path() / "validation", "epoch/loss") == line(8, 20, 1));
  CHECK(curve(folder.path() / "steps", "step/loss") == line(80, 1, 1));
  // The clock stood still, but the files have the order of the starts.
  CHECK(sorted_files(folder.path() / "steps").size() == 3);
}

TEST_CASE("a resume tells TensorBoard which points it has read in vain") {
  const TemporaryFolder folder;
  report_run(folder.path(), {}, 3, 1);
  report_run(folder.path(), {.epoch = 1, .step = 10}, 2, 5);
  const std::vector<ReadEvent> steps =
      events_of(text_of(sorted_files(folder.path() / "steps").back()));
  CHECK(steps.at(1).start);
  CHECK(steps.at(1).step == 11);
  CHECK(events_of(text_of(sorted_files(folder.path() / "train").back())).at(1).step == 2);
  CHECK(curve(folder.path() / "steps", "step/loss") == line(20, 1, 1, 10, 5));
  // From the start on again: nothing is left of what was.
  report_run(folder.path(), {}, 1, 7);
  CHECK(sorted_files(folder.path() / "train").size() == 1);
  CHECK(curve(folder.path() / "train", "epoch/loss") == Points{{1, 70.0F}});
}

TEST_CASE("what follows the last whole record is cut on resume, and a warning says so") {
  for (const std::string& damage : {std::string(5, '\0'), std::string(100, 'x'), std::string()}) {
    CAPTURE(damage);
    const TemporaryFolder folder;
    report_run(folder.path(), {}, 3, 1);
    const fs::path file = sorted_files(folder.path() / "train").at(0);
    std::string text = text_of(file);
    const std::size_t whole = text.size();
    put_text(file, damage.empty() ? text.substr(0, whole - 1) : text + damage);
    const std::vector<std::string> warnings =
        report_run(folder.path(), {.epoch = 3, .step = 30}, 4, 1);
    REQUIRE(warnings.size() == 1);
    const std::size_t at = events_before(text_of(file), 100).bytes;
    CHECK((damage.empty() ? at < whole : at == whole));
    CHECK(warnings[0] == file.string() + ": no whole record of TensorBoard at byte " +
                             std::to_string(at) +
                             ": it and what follows was cut off; metrics.csv has all the numbers");
    CHECK(curve(folder.path() / "train", "epoch/loss").back() == Points::value_type{4, 40.0F});
  }
}

TEST_CASE("every damaged byte of an event file is found") {
  const TemporaryFolder folder;
  report_run(folder.path(), {}, 1, 1);
  const std::string text = text_of(sorted_files(folder.path() / "validation").at(0));
  CHECK_FALSE(events_before(text, 100).damaged);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    CAPTURE(i);
    CHECK(events_before(damaged, 100).damaged);
    CHECK(events_before(damaged, 100).bytes <= i);
    CHECK((i == 0 || events_before(text.substr(0, i), 100).bytes <= i));
  }
}

TEST_CASE("a folder in place of an event file is named") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "train" / "events.out.tfevents.1700000000.host";
  fs::create_directories(file);
  CHECK_THROWS_WITH_AS(report_run(folder.path(), {}, 1, 1), doctest::Contains(file.c_str()), Error);
}
