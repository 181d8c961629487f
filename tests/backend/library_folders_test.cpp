#include <doctest/doctest.h>

#include <algorithm>

#include "../base/temporary_folder.h"
#include "backend/plugin.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

fs::path made(const fs::path& folder) {
  fs::create_directories(folder);
  return folder;
}

std::ptrdiff_t index_of(const std::vector<fs::path>& folders, const fs::path& folder) {
  const auto found = std::find(folders.begin(), folders.end(), folder);
  return found == folders.end() ? -1 : found - folders.begin();
}

TEST_CASE("named folders come first, in their order, then the loader's search") {
  const testing::TemporaryFolder root;
  const fs::path plain = made(root.path() / "plain");
  const fs::path toolkit = made(root.path() / "toolkit" / "lib64");
  const fs::path wheel = made(root.path() / "site-packages" / "nvidia" / "cudnn" / "lib");
  const auto folders = library_folders(
      {.trainyard_cuda_path = plain.string() + ":" + (root.path() / "toolkit").string() + ":" +
                              (root.path() / "site-packages").string()});
  CHECK(index_of(folders, plain) == 0);
  CHECK(index_of(folders, toolkit) > 0);
  CHECK(index_of(folders, wheel) > index_of(folders, toolkit));
  CHECK(index_of(folders, "") > index_of(folders, wheel));
}

TEST_CASE("wheels beside the program's folder come before the loader's search") {
  const testing::TemporaryFolder root;
  const fs::path named = made(root.path() / "named");
  const fs::path cudnn = made(root.path() / "site-packages" / "nvidia" / "cudnn" / "lib");
  const auto folders =
      library_folders({.trainyard_cuda_path = named.string(),
                       .program = root.path() / "site-packages" / "trainyard" / "bin" / "train"});
  CHECK(index_of(folders, named) == 0);
  CHECK(index_of(folders, cudnn) == 1);
  CHECK(index_of(folders, "") == 2);
}

TEST_CASE("a toolkit and the wheels of an environment come after the loader's search") {
  const testing::TemporaryFolder root;
  const fs::path toolkit = made(root.path() / "cuda" / "lib64");
  const fs::path environment = root.path() / "venv";
  const fs::path packages = environment / "lib" / "python3.12" / "site-packages" / "nvidia";
  const fs::path cudnn = made(packages / "cudnn" / "lib"), cu13 = made(packages / "cu13" / "lib");
  const fs::path nccl = made(packages / "nccl" / "lib");
  const auto folders = library_folders(
      {.cuda_home = (root.path() / "cuda").string(), .virtual_env = environment.string()});
  CHECK(index_of(folders, "") == 0);
  CHECK(index_of(folders, toolkit) == 1);
  for (const fs::path& wheel : {cudnn, cu13, nccl}) CHECK(index_of(folders, wheel) > 1);
}

TEST_CASE("wheels of a user, conda's packages and wheels in conda are found, NVRTC with them") {
  const testing::TemporaryFolder root;
  const fs::path packages = fs::path("lib") / "python3.10" / "site-packages" / "nvidia";
  const fs::path home = root.path() / "home", conda = root.path() / "conda";
  const fs::path nvrtc = made(home / ".local" / packages / "cuda_nvrtc" / "lib");
  const fs::path cublas = made(home / ".local" / packages / "cublas" / "lib");
  const fs::path wheel = made(conda / packages / "cudnn" / "lib");
  made(conda / "conda-meta");
  const auto folders = library_folders({.conda_prefix = conda.string(), .home = home.string()});
  for (const fs::path& folder : {nvrtc, cublas, wheel, conda / "lib"}) {
    CAPTURE(folder);
    CHECK(index_of(folders, folder) > 0);
  }
  // The lib folder of another prefix may hold any libraries.
  const auto other = library_folders({.virtual_env = (home / ".local").string()});
  CHECK(index_of(other, home / ".local" / "lib") == -1);
}

TEST_CASE("conda's packages are found by its python3 on the search path") {
  const testing::TemporaryFolder root;
  testing::put_text(made(root.path() / "bin") / "python3", "");
  made(root.path() / "conda-meta");
  const fs::path lib = made(root.path() / "lib");
  CHECK(index_of(library_folders({.path = (root.path() / "bin").string()}), lib) > 0);
}

TEST_CASE("the wheels of the first python3 on the search path are found") {
  const testing::TemporaryFolder root;
  const fs::path bin = made(root.path() / "bin");
  testing::put_text(bin / "python3", "");
  const fs::path wheel =
      made(root.path() / "lib" / "python3.11" / "dist-packages" / "nvidia" / "nccl" / "lib");
  const auto folders = library_folders({.path = "/nowhere:" + bin.string() + "/"});
  CHECK(index_of(folders, wheel) > 0);
}

TEST_CASE("missing folders and duplicates are left out") {
  const testing::TemporaryFolder root;
  const fs::path plain = made(root.path() / "plain");
  const auto folders = library_folders(
      {.trainyard_cuda_path = "/nowhere:" + plain.string() + "::" + plain.string()});
  CHECK(index_of(folders, "/nowhere") == -1);
  CHECK(std::count(folders.begin(), folders.end(), plain) == 1);
}

}  // namespace
}  // namespace trainyard
