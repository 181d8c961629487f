// The shapes set: a stand-in for CIFAR-10 on machines without data, in the same binary layout.
#pragma once

#include <cstdint>
#include <filesystem>

namespace trainyard {

struct ShapesOptions {
  std::int64_t train = 50000;  // samples, over five files as evenly as can be; at least 5
  std::int64_t test = 10000;   // at least 1
  std::uint64_t seed = 1;
  int threads = 1;  // changes nothing in the files
};

/// Writes data_batch_1.bin to data_batch_5.bin, test_batch.bin and batches.meta.txt into the folder
/// `dest`, which must be new or empty; it appears complete or not at all. The same bytes for the
/// same seed and counts. Throws Error{data} if the folder holds something, Error{disk} if it cannot
/// be written.
void make_shapes(const std::filesystem::path& dest, const ShapesOptions& options);

}  // namespace trainyard
