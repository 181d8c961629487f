// Every file of corpus/TARGET/accepted and corpus/TARGET/refused has the outcome of its folder; the
// dev build replays them under ASan and UBSan.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <vector>

#include "../base/temporary_folder.h"
#include "base/error.h"
#include "targets.h"

namespace trainyard::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = fs::path(TY_SOURCE_DIR) / "tests/fuzz/corpus";

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void replay(const Target& target, const std::string& folder, Outcome expected) {
  const std::vector<fs::path> files = files_of(kCorpus / target.name / folder);
  CHECK_MESSAGE(!files.empty(), "no file in corpus/", std::string(target.name), "/", folder);
  for (const fs::path& path : files) {
    INFO(path.string());
    const std::string text = testing::text_of(path);
    // Memory of exactly this size, so that ASan sees the first byte beyond.
    const std::vector<char> input(text.begin(), text.end());
    Outcome outcome{};
    CHECK_NOTHROW(outcome = outcome_of(target, {input.data(), input.size()}));
    CHECK((outcome == expected));
  }
}

TEST_CASE("every file of the corpora is accepted or refused as its folder is named") {
  for (const Target& target : targets()) {
    replay(target, "accepted", Outcome::accepted);
    replay(target, "refused", Outcome::refused);
  }
}

TEST_CASE("every folder of the corpora has its target") {
  std::set<std::string> names;
  for (const Target& target : targets()) names.emplace(target.name);
  std::set<std::string> folders;
  for (const fs::path& path : files_of(kCorpus)) folders.insert(path.filename().string());
  CHECK(folders == names);
}

TEST_CASE("only errors that a user can cause count as refusals") {
  const auto outcome = [](void (*read)(std::string_view)) { return outcome_of({"x", read}, ""); };
  CHECK((outcome([](std::string_view) {}) == Outcome::accepted));
  CHECK((outcome([](std::string_view) { throw Error(ErrorKind::data, ""); }) == Outcome::refused));
  CHECK_THROWS_AS(outcome([](std::string_view) { throw Error(ErrorKind::bug, ""); }), Error);
  CHECK_THROWS_AS(outcome([](std::string_view) { throw std::out_of_range(""); }),
                  std::out_of_range);
}

}  // namespace
}  // namespace trainyard::fuzz
