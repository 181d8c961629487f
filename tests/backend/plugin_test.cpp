// The GPU part that a program loads.
#include "backend/plugin.h"

#include <doctest/doctest.h>

#include "../base/temporary_folder.h"

namespace trainyard {
namespace {

/// The file that a program loads of these in its lib/trainyard, with a driver of this CUDA.
std::string taken(const std::vector<std::string>& files, int driver) {
  const testing::TemporaryFolder root;
  for (const std::string& file : files) root.write("lib/trainyard/" + file, "");
  return plugin_path(root / "bin/train", driver).filename().string();
}

TEST_CASE("the newest of several GPU parts that the driver supports is loaded") {
  const std::vector<std::string> both{"libtrainyard_cuda12.so", "libtrainyard_cuda13.so"};
  CHECK(taken(both, 13000) == "libtrainyard_cuda13.so");
  CHECK(taken(both, 13020) == "libtrainyard_cuda13.so");
  CHECK(taken(both, 12080) == "libtrainyard_cuda12.so");
  CHECK(taken(both, 14000) == "libtrainyard_cuda13.so");
}

TEST_CASE("a driver that no part fits gets the oldest, and no driver the newest") {
  const std::vector<std::string> both{"libtrainyard_cuda13.so", "libtrainyard_cuda12.so"};
  CHECK(taken(both, 11040) == "libtrainyard_cuda12.so");
  CHECK(taken(both, 0) == "libtrainyard_cuda13.so");
  CHECK(taken({"libtrainyard_cuda9.so", "libtrainyard_cuda13.so"}, 0) == "libtrainyard_cuda13.so");
}

TEST_CASE("without a GPU part none is named, whatever other files there are") {
  CHECK(taken({}, 13000) == "libtrainyard_cuda*.so");
  CHECK(taken({"libtrainyard_cuda.so", "libtrainyard_cuda13.so.old", "libdnnl.so.2"}, 13000) ==
        "libtrainyard_cuda*.so");
}

}  // namespace
}  // namespace trainyard
