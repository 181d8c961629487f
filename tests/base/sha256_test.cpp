#include <doctest/doctest.h>

#include <string>

#include "base/hash.h"
#include "error_of.h"
#include "temporary_folder.h"

namespace trainyard {
namespace {

std::string hash_of(const std::string& text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return hash.hex();
}

// NIST's examples of FIPS 180-4, and lengths around the block, from sha256sum.
TEST_CASE("SHA-256 of published examples and of lengths around a block") {
  CHECK(hash_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash_of(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(hash_of(std::string(55, 'a')) ==
        "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  CHECK(hash_of(std::string(56, 'a')) ==
        "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  CHECK(hash_of(std::string(64, 'a')) ==
        "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST_CASE("the pieces in which bytes arrive do not change the hash") {
  const std::string text(200, 'x');
  Sha256 hash;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t count = std::min<std::size_t>(at % 7 + 1, text.size() - at);
    hash.update(std::as_bytes(std::span(text)).subspan(at, count));
    at += count;
  }
  CHECK(hash.hex() == hash_of(text));
}

TEST_CASE("a file that cannot be read is named") {
  const testing::TemporaryFolder folder;
  CHECK(sha256_file_hex(folder.write("a", "abc"), ErrorKind::data) == hash_of("abc"));
  const std::string message = testing::error_of(
      ErrorKind::data, [&] { (void)sha256_file_hex(folder / "missing", ErrorKind::data); });
  CHECK(message.find("missing") != std::string::npos);
}

}  // namespace
}  // namespace trainyard
