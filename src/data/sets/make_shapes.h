// The shapes set: a substitute for CIFAR-10 on machines without data, in the same binary format.
#pragma once

#include <cstdint>
#include <filesystem>

namespace trainyard {

struct ShapesOptions {
  std::int64_t train = 50000;  // samples, spread evenly over five files; at least 5
  std::int64_t test = 10000;   // at least 1
  std::uint64_t seed = 1;
  int threads = 1;  // does not affect the files
};

/// Writes data_batch_1.bin to data_batch_5.bin, test_batch.bin and batches.meta.txt into the folder
/// `dest`, which must be new or empty; it appears complete or not at all. The same seed and counts
/// give the same bytes. Throws Error{data} if the folder is not empty, Error{disk} if it cannot be
/// written.
void make_shapes(const std::filesystem::path& dest, const ShapesOptions& options);

}  // namespace trainyard
