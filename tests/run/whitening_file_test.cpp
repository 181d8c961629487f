#include "run/whitening_file.h"

#include <doctest/doctest.h>

#include "../base/temporary_folder.h"
#include "base/atomic_file.h"
#include "base/hash.h"

namespace trainyard {
namespace {

std::string message_of_reading(const std::filesystem::path& run, const std::string& hash) {
  try {
    (void)read_whitening(run, hash);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::checkpoint);
    return error.what();
  }
  return "no error";
}

TEST_CASE("a run's whitening matrix is written once and read by the hash of its checkpoints") {
  const testing::TemporaryFolder folder;
  const Disk disk;
  const RunFolder run = RunFolder::create(disk, folder.text(), "whitened");
  const std::vector<float> matrix{1, 2, 2, 5};
  write_whitening(run, {});
  CHECK_FALSE(std::filesystem::exists(run.file("statistics.safetensors")));
  write_whitening(run, matrix);
  const std::string hash = hash128_hex(std::as_bytes(std::span(matrix)));
  CHECK(read_whitening(run.path(), hash) == matrix);
  CHECK(read_whitening(run.path(), "").empty());
  CHECK(message_of_reading(run.path(), "another") ==
        run.file("statistics.safetensors").string() + ": the whitening matrix has the hash " +
            hash + ", the checkpoint was trained with another; restore the run folder's own file");
  std::filesystem::remove(run.file("statistics.safetensors"));
  CHECK(message_of_reading(run.path(), hash).find("statistics.safetensors") != std::string::npos);
}

}  // namespace
}  // namespace trainyard
