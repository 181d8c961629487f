// Members of a ZIP archive (PKWARE APPNOTE 6.3.9), stored or deflated, with 64-bit sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "base/read_file.h"

namespace trainyard {

/// An archive open for reading. Nothing is allocated for a size that the file cannot hold.
class ZipFile {
 public:
  /// Reads the list of members. Throws Error{data}: no archive, a damaged list, more than 65,536
  /// members, encrypted members.
  explicit ZipFile(const fs::path& path);

  /// In the order of the list.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The contents of a member. Throws Error{data}: no such member, a compression other than
  /// deflate, damage, a wrong CRC-32.
  [[nodiscard]] std::vector<std::byte> read(const std::string& name) const;
  /// The first bytes of a member, at most `most`, and its size; without its CRC-32. Throws as
  /// read().
  struct Start {
    std::vector<std::byte> bytes;
    std::uint64_t size = 0;
  };
  [[nodiscard]] Start start(const std::string& name, std::uint64_t most) const;

 private:
  struct Member {
    std::string name;
    std::uint16_t method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, bytes = 0;  // sizes in the file and of the contents
    std::uint64_t header = 0;             // offset of its local header
  };
  [[noreturn]] void fail(const std::string& what) const;
  [[nodiscard]] std::vector<std::byte> bytes_at(std::uint64_t offset, std::uint64_t count) const;
  void find_list();
  void find_wide_list(std::uint64_t end);
  void read_list(std::vector<std::byte> list, std::uint64_t count);
  [[nodiscard]] std::size_t read_entry(const std::vector<std::byte>& list, std::size_t at);
  void check_sizes(const Member& member) const;
  [[nodiscard]] const Member& member(const std::string& name) const;
  [[nodiscard]] std::vector<std::byte> packed_bytes(const Member& member) const;
  /// The first `count` bytes of the contents; all of them end the stream.
  [[nodiscard]] std::vector<std::byte> inflated(const Member& member, std::vector<std::byte> packed,
                                                std::uint64_t count) const;

  std::string name_;
  InputFile file_;
  std::vector<Member> members_;
  std::uint64_t list_at_ = 0, list_bytes_ = 0, list_count_ = 0;
};

}  // namespace trainyard
