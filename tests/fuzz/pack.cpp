#include "data/sets/pack.h"

#include "../base/temporary_folder.h"
#include "expect.h"

namespace trainyard::fuzz {

void read_pack_file(std::string_view input) {
  const testing::TemporaryFolder folder;
  folder.write("set.pack", std::string(input));
  PackOptions options;
  options.file = (folder / "set.pack").string();
  options.check = PackCheck::opening;
  expect_readable(*open_pack(options), -1);
}

}  // namespace trainyard::fuzz
