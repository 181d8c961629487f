#include "config/load.h"
#include "expect.h"

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

}  // namespace trainyard::fuzz
