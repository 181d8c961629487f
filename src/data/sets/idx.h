// IDX files, the format of MNIST (http://yann.lecun.com/exdb/mnist/): big-endian magic and extents,
// then bytes. Images 0x00000803 [n, h, w], labels 0x00000801 [n]; each may be compressed with gzip.
#pragma once

#include "data/sets/source.h"

namespace trainyard {

struct IdxOptions : SourceOptions {
  config::FilePath images;  // files, or:
  config::FilePath labels;
  config::FilePath root;  // a folder with the standard names (train-images-idx3-ubyte, ...)
  Split split = Split::train;
  std::int64_t classes = 10;
  // Set by the thin sources on top of this one:
  std::string subfolder;
  std::string title = "IDX files";
  std::string advice = "give the folder as 'root', or the files as 'images' and 'labels'";
  std::vector<std::string> class_names;
};
void declare(config::Fields& fields, IdxOptions& options);

/// Images [1, h, w]. Throws Error{data}: no files found, a wrong magic, fewer or more bytes than
/// the header claims, a claim larger than the file can hold, counts that differ, a label out of
/// range.
[[nodiscard]] DatasetPtr open_idx(const IdxOptions& options);

[[nodiscard]] std::unique_ptr<DatasetSource> read_idx(config::Fields& fields);
[[nodiscard]] std::unique_ptr<DatasetSource> read_mnist(config::Fields& fields);
[[nodiscard]] std::unique_ptr<DatasetSource> read_fashion_mnist(config::Fields& fields);

}  // namespace trainyard
