#include "cli/console.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <string>

using namespace trainyard;
using namespace trainyard::cli;

namespace {

/// What `work` prints on stderr.
std::string errors_of(const std::function<void()>& work) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stderr);
  const int former = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  work();
  std::fflush(stderr);
  ::dup2(former, STDERR_FILENO);
  ::close(former);
  std::array<char, 1000> text{};
  std::rewind(file);
  const std::size_t size = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  return {text.data(), size};
}

}  // namespace

TEST_CASE("the first step of an epoch already tells how long the rest of the run takes") {
  ManualClock clock(0);
  const Banner banner{.replica_batch = 25, .replicas = 2, .steps = 10};
  const auto console = make_console({}, clock, banner, 3);
  const std::string said = errors_of([&] {
    clock.advance(61);  // a line a minute, where stderr is no terminal
    console->on_step({.step = 11, .epoch = 2, .loss = 1, .images_per_s = 10});
  });
  // 19 steps of 50 samples at 10 a second.
  CHECK(said.find("epoch 2/3 step 1/10 ") != std::string::npos);
  CHECK(said.find(" eta 0:01:35\n") != std::string::npos);
}
