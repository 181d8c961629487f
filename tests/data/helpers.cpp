#include "helpers.h"

#include <cctype>
#include <cstring>
#include <fstream>

#include "base/philox.h"
#include "base/text.h"
#include "config/load.h"

namespace trainyard::test {

namespace {

template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

std::vector<std::int32_t> labels_of(const Batch& batch) {
  return values_of<std::int32_t>(batch.fields[0]);
}
std::vector<float> numbers_of(const Batch& batch, std::size_t field) {
  return values_of<float>(batch.fields[field]);
}

std::vector<std::int32_t> field_of(const Dataset& set, std::size_t field, std::int64_t index) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(set.fields()[field].shape.elements()));
  set.read_field(field, index, reinterpret_cast<std::byte*>(values.data()));
  return values;
}

std::string message_of(ErrorKind kind, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string text = error.what();
    return error.kind() == kind ? text : "wrong kind: " + text;
  }
  return "no error";
}

std::vector<std::shared_ptr<const Augmentation>> documented_augmentations() {
  std::ifstream file(std::string(TY_SOURCE_DIR) + "/docs/language/data.md");
  std::string line, list;
  while (std::getline(file, line) && !line.starts_with("| augmentation |")) continue;
  while (std::getline(file, line) && line.starts_with("|")) {
    const std::vector<std::string> parts = split(line.substr(0, line.find(" | ")), '`');
    for (std::size_t i = 1; i < parts.size(); i += 2) {
      const bool named = std::isalpha(static_cast<unsigned char>(parts[i][0])) != 0;
      if (named) list += "- " + parts[i] + "\n";
    }
  }
  const config::Node entries = config::parse_yaml("augment:\n" + list, "data.md");
  config::Diagnostics diagnostics;
  config::Fields fields(entries, nullptr, "", config::Profile::keras2, diagnostics);
  std::vector<std::shared_ptr<const Augmentation>> augmentations;
  fields.list_of("augment", augmentations, "examples", augmentation_kinds());
  diagnostics.raise();
  return augmentations;
}

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string big_endian(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

namespace {

std::string little_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

/// CRC-32 of RFC 1952, section 8.
std::uint32_t crc32_of(const std::string& contents) {
  std::uint32_t crc = 0xffffffffu;
  for (const char letter : contents) {
    crc ^= static_cast<std::uint8_t>(letter);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

/// Deflate blocks that store the contents uncompressed (RFC 1951, 3.2.4).
std::string stored_blocks(const std::string& contents) {
  constexpr std::size_t kMost = 65535;
  std::string blocks;
  for (std::size_t first = 0; first == 0 || first < contents.size(); first += kMost) {
    const std::string part = contents.substr(first, kMost);
    const auto length = static_cast<std::uint32_t>(part.size());
    blocks += first + kMost >= contents.size() ? '\1' : '\0';
    blocks += little_endian(length, 2) + little_endian(~length, 2) + part;
  }
  return blocks;
}

std::string png_chunk(const std::string& type, const std::string& contents) {
  return big_endian(static_cast<std::uint32_t>(contents.size())) + type + contents +
         big_endian(crc32_of(type + contents));
}

/// Bits in the order in which deflate packs them: from the lowest of each byte.
class BitWriter {
 public:
  void add(unsigned value, int count) {
    for (int i = 0; i < count; ++i) {
      if (used_ == 0) bytes_ += '\0';
      if (((value >> i) & 1) != 0) bytes_.back() = static_cast<char>(bytes_.back() | (1 << used_));
      used_ = (used_ + 1) % 8;
    }
  }
  /// A Huffman code, its highest bit first.
  void add_code(unsigned code, int count) {
    for (int i = count; i > 0; --i) add(code >> (i - 1), 1);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  int used_ = 0;  // bits of the last byte
};

}  // namespace

std::string gzip_of(const std::string& contents) {
  const std::string header("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  return header + stored_blocks(contents) + little_endian(crc32_of(contents), 4) +
         little_endian(static_cast<std::uint32_t>(contents.size()), 4);
}

std::string png_of(const PngForm& form, const std::string& pixels) {
  std::string rows;
  for (std::uint32_t y = 0; y < form.h; ++y) {
    const std::size_t row = std::size_t{form.w} * form.channels;
    rows += '\0';  // no filter
    rows += pixels.substr(y * row, row);
  }
  std::string header = big_endian(form.claimed_w != 0 ? form.claimed_w : form.w) +
                       big_endian(form.claimed_h != 0 ? form.claimed_h : form.h);
  header += '\10';  // bits per channel
  header += form.channels == 3 ? '\2' : '\0';
  header += std::string(3, '\0');
  // The Adler-32 that ends a zlib stream is not read by stb_image.
  const std::string data = "\x78\x01" + stored_blocks(rows) + std::string(4, '\0');
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", data) +
         png_chunk("IEND", "");
}

std::string png_of_zeros(std::size_t bytes) {
  BitWriter bits;
  bits.add(1, 1);          // the last block
  bits.add(1, 2);          // fixed Huffman codes (RFC 1951, 3.2.6), stored from the highest bit
  bits.add_code(0x30, 8);  // a zero
  for (std::size_t done = 0; done < bytes; done += 258) {
    bits.add_code(0xc5, 8);  // 258 bytes
    bits.add_code(0, 5);     // from one byte back
  }
  bits.add_code(0, 7);  // the end
  const std::string header = big_endian(1) + big_endian(1) + std::string("\10\2\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) +
         png_chunk("IDAT", "\x78\x01" + bits.bytes() + std::string(8, '\0')) +
         png_chunk("IEND", "");
}

std::string with_checksums(std::string png) {
  for (std::size_t at = 8; at + 12 <= png.size();) {
    std::uint32_t length = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      length = (length << 8) | static_cast<std::uint8_t>(png[i]);
    }
    if (length > png.size() - at - 12) break;
    png.replace(at + 8 + length, 4, big_endian(crc32_of(png.substr(at + 4, 4 + length))));
    at += 12 + length;
  }
  return png;
}

std::string bmp_of(std::uint32_t w, std::uint32_t h, const std::string& pixels) {
  const std::uint32_t row = (3 * w + 3) / 4 * 4;
  std::string rows;
  for (std::uint32_t y = h; y > 0; --y) {
    std::string line;
    for (std::uint32_t x = 0; x < w; ++x) {
      const std::size_t at = (std::size_t{y - 1} * w + x) * 3;
      line += {pixels[at + 2], pixels[at + 1], pixels[at]};
    }
    line.resize(row);
    rows += line;
  }
  const std::string info = little_endian(40, 4) + little_endian(w, 4) + little_endian(h, 4) +
                           little_endian(1, 2) + little_endian(24, 2) + std::string(24, '\0');
  return "BM" + little_endian(54 + row * h, 4) + std::string(4, '\0') + little_endian(54, 4) +
         info + rows;
}

std::string cifar_record(int label, int value) {
  return std::string(1, static_cast<char>(label)) + std::string(3072, static_cast<char>(value));
}

std::unique_ptr<MemoryDataset> random_bytes_set(std::int64_t count, Shape image,
                                                std::uint64_t seed) {
  MemorySamples samples;
  samples.image = image;
  samples.classes = 10;
  for (std::int64_t i = 0; i < count * image.elements(); ++i) {
    const Random4 random =
        random4(seed, RandomStream::synthetic, 0, 9, static_cast<std::uint64_t>(i));
    samples.bytes.push_back(static_cast<std::uint8_t>(random.word[0]));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    samples.labels.push_back(static_cast<std::int32_t>(i % 10));
  }
  samples.fingerprint = "test";
  return std::make_unique<MemoryDataset>(std::move(samples));
}

std::int64_t resident_kilobytes(const std::filesystem::path& file) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  std::int64_t total = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" kB") == std::string::npos) inside = line.ends_with(file.string());
    if (inside && line.starts_with("Rss:")) total += std::stoll(line.substr(4));
  }
  return total;
}

}  // namespace trainyard::test
