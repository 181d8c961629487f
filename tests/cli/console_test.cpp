#include "cli/console.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "../base/manual_clock.h"

using namespace trainyard;
using namespace trainyard::cli;

namespace {

/// The output of `work` on `stream`.
std::string printed_on(std::FILE* stream, const std::function<void()>& work) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stream);
  const int descriptor = ::fileno(stream);
  const int former = ::dup(descriptor);
  ::dup2(::fileno(file), descriptor);
  work();
  std::fflush(stream);
  ::dup2(former, descriptor);
  ::close(former);
  std::array<char, 4000> text{};
  std::rewind(file);
  const std::size_t size = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  return {text.data(), size};
}

const Banner kBanner{.replica_batch = 25, .replicas = 2, .steps = 10, .judged = "val_accuracy"};

EpochRow epoch_row(std::int64_t epoch, bool best) {
  return {.epoch = epoch,
          .step = 10 * epoch,
          .loss = 1,
          .val_loss = 2,
          .metrics = {{"accuracy", 0.25, 0.5}},
          .is_best = best,
          .epoch_s = 3,
          .images_per_s = 100};
}

}  // namespace

TEST_CASE("the eta of the run is known from the first step of an epoch on") {
  ManualClock clock(0);
  Messages messages(false);
  const auto console = make_console({.quiet = false}, clock, messages, kBanner, 3);
  const std::string said = printed_on(stderr, [&] {
    clock.advance(61);  // one line per minute if stderr is not a terminal
    console->on_step({.step = 11, .epoch = 2, .loss = 1, .images_per_s = 10});
  });
  // 19 steps of 50 samples at 10 per second.
  CHECK(said.find("epoch 2/3 step 1/10 ") != std::string::npos);
  CHECK(said.find(" eta 0:01:35\n") != std::string::npos);
}

TEST_CASE("the bar shows loss and accuracy as means of the epoch, and then the validation") {
  ManualClock clock(0);
  Messages messages(false);
  const auto console = make_console({.terminal = true, .utf8 = false}, clock, messages, kBanner, 3);
  const std::string said = printed_on(stderr, [&] {
    console->on_step({.step = 10, .epoch = 1, .loss = 9, .accuracy = 0.1, .images_per_s = 10});
    console->on_step({.step = 11, .epoch = 2, .loss = 1, .accuracy = 0.25, .images_per_s = 10});
    clock.advance(1);
    console->on_step({.step = 12, .epoch = 2, .loss = 2, .accuracy = 0.75, .images_per_s = 10});
    clock.advance(1);
    console->on_validation({.epoch = 2, .batch = 1, .batches = 4});
  });
  CHECK(said ==
        "\r  2/3  2/10 ####----------------  loss 1.50  acc 0.50  eta 0:01:30  10 img/s\x1b[K"
        "\r  2/3  validation 1/4 #####---------------  eta 0:00:50\x1b[K");
}

TEST_CASE("the unit of the throughput is the banner's, in bars and in lines") {
  ManualClock clock(0);
  Messages messages(false);
  Banner banner = kBanner;
  banner.unit = "seq";
  std::string bar;
  const std::string said = printed_on(stdout, [&] {
    const auto console =
        make_console({.terminal = true, .utf8 = false}, clock, messages, banner, 3);
    bar = printed_on(stderr, [&] {
      clock.advance(1);
      console->on_step({.step = 1, .epoch = 1, .loss = 1, .images_per_s = 10});
    });
    console->on_epoch(epoch_row(1, false));
  });
  CHECK(bar.find("  10 seq/s") != std::string::npos);
  CHECK(said.find(" seq/s - ") != std::string::npos);
}

TEST_CASE("the bar follows the terminal's width, which may change during a run") {
  ManualClock clock(0);
  Messages messages(false);
  int columns = 80;
  const ConsoleOptions options{
      .terminal = true, .utf8 = false, .bar_columns = [&] { return columns; }};
  std::string bars;
  const std::string said = printed_on(stdout, [&] {
    const auto console = make_console(options, clock, messages, kBanner, 3);
    bars = printed_on(stderr, [&] {
      for (const int now : {80, 40}) {
        columns = now;
        clock.advance(1);
        console->on_step({.step = 1, .epoch = 1, .loss = 1, .accuracy = 0.5, .images_per_s = 10});
        console->on_epoch(epoch_row(1, false));
      }
    });
  });
  CHECK(said.find("\nEpoch 1/3 - ") != std::string::npos);
  CHECK(bars.find("\r  1/3  1/10 ##------------------  loss 1.00  acc 0.50  eta 0:02:25  10 img/s"
                  "\x1b[K\r\x1b[K\r  1/3  1/10 ##------------------\x1b[K") != std::string::npos);
}

TEST_CASE("the star is explained once, under the first line that has one") {
  ManualClock clock(0);
  Messages messages(false);
  const std::string said = printed_on(stdout, [&] {
    const auto console = make_console({}, clock, messages, kBanner, 3);
    console->on_epoch(epoch_row(1, true));
    console->on_epoch(epoch_row(2, false));
    console->on_epoch(epoch_row(3, true));
  });
  const std::string legend = "(*: the best val_accuracy so far)\n";
  const std::size_t at = said.find(" *\n" + legend + "Epoch 2/3");
  CHECK(at != std::string::npos);
  CHECK(said.find(legend, at + 4) == std::string::npos);
}

TEST_CASE("the terminal's width is COLUMNS if set, else its own, also after a resize") {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) {
    MESSAGE("no terminal to try: /dev/pts is not mounted");
    return;
  }
  REQUIRE(::grantpt(terminal) == 0);
  REQUIRE(::unlockpt(terminal) == 0);
  const int end = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(end >= 0);
  CHECK(terminal_columns(end, nullptr) == 80);  // one that does not know its width
  for (const unsigned short columns : {60, 40}) {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    REQUIRE(::ioctl(terminal, TIOCSWINSZ, &size) == 0);
    CHECK(terminal_columns(end, nullptr) == columns);
  }
  CHECK(terminal_columns(end, "100") == 100);
  for (const char* stated : {"", "0", "-3", "wide", "99999999999999999999"}) {
    CHECK(terminal_columns(end, stated) == 40);
  }
  ::close(end);
  ::close(terminal);
}

TEST_CASE("a stream that is not a terminal has width 0, whatever COLUMNS says") {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  CHECK(terminal_columns(::fileno(file), "60") == 0);
  std::fclose(file);
}

TEST_CASE("a warning replaces the bar, and with events it is also an object on stdout") {
  Messages messages(true);
  std::string text;
  const std::string events = printed_on(stdout, [&] {
    text = printed_on(stderr, [&] {
      messages.show_bar("a bar");
      messages.warn("it is \"late\"");
      messages.leave_events_to_first_rank();
      messages.fail("a.yaml:3:1: no", 3);
    });
  });
  CHECK(text ==
        "\ra bar\x1b[K\r\x1b[Ktrain: warning: it is \"late\"\n"
        "a.yaml:3:1: no\n");
  const Json event = parse_json(events, {"stdout"});
  CHECK(event["event"] == "warning");
  CHECK(event["message"] == "it is \"late\"");
}

TEST_CASE("--log json also applies to a command line with mistakes") {
  CHECK(asks_for_events({"--log", "json", "--nonsense"}));
  CHECK(asks_for_events({"a.yaml", "--log=json"}));
  CHECK_FALSE(asks_for_events({"--log", "keras", "json"}));
  CHECK_FALSE(asks_for_events({"--log"}));
}
