#include "config/schema.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "sample.h"
#include "support.h"

using namespace trainyard;
using namespace trainyard::config;

namespace {

template <class T>
std::vector<FieldDescription> described() {
  Fields fields(Profile::keras2);
  T value;
  declare(fields, value);
  fields.finish();
  return fields.descriptions();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("describe mode records every declaration in order") {
  const auto fields = described<sample::Run>();
  REQUIRE(fields.size() == 15);
  CHECK(fields[0].key == "name");
  CHECK(fields[0].required);
  CHECK(fields[1].type == "integer");
  CHECK(fields[1].default_text == "10");
  CHECK(fields[1].maximum == 10000);
  CHECK(fields[4].default_text == "[32, 32]");
  CHECK(fields[7].default_text.empty());
  CHECK(fields[9].fields.size() == 4);
  CHECK(fields[9].fields[2].words == std::vector<std::string>{"valid", "same_upper"});
  CHECK(fields[9].fields[3].default_text == "nearest");
  CHECK(fields[10].fields[0].type == "selected");
  CHECK(fields[10].fields[0].members[1].fields[0].key == "path");
  CHECK(fields[12].required);
  CHECK(fields[12].members[0].fields[0].exclusive_minimum);
  CHECK(fields[13].members[2].fields[0].rest);
  CHECK(fields[14].members[1].fields[1].words.size() == 4);
}

TEST_CASE("the schema of a batch matches the expected text") {
  CHECK(json_schema(described<sample::Batch>(), "Batch") == R"({
  "type": "object",
  "properties": {
    "per_gpu": {
      "anyOf": [
        {"type": "integer", "minimum": 1},
        {"$ref": "#/definitions/expression"},
        {"type": "null"}
      ],
      "description": "samples a device"
    },
    "total": {
      "anyOf": [
        {"type": "integer", "minimum": 1},
        {"$ref": "#/definitions/expression"},
        {"type": "null"}
      ],
      "description": "samples of all devices"
    }
  },
  "additionalProperties": false,
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "Batch",
  "definitions": {
    "expression": {"type": "string", "pattern": "^\\$|\\$\\{", "description": "an expression: $n - 1, or ${n} inside text"}
  }
}
)");
}

TEST_CASE("the schema requires what the reader requires") {
  const std::string schema = json_schema(described<sample::Run>(), "Run");
  CHECK(contains(schema, R"("required": ["name", "optimizer"])"));
  CHECK(contains(schema, R"("required": ["lr"])"));
  CHECK(contains(schema, R"("exclusiveMinimum": 0)"));
  CHECK(contains(schema, R"({"enum": ["sgd", "adam"]})"));
  CHECK(contains(schema, R"("minProperties": 1,)"));
}

TEST_CASE("the schema of a file that may extend another requires nothing") {
  const std::string schema = json_schema(inheritable(described<sample::Run>()), "Run");
  CHECK_FALSE(contains(schema, R"("required")"));
  CHECK(contains(schema, R"("additionalProperties": false)"));
}

TEST_CASE("a file may have one key in place of all that are required") {
  const std::string schema = json_schema(described<sample::Run>(), "Run", "epochs");
  CHECK(contains(schema, R"({"required": ["name", "optimizer"]})"));
  CHECK(contains(schema, R"("required": ["epochs"])"));
  CHECK(contains(schema, R"({"required": ["name"]},)"));
  CHECK(contains(schema, R"({"required": ["optimizer"]})"));
}

TEST_CASE("the reference of a window matches the expected text") {
  CHECK(reference_text(described<sample::Window>(), "Window") ==
        "# Window\n\n"
        "| key | value | default | meaning |\n|---|---|---|---|\n"
        "| `size` | a whole number of at least 1 or two of them, [h, w] | required | size of the "
        "window |\n"
        "| `stride` | a whole number of at least 1 or two of them, [h, w] | `1` | step of the "
        "window |\n"
        "| `pad` | one of `valid`, `same_upper`, or a whole number of at least 0 or two of them, "
        "[h, w] | `valid` | around the input |\n"
        "| `fill` | one of `constant`, `nearest`, `reflect`, `wrap` | `nearest` | value outside "
        "the image |\n");
}

TEST_CASE("the reference has a section for every map and member") {
  const std::string text = reference_text(described<sample::Run>(), "Run");
  for (const char* heading : {"## `window`", "## `train`", "### `train.source: images`",
                              "## `optimizer.sgd`", "## `augment.pad_crop`"}) {
    CAPTURE(heading);
    CHECK(contains(text, std::string("\n") + heading + "\n"));
  }
  CHECK(contains(text, "## `schedule.constant`\n\nthe same rate\n\nNo keys.\n"));
}

TEST_CASE("the reference of a repeated map or family refers to its first section") {
  std::vector<FieldDescription> fields = described<sample::Run>();
  for (const char* key : {"train", "optimizer"}) {
    fields.push_back(*std::ranges::find(fields, key, &FieldDescription::key));
    fields.back().key = std::string("second_") + key;
  }
  fields.back().members.pop_back();
  const std::string text = reference_text(fields, "Run");
  CHECK(contains(text, "\n## `second_train`\n\nAs `train`.\n"));
  CHECK(contains(text, "\n## `second_optimizer`\n\nAs `optimizer`.\n"));
  CHECK_FALSE(contains(text, "second_train.source"));
  CHECK_FALSE(contains(text, "second_optimizer."));
}

TEST_CASE("items of an open family may contain lists of such items") {
  const auto field = [](std::string key, std::string type) {
    FieldDescription made;
    made.key = std::move(key);
    made.type = std::move(type);
    return made;
  };
  FieldDescription layers = field("layers", "list of members");
  layers.open = true;
  layers.adjacent_keys = {field("as", "text")};
  layers.members = {{"repeat", "", {field("layers", "items")}},
                    {"add", "", {field("branches", "branches")}}};
  layers.members[1].fields[0].rest = true;
  const std::string schema = json_schema({layers}, "Network");
  CHECK(contains(schema, R"("additionalProperties": true,
          "minProperties": 1,
          "maxProperties": 2)"));
  CHECK(contains(schema, R"("item": {)"));
  CHECK(contains(schema, R"("items": {"$ref": "#/definitions/item"})"));
  CHECK(contains(reference_text({layers}, "Network"), "## Next to a name in `layers`"));
}
