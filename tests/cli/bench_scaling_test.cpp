#include "cli/bench_scaling.h"

#include <doctest/doctest.h>

#include "../base/error_of.h"

namespace trainyard::cli {
namespace {

using testing::error_of;

std::string refusal(const std::string& text, bool hosts = false) {
  return error_of(ErrorKind::command_line, [&] { static_cast<void>(parse_counts(text, hosts)); });
}

TEST_CASE("numbers of ranks are read in any order") {
  CHECK(parse_counts("1,2,4", false) == std::vector<int>{1, 2, 4});
  CHECK(parse_counts("8,3", false) == std::vector<int>{3, 8});
  CHECK(parse_counts("256", false) == std::vector<int>{256});
  CHECK(parse_counts("1,512", true) == std::vector<int>{1, 512});
}

TEST_CASE("an invalid number of ranks is named") {
  CHECK(refusal("1,x") ==
        "--scaling 1,x: 'x' is not a number of ranks from 1 to 256; give a list, as in --scaling "
        "1,2,4");
  for (const char* text : {"", "0", "-1", "257", "1,,2", "1;2", "2.5"}) {
    CAPTURE(text);
    CHECK(refusal(text).find("is not a number of ranks from 1 to 256") != std::string::npos);
  }
  CHECK(refusal("1,65537", true).find("from 1 to 65536") != std::string::npos);
}

TEST_CASE("each number of ranks appears at most once") {
  CHECK(refusal("2,1,2") == "--scaling 2,1,2: 2 appears twice; give each number of ranks once");
}

}  // namespace
}  // namespace trainyard::cli
