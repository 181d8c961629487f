// Commands that a run starts at its events.
#include "report/hooks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "../base/temporary_folder.h"
#include "base/text.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// Hooks with their logs in a folder of their own.
struct HookTest {
  TemporaryFolder folder;
  Disk disk;
  std::vector<std::string> warnings;
  std::unique_ptr<Hooks> hooks;

  explicit HookTest(const HookCommands& commands) {
    hooks = std::make_unique<Hooks>(
        disk, commands, folder.path(),
        std::vector<std::string>{"PATH=/usr/bin:/bin", "TRAINYARD_EPOCH=old", "D=" + folder.text()},
        [this](const std::string& text) { warnings.push_back(text); });
  }
  void add_epochs(int count) const {
    for (int epoch = 1; epoch <= count; ++epoch) hooks->add(Hook::epoch, {{"epoch", epoch}});
  }
  [[nodiscard]] std::string text(const std::string& name) const { return text_of(folder / name); }
};

}  // namespace

TEST_CASE("an event's values are variables, those of maps with the map's name") {
  const Json event{{"event", "end"},
                   {"val_top5-accuracy", 0.5},
                   {"is_best", true},
                   {"exit_code", Json()},
                   {"best", {{"metric", "val_loss"}, {"epoch", 3}}},
                   {"message", "a\n'b'"}};
  CHECK(hook_variables(event) ==
        std::vector<std::string>{"TRAINYARD_EVENT=end", "TRAINYARD_VAL_TOP5_ACCURACY=0.5",
                                 "TRAINYARD_IS_BEST=true",
                                 "TRAINYARD_EXIT_CODE=", "TRAINYARD_BEST_METRIC=val_loss",
                                 "TRAINYARD_BEST_EPOCH=3", "TRAINYARD_MESSAGE=a\n'b'"});
}

TEST_CASE("a command gets the event on stdin, its values as variables, and our environment") {
  const HookTest test({.epoch = "cat; echo $TRAINYARD_EPOCH $PATH; echo complaint >&2"});
  test.add_epochs(1);
  test.hooks->finish();
  CHECK(test.text("hook_epoch.out") == "{\"epoch\":1}\n1 /usr/bin:/bin\n");
  CHECK(test.text("hook_epoch.err") == "complaint\n");
  CHECK(test.warnings.empty());
}

TEST_CASE("every event is told, in order, one at a time, and 'end' comes last") {
  const HookTest test({.epoch = "echo $TRAINYARD_EPOCH >>\"$D/list\"",
                       .best = "sleep 0.1; echo best >>\"$D/list\"",
                       .end = "echo end >>\"$D/list\""});
  test.hooks->add(Hook::end, Json::object());
  test.hooks->add(Hook::best, Json::object());
  test.add_epochs(5);
  test.hooks->finish();
  const std::string list = test.text("list");
  CHECK(list.ends_with("\nend\n"));
  std::string epochs;
  for (const char letter : list) {
    if (is_digit(letter)) epochs += letter;
  }
  CHECK(epochs == "12345");
  CHECK(list.find("best\n") != std::string::npos);
}

TEST_CASE("what fails is one warning that names the command, its end and its last words") {
  struct Case {
    const char* command;
    const char* warning;
    double time_limit = 30;
  };
  const std::array cases = {
      Case{"echo first >&2; echo last >&2; exit 3", "ended with code 3: last"},
      Case{"exit 255", "ended with code 255"}, Case{"kill -KILL $$", "was killed by signal 9"},
      Case{"no-such-program", "ended with code 127: "},
      Case{"sleep 100", "had not ended after 0.2 s and was killed; it is not started again", 0.2}};
  for (const Case& one : cases) {
    CAPTURE(one.command);
    const HookTest test({.epoch = one.command, .time_limit = one.time_limit});
    test.add_epochs(3);
    test.hooks->finish();
    REQUIRE(test.warnings.size() == 1);
    const std::string expected =
        "hooks.epoch: '" + std::string(one.command) + "' " + std::string(one.warning);
    CHECK(test.warnings[0].substr(0, expected.size()) == expected);
    if (!expected.ends_with(": ")) CHECK(test.warnings[0] == expected);
  }
}

TEST_CASE("nothing waits for a command but finish()") {
  const HookTest test({.epoch = "sleep 100", .time_limit = 100});
  test.add_epochs(1000);
  test.hooks->look();
  // Events that no command was started for are forgotten with a warning.
  test.hooks->forget();
  REQUIRE(test.warnings.size() == 1);
  CHECK(test.warnings[0] ==
        "hooks.epoch: 'sleep 100' was not started for the last 999 events: the run was stopped "
        "while it was running");
  test.hooks->hurry(0.1);
  test.hooks->finish();
  CHECK(test.warnings.size() == 1);
}

TEST_CASE("a hurried run still tells its end") {
  const HookTest test({.epoch = "sleep 100", .end = "echo told; sleep 100"});
  test.add_epochs(1);
  test.hooks->add(Hook::end, Json::object());
  test.hooks->hurry(1);
  test.hooks->finish();
  CHECK(test.text("hook_end.out") == "told\n");
  REQUIRE(test.warnings.size() == 1);
  CHECK(test.warnings[0].starts_with("hooks.end: 'echo told; sleep 100' had not ended after 1 s"));
}

TEST_CASE(
    "files that a command writes have no limit, and pipes in place of its logs are replaced") {
  const HookTest test({.epoch = "head -c 70000000 /dev/zero >\"$D/large\""});
  std::filesystem::create_directory(test.folder / "hook_epoch.err");
  test.add_epochs(1);
  test.hooks->finish();
  CHECK(std::filesystem::file_size(test.folder / "large") == 70'000'000);
  CHECK(test.warnings.empty());
}

TEST_CASE("a command that cannot be started is a warning") {
  const HookTest test({.epoch = "true"});
  std::filesystem::remove_all(test.folder.path());
  test.add_epochs(1);
  test.hooks->finish();
  REQUIRE(test.warnings.size() == 1);
  CHECK(test.warnings[0] ==
        "hooks.epoch: 'true' cannot start '/bin/sh': No such file or directory");
}
