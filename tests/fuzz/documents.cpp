#include "checkpoint/manifest.h"
#include "config/load.h"
#include "expect.h"
#include "formats/json.h"

namespace trainyard::fuzz {

void read_yaml(std::string_view input) {
  const config::Node node = config::parse_yaml(input, "x.yaml");
  const std::string text = config::to_yaml(node);
  // Indentation may push the written text beyond the file size limit.
  const config::FileLimits limits{.bytes = std::size_t{1} << 30};
  const config::Node again =
      read_again(text, [&] { return config::parse_yaml(text, "again.yaml", limits); });
  expect(config::same_value(again, node), "written YAML reads to other values:\n" + text);
}

void read_json(std::string_view input) {
  const JsonSource source{"x.json", ErrorKind::data};
  const Json value = parse_json(input, source);
  const std::string text = json_text(value);
  const Json again = read_again(text, [&] { return parse_json(text, source); });
  expect(again == value, "written JSON reads to other values:\n" + text);
}

void read_manifest(std::string_view input) {
  const std::string text(input);
  const Manifest manifest = parse_manifest(text, "MANIFEST.json");
  expect(manifest_text(manifest) == text, "a manifest that differs from the written one");
}

}  // namespace trainyard::fuzz
