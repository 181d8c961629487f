// Small files for the tests of the data folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../base/temporary_folder.h"
#include "base/error.h"
#include "data/augment/augmentation.h"
#include "data/feed/feeder.h"
#include "data/sets/memory_dataset.h"

namespace trainyard::test {

using testing::TemporaryFolder;

/// The first field of a batch.
[[nodiscard]] std::vector<std::int32_t> labels_of(const Batch& batch);
/// Field `field` of a batch as floats.
[[nodiscard]] std::vector<float> numbers_of(const Batch& batch, std::size_t field);

/// Field `field` of sample `index` of a set, i32.
[[nodiscard]] std::vector<std::int32_t> field_of(const Dataset& set, std::size_t field,
                                                 std::int64_t index);

/// The message of the Error{kind} that `action` throws; "no error" or "wrong kind: ..." else.
[[nodiscard]] std::string message_of(ErrorKind kind, const std::function<void()>& action);
/// The examples of docs/language/data.md's table of augmentations, one for each code span that is
/// one.
[[nodiscard]] std::vector<std::shared_ptr<const Augmentation>> documented_augmentations();

/// True if the text contains the part.
[[nodiscard]] bool holds(std::string_view text, std::string_view part);

/// A gzip file (RFC 1952) that stores `contents` uncompressed.
[[nodiscard]] std::string gzip_of(const std::string& contents);
/// A PNG file (8 bits, colour type 2 for 3 channels, 0 for 1) of pixels [h, w, c], stored
/// uncompressed. `claimed_w` and `claimed_h` overwrite the header's size where not 0.
struct PngForm {
  std::uint32_t w = 1;
  std::uint32_t h = 1;
  std::uint32_t channels = 3;
  std::uint32_t claimed_w = 0;
  std::uint32_t claimed_h = 0;
};
[[nodiscard]] std::string png_of(const PngForm& form, const std::string& pixels);
/// A PNG file that claims one pixel and whose data inflate to `bytes` zeros.
[[nodiscard]] std::string png_of_zeros(std::size_t bytes);
/// The PNG file with the checksums of its chunks corrected, as far as the chunks can be recognised.
[[nodiscard]] std::string with_checksums(std::string png);
/// A BMP file of 24 bits, bottom up, of pixels [h, w, rgb].
[[nodiscard]] std::string bmp_of(std::uint32_t w, std::uint32_t h, const std::string& pixels);

/// Big-endian word.
[[nodiscard]] std::string big_endian(std::uint32_t value);

/// One CIFAR-10 record of one colour.
[[nodiscard]] std::string cifar_record(int label, int value);

/// `count` images [c, h, w] of bytes drawn from `seed`, labels index mod 10.
[[nodiscard]] std::unique_ptr<MemoryDataset> random_bytes_set(std::int64_t count, Shape image,
                                                              std::uint64_t seed = 1);

/// Kilobytes of `file` that are mapped into this process and in memory.
[[nodiscard]] std::int64_t resident_kilobytes(const std::filesystem::path& file);

}  // namespace trainyard::test
