#include "data/sets/numpy_array.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/half.h"
#include "base/text.h"
#include "tensor/shape.h"

namespace trainyard {

namespace {

constexpr std::string_view kNumpyMagic("\x93NUMPY", 6);
constexpr std::size_t kMostNumpyHeader = 65536;

[[noreturn]] void bad_array(const std::string& name, const std::string& what) {
  throw data_error("'" + name + "': " + what);
}

/// Reads the header's dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void read(NumpyArray& array) {
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (!keys_.insert(key).second) fail();
      if (key == "descr") {
        read_type(array);
      } else if (key == "fortran_order") {
        array.fortran = boolean();
      } else if (key == "shape") {
        read_shape(array);
      } else {
        fail();
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size() || keys_.size() != 3) fail();
  }

 private:
  [[noreturn]] void fail() const {
    bad_array(name_, "its header is " + json_quoted(shortened(text_)) +
                         ", expected {'descr': ..., 'fortran_order': ..., 'shape': ...}");
  }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \n", at_), text_.size()); }
  bool take(char letter) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  void expect(char letter) {
    if (!take(letter)) fail();
  }
  std::string_view quoted() {
    expect('\'');
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail();
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end + 1;
    return word;
  }
  bool boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += std::strlen(word);
      return value;
    }
    fail();
  }
  void read_shape(NumpyArray& array) {
    expect('(');
    while (!take(')')) {
      skip_blanks();
      const std::size_t end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
      const auto extent = parse_integer(text_.substr(at_, end - at_));
      if (!extent || array.shape.size() == 8) fail();
      array.shape.push_back(*extent);
      at_ = end;
      if (!take(',')) {
        expect(')');
        break;
      }
    }
  }
  void read_type(NumpyArray& array) {
    skip_blanks();
    if (text_.substr(at_).starts_with('[')) {
      bad_array(name_, "is an array of records; save each field as an array of its own");
    }
    const std::string_view type = quoted();
    if (type.find('O') != std::string_view::npos) {
      bad_array(name_,
                "holds pickled Python objects, which run code when they are read, and are refused; "
                "save numbers instead: numpy.array(x, dtype=...) of sequences of one length");
    }
    const std::size_t marks = type.find_first_not_of("<>|=");
    array.big_endian = marks == 1 && type[0] == '>';
    set_kind(array, marks <= 1 ? type.substr(marks) : "", type);
  }
  void set_kind(NumpyArray& array, std::string_view kind, std::string_view written) const {
    constexpr std::array<std::pair<std::string_view, NumberKind>, 12> kKinds{
        {{"b1", NumberKind::boolean},
         {"i1", NumberKind::integer},
         {"i2", NumberKind::integer},
         {"i4", NumberKind::integer},
         {"i8", NumberKind::integer},
         {"u1", NumberKind::natural},
         {"u2", NumberKind::natural},
         {"u4", NumberKind::natural},
         {"u8", NumberKind::natural},
         {"f2", NumberKind::real},
         {"f4", NumberKind::real},
         {"f8", NumberKind::real}}};
    const auto found =
        std::ranges::find(kKinds, kind, &std::pair<std::string_view, NumberKind>::first);
    if (found == kKinds.end()) {
      bad_array(name_, "has elements of type '" + shortened(written) +
                           "', expected b1, i1 to i8, u1 to u8 or f2 to f8");
    }
    array.kind = found->second;
    array.element = static_cast<std::size_t>(kind[1] - '0');
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::set<std::string_view> keys_;
};

/// The bits of the stored element `i`, as a number of at most 64 bits.
std::uint64_t bits_of(const NumpyArray& array, std::int64_t i) {
  const std::byte* const at =
      array.file.data() + array.values + static_cast<std::size_t>(i) * array.element;
  std::uint64_t bits = 0;
  for (std::size_t byte = 0; byte < array.element; ++byte) {
    const std::size_t place = array.big_endian ? array.element - 1 - byte : byte;
    bits |= std::to_integer<std::uint64_t>(at[place]) << (8 * byte);
  }
  return bits;
}

std::int64_t signed_of(std::uint64_t bits, std::size_t bytes) {
  const auto unused = static_cast<int>(64 - 8 * bytes);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

double number_of(const NumpyArray& array, std::int64_t i) {
  const std::uint64_t bits = bits_of(array, i);
  if (array.kind == NumberKind::boolean) return bits != 0 ? 1 : 0;
  if (array.kind == NumberKind::natural) return static_cast<double>(bits);
  if (array.kind == NumberKind::integer) {
    return static_cast<double>(signed_of(bits, array.element));
  }
  if (array.element == 8) return std::bit_cast<double>(bits);
  if (array.element == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  Float16 half;
  half.bits = static_cast<std::uint16_t>(bits);
  return static_cast<float>(half);
}

/// Calls `each` with the place of every stored element, last index fastest.
template <class Each>
void each_place(const NumpyArray& array, const Each& each) {
  const std::int64_t count = array.elements();
  if (!array.fortran) {
    for (std::int64_t i = 0; i < count; ++i) each(i);
    return;
  }
  std::vector<std::int64_t> index(array.shape.size(), 0);
  for (std::int64_t done = 0; done < count; ++done) {
    std::int64_t place = 0;
    for (std::size_t axis = index.size(); axis-- > 0;)
      place = place * array.shape[axis] + index[axis];
    each(place);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < array.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

/// The header's size and where it begins.
std::pair<std::size_t, std::size_t> header_of(const std::vector<std::byte>& file,
                                              const std::string& name) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(file[i]); };
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (file.size() < 12 || !text.starts_with(kNumpyMagic)) {
    bad_array(name, "is no .npy file: it does not begin with \\x93NUMPY");
  }
  if (byte(6) < 1 || byte(6) > 3) {
    bad_array(name,
              "has version " + std::to_string(byte(6)) + " of the .npy format, expected 1 to 3");
  }
  const bool wide = byte(6) > 1;
  const std::size_t begin = wide ? 12 : 10;
  std::size_t size = byte(8) | byte(9) << 8;
  if (wide) size |= byte(10) << 16 | byte(11) << 24;
  if (size <= kMostNumpyHeader && size <= file.size() - begin) return {begin, size};
  bad_array(name, "its header of " + std::to_string(size) + " bytes is longer than the file, or " +
                      std::to_string(kMostNumpyHeader));
}

}  // namespace

std::int64_t NumpyArray::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count = size_product({count, extent});
  return count;
}

std::string NumpyArray::text() const {
  constexpr std::array kLetters{'b', 'i', 'u', 'f'};
  std::string text(1, kLetters[static_cast<std::size_t>(kind)]);
  text += std::to_string(element) + " [";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + "]";
}

NumpyArray numpy_header(const std::vector<std::byte>& start, std::size_t bytes,
                        const std::string& name) {
  const auto [begin, size] = header_of(start, name);
  NumpyArray array{.name = name};
  HeaderReader({reinterpret_cast<const char*>(start.data()) + begin, size}, name).read(array);
  array.values = begin + size;
  const auto values = static_cast<std::int64_t>(bytes - array.values);
  const std::int64_t wanted =
      size_product({array.elements(), static_cast<std::int64_t>(array.element)});
  if (wanted == values) return array;
  bad_array(name, "is " + array.text() + ", but has " + std::to_string(values) +
                      " bytes of values; is it cut?");
}

NumpyArray parse_numpy(std::vector<std::byte> file, const std::string& name) {
  NumpyArray array = numpy_header(file, file.size(), name);
  array.file = std::move(file);
  return array;
}

std::vector<float> floats_of(const NumpyArray& array) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(array.elements()));
  each_place(array, [&](std::int64_t place) {
    const auto value = static_cast<float>(number_of(array, place));
    if (!std::isfinite(value)) {
      bad_array(array.name, "element " + std::to_string(values.size()) +
                                " (from 0, last index fastest) is not finite in 32 bits");
    }
    values.push_back(value);
  });
  return values;
}

std::vector<std::int32_t> integers_of(const NumpyArray& array) {
  if (array.kind == NumberKind::real) {
    bad_array(array.name, "is " + array.text() + ", expected whole numbers");
  }
  constexpr double kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> values;
  values.reserve(static_cast<std::size_t>(array.elements()));
  each_place(array, [&](std::int64_t place) {
    const double value = number_of(array, place);
    if (value < kLeast || value > kMost) {
      bad_array(array.name, "element " + std::to_string(values.size()) +
                                " (from 0, last index fastest) does not fit 32 bits");
    }
    values.push_back(static_cast<std::int32_t>(value));
  });
  return values;
}

std::string numpy_file(std::span<const float> values, std::int64_t rows) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::size_t kAlignment = 64, kBeforeHeader = 10;
  const std::int64_t width = rows == 0 ? 0 : std::ssize(values) / rows;
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(rows) + ", " + std::to_string(width) + "), }";
  while ((kBeforeHeader + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  std::string file(kNumpyMagic);
  file += {'\x01', '\0', static_cast<char>(header.size() % 256),
           static_cast<char>(header.size() / 256)};
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return file;
}

}  // namespace trainyard
