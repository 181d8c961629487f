#include "data/sets/tensors.h"

#include "../base/temporary_folder.h"
#include "expect.h"

namespace trainyard::fuzz {

void read_tensors(std::string_view input) {
  const testing::TemporaryFolder folder;
  folder.write("set.safetensors", std::string(input));
  TensorsOptions options;
  options.file = (folder / "set.safetensors").string();
  expect_readable(*open_tensors(options), -1);
}

}  // namespace trainyard::fuzz
