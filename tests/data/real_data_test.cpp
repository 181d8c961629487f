// Real data, if the environment names a folder with it.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "data/augment/statistics.h"
#include "data/sets/cifar.h"
#include "data/sets/idx.h"

namespace trainyard {

namespace {

/// $TRAINYARD_DATA if it contains `file`, else "" (the case is then skipped).
std::string data_folder(const std::string& file) {
  const char* folder = std::getenv("TRAINYARD_DATA");
  if (folder != nullptr && std::filesystem::exists(std::filesystem::path(folder) / file)) {
    return folder;
  }
  return "";
}

const std::string kCifar = data_folder("cifar-10-batches-bin/test_batch.bin");
const std::string kFashion = data_folder("fashion-mnist/t10k-labels-idx1-ubyte");

}  // namespace

TEST_CASE("CIFAR-10 has its known size, first labels and channel statistics" *
          doctest::skip(kCifar.empty())) {
  Cifar10Options options;
  options.root = kCifar;
  const auto set = open_cifar10(options);
  CHECK(set->size() == 50000);
  CHECK(set->class_names().at(6) == "frog");
  CHECK(set->label(0) == 6);  // a frog, then two trucks
  CHECK(set->label(1) == 9);
  CHECK(set->label(2) == 9);
  // As published everywhere for the training split, in units of 255: 0.4914, 0.4822, 0.4465 and
  // 0.2470, 0.2435, 0.2616, rounded to four digits.
  const Statistics statistics = compute_statistics(*set, 2);
  const float mean[] = {0.4914f, 0.4822f, 0.4465f};
  const float deviation[] = {0.2470f, 0.2435f, 0.2616f};
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(std::abs(statistics.mean[c] / 255 - mean[c]) < 0.6e-4f);
    CHECK(std::abs(statistics.deviation[c] / 255 - deviation[c]) < 0.6e-4f);
  }
}

TEST_CASE("Fashion-MNIST has its known size and first labels" * doctest::skip(kFashion.empty())) {
  IdxOptions options;
  options.root = kFashion + "/fashion-mnist";
  const auto train = open_idx(options);
  CHECK(train->size() == 60000);
  CHECK(train->image_shape() == Shape{1, 28, 28});
  CHECK(train->label(0) == 9);  // an ankle boot, then a t-shirt
  CHECK(train->label(1) == 0);
  options.split = Split::test;
  CHECK(open_idx(options)->size() == 10000);
}

}  // namespace trainyard
