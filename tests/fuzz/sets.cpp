#include "../base/temporary_folder.h"
#include "data/sets/cifar.h"
#include "data/sets/pack.h"
#include "data/sets/tensors.h"
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

void read_cifar10(std::string_view input) {
  const testing::TemporaryFolder folder;
  folder.write("test_batch.bin", std::string(input));
  Cifar10Options options;
  options.root = folder.text();
  options.split = Split::test;
  expect_readable(*open_cifar10(options));
}

void read_cifar100(std::string_view input) {
  const testing::TemporaryFolder folder;
  folder.write("test.bin", std::string(input));
  Cifar100Options options;
  options.root = folder.text();
  options.split = Split::test;
  expect_readable(*open_cifar100(options));
}

void read_tensors(std::string_view input) {
  const testing::TemporaryFolder folder;
  folder.write("set.safetensors", std::string(input));
  TensorsOptions options;
  options.file = (folder / "set.safetensors").string();
  expect_readable(*open_tensors(options), -1);
}

}  // namespace trainyard::fuzz
