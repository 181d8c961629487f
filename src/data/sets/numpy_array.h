// Arrays in numpy's .npy format (NEP 1), versions 1.0 to 3.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

enum class NumberKind { boolean, integer, natural, real };

/// An array of numbers as it is stored.
struct NumpyArray {
  std::string name;  // for messages: file, or file and member
  std::vector<std::int64_t> shape;
  NumberKind kind = NumberKind::real;
  std::size_t element = 4;  // bytes
  bool big_endian = false;
  bool fortran = false;         // the first index is the fastest
  std::vector<std::byte> file;  // header and values
  std::size_t values = 0;       // offset of the values in `file`

  [[nodiscard]] std::int64_t elements() const;
  /// "f4 [50, 40, 60]".
  [[nodiscard]] std::string text() const;
};

/// Takes a whole .npy file. Throws Error{data}: no such file, another version, a header that numpy
/// does not write, pickled objects, types that are no numbers, values that are fewer or more than
/// the shape's.
[[nodiscard]] NumpyArray parse_numpy(std::vector<std::byte> file, const std::string& name);
/// More than a header.
inline constexpr std::size_t kNumpyStartBytes = 70'000;
/// The array of a file of `bytes` by its start, without values. Throws as parse_numpy().
[[nodiscard]] NumpyArray numpy_header(const std::vector<std::byte>& start, std::size_t bytes,
                                      const std::string& name);

/// The elements in the order of the last index fastest. Throws Error{data} with the element's place
/// for a value that is not finite.
[[nodiscard]] std::vector<float> floats_of(const NumpyArray& array);
/// The same of whole numbers. Throws Error{data} for one that is not in 32 bits, and for an array
/// of real numbers.
[[nodiscard]] std::vector<std::int32_t> integers_of(const NumpyArray& array);

/// The .npy file, version 1.0, of float32 [rows, values / rows], row by row; [0, 0] of no rows.
[[nodiscard]] std::string numpy_file(std::span<const float> values, std::int64_t rows);

}  // namespace trainyard
