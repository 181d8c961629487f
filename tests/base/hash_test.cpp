#include "base/hash.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "base/read_file.h"
#include "temporary_folder.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

std::string pattern(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

}  // namespace

TEST_CASE("the hash of known text is the one printed by xxhsum -H2") {
  CHECK(hash128_hex(std::string_view("")) == "99aa06d3014798d86001c324468d497f");
  CHECK(hash128_hex(std::string_view("trainyard\n")) == "720ce5317f2ff2ab145ef28bd71053b6");
}

TEST_CASE("how bytes are split does not change the hash") {
  const std::string text = pattern(5000);
  for (const std::size_t cut : {std::size_t{1}, std::size_t{240}, std::size_t{1023}}) {
    Hash128 hash;
    for (std::size_t at = 0; at < text.size(); at += cut) {
      hash.update(std::string_view(text).substr(at, cut));
    }
    CHECK(hash.hex() == hash128_hex(std::string_view(text)));
  }
}

TEST_CASE("a file longer than one piece has the hash of its bytes") {
  const std::string text = pattern((1u << 20) * 2 + 17);
  const TemporaryFolder folder;
  put_text(folder / "file", text);
  CHECK(hash128_file_hex(folder / "file", ErrorKind::checkpoint) ==
        hash128_hex(std::string_view(text)));
}

TEST_CASE("one flipped bit changes the hash") {
  std::string text = pattern(300);
  const std::string before = hash128_hex(std::string_view(text));
  text[150] = static_cast<char>(text[150] ^ 1);
  CHECK(hash128_hex(std::string_view(text)) != before);
}

TEST_CASE("a missing file, a folder and a file over the limit are errors that name the path") {
  const auto message = [](const std::filesystem::path& path, std::uint64_t limit) -> std::string {
    try {
      (void)read_text(path, ErrorKind::data, limit);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::data);
      return error.what();
    }
    return "";
  };
  CHECK(message("/nowhere/file", 10) == "cannot read '/nowhere/file': No such file or directory");
  CHECK(message("/tmp", 10) == "cannot read '/tmp': it is not a regular file");
  const TemporaryFolder folder;
  put_text(folder / "file", "twelve bytes");
  CHECK(message(folder / "file", 11) == "cannot read '" + (folder / "file").string() +
                                            "': it holds 12 bytes, at most 11 are expected");
  CHECK(read_text(folder / "file", ErrorKind::data, 12) == "twelve bytes");
}
