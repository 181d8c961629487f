// Optional parts that false, no and off leave out.
#include <doctest/doctest.h>

#include "config/schema.h"
#include "sample.h"
#include "support.h"

using namespace trainyard;
using namespace trainyard::config;

namespace {

struct Stop {
  std::int64_t patience = 10;
};
void declare(Fields& fields, Stop& stop) {
  fields.field("patience", stop.patience, "epochs", {.minimum = 1});
}

struct Parts {
  std::optional<Stop> stop;           // left out by default
  std::optional<Stop> save = Stop{};  // there by default
  std::unique_ptr<sample::Member> schedule;
  std::vector<std::unique_ptr<sample::Member>> augment;
};
void declare(Fields& fields, Parts& parts) {
  fields.feature("stop", parts.stop, "when to stop");
  fields.feature("save", parts.save, "what to save");
  fields.feature("schedule", parts.schedule, "the rate", sample::schedules());
  fields.feature("augment", parts.augment, "changes", sample::augments());
}

Node settled_of(const std::string& yaml) {
  const Node node = parse_yaml(yaml, "t.yaml");
  Diagnostics diagnostics;
  Parts parts;
  Fields fields(node, nullptr, "", Profile::keras2, diagnostics);
  declare(fields, parts);
  fields.finish();
  diagnostics.raise();
  return fields.settled();
}

}  // namespace

TEST_CASE("false, no and off leave a part out, also one that is there by default") {
  for (const char* off : {"false", "False", "no", "No", "NO", "off", "Off", "OFF"}) {
    CAPTURE(off);
    Parts parts;
    const std::string word(off);
    CHECK(read_into("{stop: " + word + ", save: " + word + ", schedule: " + word +
                        ", augment: " + word + "}",
                    parts) == "");
    CHECK_FALSE(parts.stop);
    CHECK_FALSE(parts.save);
    CHECK_FALSE(parts.schedule);
    CHECK(parts.augment.empty());
  }
}

TEST_CASE("true, yes and on have a part without keys; null is a key that is left out") {
  for (const char* on : {"true", "yes", "On"}) {
    Parts parts;
    CHECK(read_into("{stop: " + std::string(on) + ", save: " + on + "}", parts) == "");
    REQUIRE(parts.stop);
    CHECK(parts.stop->patience == 10);
    CHECK(parts.save);
  }
  Parts parts;
  CHECK(read_into("{stop: ~, save: ~}", parts) == "");
  CHECK_FALSE(parts.stop);
  CHECK(parts.save);
}

TEST_CASE("text in quotes and other words turn nothing off") {
  Parts parts;
  CHECK(read_into("{stop: \"no\"}", parts) ==
        "t.yaml:1:8: 'patience' must be a whole number of at least 1, found text 'no'");
  CHECK(read_into("{augment: nein}", parts) ==
        "t.yaml:1:11: 'augment' must be a list of members, found text 'nein'");
}

TEST_CASE("a part that is off is settled as false, and reads back as off") {
  CHECK(to_yaml(settled_of("{save: off, augment: no}")) == "save: false\naugment: false\n");
  CHECK(to_yaml(settled_of("{save: false, augment: false}")) == "save: false\naugment: false\n");
  CHECK(to_yaml(settled_of("{}")) == "save:\n  patience: 10\n");
}

TEST_CASE("schema and reference say that a part can be off") {
  Fields fields(Profile::keras2);
  Parts parts;
  declare(fields, parts);
  fields.finish();
  const std::string schema = json_schema(fields.descriptions(), "Parts");
  const std::string off = R"(false, "no", "No", "NO", "off", "Off", "OFF")";
  CHECK(schema.find(R"({"enum": [)" + off + R"(, true, "yes", "Yes", "YES", "on", "On", "ON"]})") !=
        std::string::npos);
  CHECK(schema.find(R"({"enum": [)" + off + "]}") != std::string::npos);
  const std::string reference = reference_text(fields.descriptions(), "Parts");
  CHECK(reference.find("| `save` | a map, see below; `false`, `no` or `off`: without it |") !=
        std::string::npos);
}
