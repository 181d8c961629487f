// Restarts after a failure: how often, and when they stop.
#include <doctest/doctest.h>

#include <csignal>

#include "ranks/spawn/spawn.h"

namespace trainyard {
namespace {

TEST_CASE("a launch restarts only after exit code 8, and at most as often as allowed") {
  std::vector<int> attempts;
  std::vector<std::string> told;
  const Restarts twice{.most = 2, .tell = [&](const std::string& text) { told.push_back(text); }};
  const auto count = [&](SpawnResult result) {
    attempts.clear();
    told.clear();
    static_cast<void>(with_restarts(
        [&](int attempt) {
          attempts.push_back(attempt);
          return result;
        },
        twice));
    return attempts.size();
  };
  CHECK(count({.exit_code = 8, .message = "rank 1 died"}) == 3);
  CHECK(attempts == std::vector<int>{0, 1, 2});
  REQUIRE(told.size() == 2);
  CHECK(told[1] == "rank 1 died\nstarting again from the last checkpoint (2 of 2)");
  CHECK(count({.exit_code = 8}) == 3);
  CHECK(told[0] == "a rank failed\nstarting again from the last checkpoint (1 of 2)");
  for (const int code : {0, 1, 2, 3, 4, 5, 6, 7, 9, 75}) CHECK(count({.exit_code = code}) == 1);
  CHECK(count({.signal = SIGTERM}) == 1);
}

TEST_CASE("a launch that succeeds at the second attempt succeeds") {
  const Restarts restarts{.most = 5, .tell = [](const std::string&) {}};
  const SpawnResult result = with_restarts(
      [](int attempt) { return SpawnResult{.exit_code = attempt == 0 ? 8 : 0}; }, restarts);
  CHECK(result.exit_code == 0);
}

TEST_CASE("a GPU that fails a second time ends the restarts, whatever failed between") {
  const std::vector<std::string> failures{"cuda:0 (A)", "", "cuda:1 (B)", "cuda:0 (A)", "never"};
  std::size_t attempts = 0;
  const SpawnResult result =
      with_restarts([&](int) { return SpawnResult{.exit_code = 8, .message = "rank 0 failed"}; },
                    {.most = 10,
                     .tell = [](const std::string&) {},
                     .failed_gpu = [&] { return failures.at(attempts++); }});
  CHECK(attempts == 4);
  CHECK(result.exit_code == 8);
  CHECK(result.message ==
        "rank 0 failed\ncuda:0 (A) has failed twice: not restarting; exclude it with --gpus, "
        "and look for an Xid in dmesg");
}

TEST_CASE("failures that name no GPU are restarted as often as allowed") {
  int attempts = 0;
  static_cast<void>(with_restarts(
      [&](int) {
        ++attempts;
        return SpawnResult{.exit_code = 8};
      },
      {.most = 3, .tell = [](const std::string&) {}, .failed_gpu = [] { return ""; }}));
  CHECK(attempts == 4);
}

}  // namespace
}  // namespace trainyard
