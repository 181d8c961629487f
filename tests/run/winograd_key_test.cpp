// `winograd:`, whose words are a truth value and names.
#include <doctest/doctest.h>

#include <string>

#include "config/schema.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

RunConfig with_winograd(const std::string& value) {
  return read_run(std::string(kTinyRun) + "winograd: " + value + "\n");
}

}  // namespace

TEST_CASE("winograd is false or names the forms, and is stored as it was written") {
  const RunConfig off = with_winograd("false");
  CHECK(off.winograd == WinogradForms::none);
  CHECK(off.settled.find("winograd")->kind == config::Node::Kind::boolean);
  CHECK(with_winograd("accurate").winograd == WinogradForms::accurate);
  const RunConfig fast = with_winograd("fast");
  CHECK(fast.winograd == WinogradForms::fast);
  CHECK(fast.settled.find("winograd")->kind == config::Node::Kind::text);
}

TEST_CASE("other values of winograd are refused with what it may be") {
  for (const std::string value : {"true", "none", "2"}) {
    CAPTURE(value);
    const std::string refused = refusal([&] { static_cast<void>(with_winograd(value)); });
    CHECK(refused.find("11:11: 'winograd' must be one of false, accurate, fast, found ") !=
          std::string::npos);
  }
}
