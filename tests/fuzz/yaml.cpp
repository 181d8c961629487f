#include "config/load.h"
#include "expect.h"

namespace trainyard::fuzz {

void read_yaml(std::string_view input) {
  const config::Node node = config::parse_yaml(input, "x.yaml");
  const std::string text = config::to_yaml(node);
  // Indentation may take what is written beyond the size of a file.
  const config::FileLimits limits{.bytes = std::size_t{1} << 30};
  const config::Node again =
      read_again(text, [&] { return config::parse_yaml(text, "again.yaml", limits); });
  expect(config::same_value(again, node), "YAML that is written holds other values:\n" + text);
}

}  // namespace trainyard::fuzz
