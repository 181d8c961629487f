#include "fetch/tar.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "data/sets/gzip.h"

namespace trainyard {
namespace {

constexpr std::size_t kBlock = 512;
using Block = std::array<std::byte, kBlock>;

[[noreturn]] void fail_to_unpack(const fs::path& archive, const std::string& problem) {
  throw data_error(archive.string() + ": " + problem + "; remove it and fetch it again");
}

/// A field of a header: text that ends at its first zero byte.
std::string field(const Block& header, std::size_t offset, std::size_t size) {
  const char* begin = reinterpret_cast<const char*>(header.data()) + offset;
  return {begin, std::find(begin, begin + size, '\0')};
}

/// An octal number; empty if it is none.
std::optional<std::uint64_t> octal(const Block& header, std::size_t offset, std::size_t size) {
  const std::string text(trimmed(field(header, offset, size)));
  std::uint64_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '7') return std::nullopt;
    number = number * 8 + static_cast<std::uint64_t>(digit - '0');
  }
  return text.empty() ? std::nullopt : std::optional(number);
}

/// The sum of a header's bytes, with its own field as blanks.
std::uint64_t checksum_of(const Block& header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    sum += i >= 148 && i < 156 ? ' ' : std::to_integer<std::uint64_t>(header[i]);
  }
  return sum;
}

struct Member {
  std::string name;
  std::uint64_t bytes = 0;
  char type = '0';

  [[nodiscard]] bool is_file() const { return type == '0' || type == '\0'; }
  [[nodiscard]] bool is_folder() const { return type == '5'; }
};

class TarReader {
 public:
  explicit TarReader(const fs::path& path) : path_(path), reader_(path) {}

  /// The next member; empty at the end.
  std::optional<Member> next() {
    Block header;
    if (!read_block(header)) return std::nullopt;
    if (std::ranges::all_of(header, [](std::byte b) { return b == std::byte{0}; })) {
      return std::nullopt;
    }
    const auto size = octal(header, 124, 12);
    const auto sum = octal(header, 148, 8);
    if (!size || !sum || *sum != checksum_of(header)) {
      fail_to_unpack(path_, "a member's header is damaged");
    }
    const std::string prefix = field(header, 257, 5) == "ustar" ? field(header, 345, 155) : "";
    return Member{.name = (prefix.empty() ? "" : prefix + "/") + field(header, 0, 100),
                  .bytes = *size,
                  .type = std::to_integer<char>(header[156])};
  }

  /// Passes the contents of `member` to `take`, piece by piece.
  template <class Take>
  void contents(const Member& member, const Take& take) {
    Block block;
    for (std::uint64_t left = member.bytes; left > 0;) {
      if (!read_block(block)) fail_to_unpack(path_, "'" + member.name + "' is cut off");
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, kBlock));
      take(std::span(block).first(count));
      left -= count;
    }
  }

 private:
  /// False at the end.
  bool read_block(Block& block) {
    const std::size_t got = reader_.read(block);
    if (got != 0 && got != kBlock) fail_to_unpack(path_, "it ends within a block");
    return got == kBlock;
  }

  fs::path path_;
  InflatingReader reader_;
};

void require_inside(const fs::path& archive, const Member& member, const std::string& top) {
  const std::vector<std::string> parts = split(member.name, '/');
  const bool climbs = std::ranges::find(parts, "..") != parts.end();
  if (parts.front() == top && !climbs) return;
  fail_to_unpack(archive, "the member '" + member.name + "' is outside of '" + top + "'");
}

void write_member(TarReader& reader, const Member& member, const fs::path& path) {
  std::ofstream file(path, std::ios::binary);
  reader.contents(member, [&](std::span<const std::byte> bytes) {
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  });
  file.close();
  if (file) return;
  throw disk_error("cannot write '" + path.string() +
                   "': " + std::generic_category().message(errno));
}

bool begins_with_one_of(const std::string& name, const std::vector<std::string>& beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](const std::string& start) { return name.starts_with(start); });
}

}  // namespace

void unpack_tar(const fs::path& archive, const fs::path& folder, const UnpackOptions& options) {
  TarReader reader(archive);
  while (const auto member = reader.next()) {
    const bool wanted = (member->is_file() || member->is_folder()) &&
                        !begins_with_one_of(member->name, options.left_out);
    if (!wanted) {
      reader.contents(*member, [](auto) {});
      continue;
    }
    require_inside(archive, *member, options.top);
    const fs::path path = folder / member->name;
    fs::create_directories(member->is_folder() ? path : path.parent_path());
    if (member->is_file()) write_member(reader, *member, path);
  }
}

}  // namespace trainyard
