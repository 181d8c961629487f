#include "data/sets/cifar.h"

#include "../base/temporary_folder.h"
#include "expect.h"

namespace trainyard::fuzz {

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

}  // namespace trainyard::fuzz
