// CIFAR-10 and CIFAR-100 in their binary layout (https://www.cs.toronto.edu/~kriz/cifar.html):
// records of one or two label bytes and 3,072 bytes of pixels, planes red, green, blue, each 32
// rows of 32. Any folder of the right form is accepted, with any number of records per file.
#pragma once

#include "data/sets/source.h"

namespace trainyard {

struct Cifar10Options : SourceOptions {
  static constexpr std::string_view kName = "cifar10";
  config::FilePath root = "data";  // the folder itself or the one that holds cifar-10-batches-bin
  Split split = Split::train;
};
void declare(config::Fields& fields, Cifar10Options& options);
/// Images [3, 32, 32], 10 classes. Throws Error{data}: no files found, a file whose size is not a
/// multiple of a record, a label out of range.
[[nodiscard]] DatasetPtr open_cifar10(const Cifar10Options& options);

enum class CifarLabels { fine, coarse };
[[nodiscard]] constexpr config::Words<CifarLabels> words(CifarLabels) { return {"fine", "coarse"}; }

struct Cifar100Options : SourceOptions {
  static constexpr std::string_view kName = "cifar100";
  config::FilePath root = "data";
  Split split = Split::train;
  CifarLabels labels = CifarLabels::fine;  // 100 classes, or their 20 groups
};
void declare(config::Fields& fields, Cifar100Options& options);
[[nodiscard]] DatasetPtr open_cifar100(const Cifar100Options& options);

}  // namespace trainyard
