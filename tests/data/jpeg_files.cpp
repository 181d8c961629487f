#include "jpeg_files.h"

#include "../base/temporary_folder.h"

namespace trainyard::test {

namespace {

std::string two_bytes(std::uint32_t value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value)};
}

/// A segment: its marker, its length with the two bytes of the length, its contents.
std::string segment(char marker, const std::string& contents) {
  return std::string("\xff") + marker + two_bytes(static_cast<std::uint32_t>(contents.size()) + 2) +
         contents;
}

/// A Huffman table with a single code of one bit, 0, for the symbol 0.
std::string table_of_one_code(char number) {
  return std::string(1, number) + '\1' + std::string(15, '\0') + '\0';
}

std::string number_of(std::uint32_t value, int bytes, bool big) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * (big ? bytes - 1 - i : i)));
  return text;
}

}  // namespace

std::string image_file(std::string_view name) {
  return testing::text_of(std::string(TY_SOURCE_DIR "/tests/data/images/") + std::string(name));
}

std::string grey_jpeg(const GreyJpeg& form) {
  std::string frame(1, static_cast<char>(form.bits));
  frame += two_bytes(form.h) + two_bytes(form.w) + '\3';
  for (char component = 1; component <= 3; ++component) {
    frame += std::string(1, component) + '\x11' + '\0';
  }
  std::string file = "\xff\xd8" + segment('\xdb', '\0' + std::string(64, '\1')) +
                     segment('\xc0', frame) + segment('\xc4', table_of_one_code('\0')) +
                     segment('\xc4', table_of_one_code('\x10'));
  // Two bits per block, then ones up to a whole byte.
  const std::uint32_t bits = 2 * ((form.w + 7) / 8) * ((form.h + 7) / 8);
  std::string data(bits / 8, '\0');
  if (bits % 8 != 0) data += static_cast<char>(0xff >> (bits % 8));
  for (int scan = 0; scan < form.scans_a_component; ++scan) {
    for (char component = 1; component <= 3; ++component) {
      file += segment('\xda', std::string("\1") + component + std::string("\0\0\x3f\0", 4)) + data;
    }
  }
  return file + "\xff\xd9";
}

std::string with_orientation(const std::string& jpeg, int orientation, bool big) {
  std::string exif("Exif\0\0", 6);
  exif += big ? "MM" : "II";
  exif += number_of(42, 2, big) + number_of(8, 4, big) + number_of(1, 2, big);
  exif += number_of(0x0112, 2, big) + number_of(3, 2, big) + number_of(1, 4, big) +
          number_of(static_cast<std::uint32_t>(orientation), 2, big) + number_of(0, 2, big) +
          number_of(0, 4, big);
  return jpeg.substr(0, 2) + segment('\xe1', exif) + jpeg.substr(2);
}

}  // namespace trainyard::test
