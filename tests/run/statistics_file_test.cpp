#include <doctest/doctest.h>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "formats/safetensors.h"
#include "run/training_files.h"

namespace trainyard {
namespace {

std::string message_of_reading(const std::filesystem::path& run, const std::string& hash) {
  try {
    (void)read_statistics(run, hash);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::checkpoint);
    return error.what();
  }
  return "no error";
}

const Statistics kMeasured{.mean_image = {1, 2, 3, 4},
                           .mean = {1.5f, 3.5f},
                           .deviation = {0.5f, 0.25f},
                           .whitening = {1, 2, 2, 5}};

TEST_CASE("a run's statistics are written once and read by the hash of its checkpoints") {
  const testing::TemporaryFolder folder;
  const Disk disk;
  const RunFolder run = RunFolder::create(disk, folder.text(), "measured");
  const std::string file = run.file("statistics.safetensors").string();
  write_statistics(run, {});
  CHECK(hash_of({}).empty());
  CHECK_FALSE(std::filesystem::exists(file));
  write_statistics(run, kMeasured);
  const std::string hash = hash_of(kMeasured);
  const Statistics read = read_statistics(run.path(), hash);
  for (const auto values : {&Statistics::mean_image, &Statistics::mean, &Statistics::deviation,
                            &Statistics::whitening}) {
    CHECK(read.*values == kMeasured.*values);
    CHECK((read_statistics(run.path(), "").*values).empty());
  }
  CHECK(message_of_reading(run.path(), "another") ==
        file + ": the statistics have the hash " + hash +
            ", the checkpoint was trained with another; restore the run folder's own file");
  std::filesystem::remove(file);
  CHECK(message_of_reading(run.path(), hash).find(file) != std::string::npos);
}

TEST_CASE("statistics whose sizes do not belong together, or of another type, are refused") {
  const testing::TemporaryFolder folder;
  const Disk disk;
  const RunFolder run = RunFolder::create(disk, folder.text(), "measured");
  const auto fault = [&](const Statistics& statistics) {
    write_statistics(run, statistics);
    return testing::error_of(ErrorKind::checkpoint, [&] { (void)read_statistics(run.path()); });
  };
  CHECK(fault(kMeasured).empty());
  CHECK(fault({.mean_image = {1, 2, 3, 4}, .mean = {1, 2}, .deviation = {1}})
            .ends_with("'deviation' has another type or size than the statistics of a run; restore "
                       "the run folder's own file"));
  CHECK(fault({.mean_image = {1}, .mean = {1, 2}, .deviation = {1, 2}})
            .find("'mean_image' has another") != std::string::npos);
  const std::vector<double> mean{1};
  const std::vector<NamedTensor> tensors{{.name = "mean",
                                          .type = StoredType::f64,
                                          .shape = {1},
                                          .bytes = std::as_bytes(std::span(mean))}};
  const SafetensorsImage image = encode_safetensors(tensors);
  disk.replace_file(run.file("statistics.safetensors"), image.parts());
  CHECK(testing::error_of(ErrorKind::checkpoint, [&] {
          (void)read_statistics(run.path());
        }).find("'mean' has another type") != std::string::npos);
}

TEST_CASE("every value of the statistics, and what it is, is in their hash") {
  const std::string hash = hash_of(kMeasured);
  for (const auto values : {&Statistics::mean_image, &Statistics::mean, &Statistics::deviation,
                            &Statistics::whitening}) {
    Statistics changed = kMeasured;
    (changed.*values).back() += 1;
    CHECK(hash_of(changed) != hash);
  }
  CHECK(hash_of({.mean = {1}}) != hash_of({.deviation = {1}}));
}

}  // namespace
}  // namespace trainyard
