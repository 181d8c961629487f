#include "data/sets/zip_file.h"

#include <zlib.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {

namespace {

// Records, each with its signature, bytes without what varies, and where its fields are.
constexpr std::uint32_t kEndMark = 0x06054b50, kWideEndMark = 0x06064b50;
constexpr std::uint32_t kLocatorMark = 0x07064b50, kEntryMark = 0x02014b50;
constexpr std::uint32_t kLocalMark = 0x04034b50;
constexpr std::size_t kEndRecordBytes = 22, kLocatorBytes = 20, kWideEndBytes = 56;
constexpr std::size_t kEntryBytes = 46, kLocalBytes = 30;
constexpr std::uint32_t kInWideField = 0xffffffff;  // this size is in the extra field
constexpr std::uint16_t kWideField = 1;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint64_t kMostMembers = 65536;
constexpr std::uint64_t kLargestDeflateRatio = 1032;  // https://zlib.net/zlib_tech.html

/// A little-endian number of `count` bytes.
std::uint64_t little(const std::vector<std::byte>& bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
  }
  return value;
}

/// Takes the 64-bit numbers of an entry's extra field, in the order in which they are needed.
class WideNumbers {
 public:
  WideNumbers(const std::vector<std::byte>& list, std::size_t at, std::size_t bytes) : list_(list) {
    for (const std::size_t end = at + bytes; at + 4 <= end;) {
      const std::size_t size = little(list, at + 2, 2);
      if (at + 4 + size > end) return;
      if (little(list, at, 2) == kWideField) {
        at_ = at + 4;
        end_ = at_ + size;
        return;
      }
      at += 4 + size;
    }
  }
  /// False if the number should be here but is not.
  bool take(std::uint64_t& value) {
    if (value != kInWideField) return true;
    if (at_ + 8 > end_) return false;
    value = little(list_, at_, 8);
    at_ += 8;
    return true;
  }

 private:
  const std::vector<std::byte>& list_;
  std::size_t at_ = 0, end_ = 0;
};

}  // namespace

ZipFile::ZipFile(const fs::path& path) : name_(path.string()), file_(path, ErrorKind::data) {
  find_list();
  if (list_count_ > kMostMembers) {
    fail("has " + std::to_string(list_count_) + " members, expected at most " +
         std::to_string(kMostMembers));
  }
  read_list(bytes_at(list_at_, list_bytes_), list_count_);
}

void ZipFile::fail(const std::string& what) const { throw data_error("'" + name_ + "' " + what); }

std::vector<std::byte> ZipFile::bytes_at(std::uint64_t offset, std::uint64_t count) const {
  if (offset > file_.size() || count > file_.size() - offset) {
    fail("is a damaged ZIP archive: a part of it is past its end");
  }
  std::vector<std::byte> bytes(count);
  file_.read(offset, bytes);
  return bytes;
}

/// The end record is the last thing in the file but for a comment of at most 65,535 bytes.
void ZipFile::find_list() {
  constexpr std::uint64_t kMostComment = 65535;
  const std::uint64_t searched =
      std::min<std::uint64_t>(file_.size(), kEndRecordBytes + kMostComment);
  const std::uint64_t begin = file_.size() - searched;
  const std::vector<std::byte> tail = bytes_at(begin, searched);
  for (std::size_t at = tail.size() - std::min(tail.size(), kEndRecordBytes) + 1; at-- > 0;) {
    if (at + kEndRecordBytes > tail.size() || little(tail, at, 4) != kEndMark) continue;
    list_count_ = little(tail, at + 10, 2);
    list_bytes_ = little(tail, at + 12, 4);
    list_at_ = little(tail, at + 16, 4);
    return find_wide_list(begin + at);
  }
  fail("is no ZIP archive, which an .npz file is: it has no end record");
}

/// An archive with 64-bit sizes has a second end record, which a locator before the first one
/// finds.
void ZipFile::find_wide_list(std::uint64_t end) {
  if (end < kLocatorBytes) return;
  const std::vector<std::byte> locator = bytes_at(end - kLocatorBytes, kLocatorBytes);
  if (little(locator, 0, 4) != kLocatorMark) return;
  const std::vector<std::byte> record = bytes_at(little(locator, 8, 8), kWideEndBytes);
  if (little(record, 0, 4) != kWideEndMark) {
    fail("is a damaged ZIP archive: its second end record is not where it should be");
  }
  list_count_ = little(record, 32, 8);
  list_bytes_ = little(record, 40, 8);
  list_at_ = little(record, 48, 8);
}

void ZipFile::read_list(std::vector<std::byte> list, std::uint64_t count) {
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) at = read_entry(list, at);
}

/// Returns where the next entry begins.
std::size_t ZipFile::read_entry(const std::vector<std::byte>& list, std::size_t at) {
  constexpr const char* kDamaged = "is a damaged ZIP archive: its list of members is cut";
  if (at + kEntryBytes > list.size() || little(list, at, 4) != kEntryMark) fail(kDamaged);
  const std::size_t name = little(list, at + 28, 2), extra = little(list, at + 30, 2);
  const std::size_t end = at + kEntryBytes + name + extra + little(list, at + 32, 2);
  if (end > list.size()) fail(kDamaged);
  Member member{.name = {reinterpret_cast<const char*>(list.data()) + at + kEntryBytes, name},
                .method = static_cast<std::uint16_t>(little(list, at + 10, 2)),
                .crc = static_cast<std::uint32_t>(little(list, at + 16, 4)),
                .packed = little(list, at + 20, 4),
                .bytes = little(list, at + 24, 4),
                .header = little(list, at + 42, 4)};
  if ((little(list, at + 8, 2) & 1) != 0) {
    fail("has the encrypted member '" + shortened(member.name) + "'; store it without a password");
  }
  WideNumbers wide(list, at + kEntryBytes + name, extra);
  if (!wide.take(member.bytes) || !wide.take(member.packed) || !wide.take(member.header)) {
    fail(kDamaged);
  }
  members_.push_back(std::move(member));
  return end;
}

std::vector<std::string> ZipFile::names() const {
  std::vector<std::string> names;
  for (const Member& member : members_) names.push_back(member.name);
  return names;
}

/// Before any memory is taken for the contents.
void ZipFile::check_sizes(const Member& member) const {
  const std::string of = "has the member '" + shortened(member.name) + "' ";
  if (member.method != kStored && member.method != kDeflated) {
    fail(of + "in compression method " + std::to_string(member.method) +
         ", expected 0 (stored) or 8 (deflate); write it with numpy.savez or savez_compressed");
  }
  const bool deflated = member.method == kDeflated;
  const std::uint64_t most = deflated ? member.packed * kLargestDeflateRatio : member.packed;
  if (member.packed <= file_.size() && member.bytes <= most) return;
  fail(of + "of " + std::to_string(member.bytes) + " bytes in " + std::to_string(member.packed) +
       ", which cannot be; get the file again");
}

std::vector<std::byte> ZipFile::inflated(const Member& member, std::vector<std::byte> packed,
                                         std::uint64_t count) const {
  std::vector<std::byte> bytes(count);
  z_stream stream{};
  TY_CHECK(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib's start");
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  std::uint64_t in = packed.size(), out = bytes.size();
  constexpr std::uint64_t kMostACall = 1u << 30;
  int status = Z_OK;
  while (status == Z_OK && (out > 0 || count == member.bytes)) {
    stream.avail_in = static_cast<uInt>(std::min(in, kMostACall));
    stream.avail_out = static_cast<uInt>(std::min(out, kMostACall));
    const std::uint64_t given = stream.avail_in, room = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    in -= given - stream.avail_in;
    out -= room - stream.avail_out;
  }
  inflateEnd(&stream);
  const bool ended = status == Z_STREAM_END || count < member.bytes;
  if (ended && out == 0) return bytes;
  fail("has a damaged member '" + shortened(member.name) + "'; get the file again");
}

const ZipFile::Member& ZipFile::member(const std::string& name) const {
  const auto found = std::ranges::find(members_, name, &Member::name);
  if (found == members_.end()) {
    const std::vector<std::string> all = names();
    fail("has no member '" + shortened(name) + "'; it has " + shortened(joined(all)));
  }
  check_sizes(*found);
  return *found;
}

std::vector<std::byte> ZipFile::packed_bytes(const Member& member) const {
  const std::vector<std::byte> local = bytes_at(member.header, kLocalBytes);
  if (little(local, 0, 4) != kLocalMark) {
    fail("is a damaged ZIP archive: member '" + shortened(member.name) +
         "' is not where its list says");
  }
  const std::uint64_t begin =
      member.header + kLocalBytes + little(local, 26, 2) + little(local, 28, 2);
  std::vector<std::byte> bytes = bytes_at(begin, member.packed);
  if (member.method == kStored && bytes.size() != member.bytes) {
    fail("has the stored member '" + shortened(member.name) + "' with two sizes");
  }
  return bytes;
}

ZipFile::Start ZipFile::start(const std::string& name, std::uint64_t most) const {
  const Member& found = member(name);
  std::vector<std::byte> bytes = packed_bytes(found);
  const std::uint64_t count = std::min(most, found.bytes);
  if (found.method == kDeflated) {
    bytes = inflated(found, std::move(bytes), count);
  } else {
    bytes.resize(count);
  }
  return {std::move(bytes), found.bytes};
}

std::vector<std::byte> ZipFile::read(const std::string& name) const {
  const Member& found = member(name);
  std::vector<std::byte> bytes = packed_bytes(found);
  if (found.method == kDeflated) bytes = inflated(found, std::move(bytes), found.bytes);
  const std::uint32_t crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  if (crc == found.crc) return bytes;
  fail("has a damaged member '" + shortened(name) + "': its CRC-32 differs; get the file again");
}

}  // namespace trainyard
