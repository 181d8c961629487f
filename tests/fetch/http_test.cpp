#include "fetch/http.h"

#include <doctest/doctest.h>

#include <map>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "base/sha256.h"
#include "file_server.h"

namespace trainyard {
namespace {

using testing::error_of;
using testing::FileServer;
using testing::TemporaryFolder;
using testing::text_of;

std::string sha256_of(const std::string& text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return hash.hex();
}

/// A text whose parts differ.
std::string numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + "\n";
  return text;
}

const std::string kContents = numbers(20'000);

RemoteFile remote(const FileServer& server) {
  return {.url = server.url("a.bin"), .bytes = kContents.size(), .sha256 = sha256_of(kContents)};
}

TEST_CASE("a file arrives under its name, with its progress told") {
  const FileServer server({{"a.bin", kContents}});
  const TemporaryFolder folder;
  std::uint64_t told = 0;
  fetch_file(remote(server), folder / "a.bin",
             [&](const RemoteFile&, std::uint64_t bytes) { told = bytes; });
  CHECK(text_of(folder / "a.bin") == kContents);
  CHECK(told == kContents.size());
  CHECK_FALSE(std::filesystem::exists(folder / "a.bin.part"));
}

TEST_CASE("a part that is there is continued, and only the rest is fetched") {
  const FileServer server({{"a.bin", kContents}});
  const TemporaryFolder folder;
  folder.write("a.bin.part", kContents.substr(0, 50'000));
  fetch_file(remote(server), folder / "a.bin", nullptr);
  CHECK(text_of(folder / "a.bin") == kContents);
  CHECK(server.requested() == std::vector<std::size_t>{50'000});
}

TEST_CASE("a server that cannot continue sends all of it again") {
  const FileServer server({{"a.bin", kContents}}, {.no_ranges = true});
  const TemporaryFolder folder;
  folder.write("a.bin.part", kContents.substr(0, 50'000));
  fetch_file(remote(server), folder / "a.bin", nullptr);
  CHECK(text_of(folder / "a.bin") == kContents);
  CHECK(server.requested() == std::vector<std::size_t>{50'000, 0});
}

TEST_CASE("a connection that is lost again and again brings the whole file") {
  const FileServer server({{"a.bin", kContents}}, {.cut_after = 30'000});
  const TemporaryFolder folder;
  fetch_file(remote(server), folder / "a.bin", nullptr);
  CHECK(text_of(folder / "a.bin") == kContents);
  CHECK(server.requested() == std::vector<std::size_t>{0, 30'000, 60'000, 90'000});
}

TEST_CASE("a whole part needs no connection") {
  const TemporaryFolder folder;
  folder.write("a.bin.part", kContents);
  fetch_file({.url = "http://127.0.0.1:1/a.bin",
              .bytes = kContents.size(),
              .sha256 = sha256_of(kContents)},
             folder / "a.bin", nullptr);
  CHECK(text_of(folder / "a.bin") == kContents);
}

TEST_CASE("another file than the published one is removed and named with what is wrong") {
  std::string damaged = kContents;
  damaged[70'000] ^= 1;
  for (const auto& [contents, problem] :
       std::map<std::string, std::string>{{damaged, "has the SHA-256 " + sha256_of(damaged) +
                                                        " instead of " + sha256_of(kContents)},
                                          {kContents + "more", "has more than 108890 bytes"},
                                          {"short", "has 5 bytes instead of 108890"}}) {
    const FileServer server({{"a.bin", contents}});
    const TemporaryFolder folder;
    const std::string message =
        error_of(ErrorKind::data, [&] { fetch_file(remote(server), folder / "a.bin", nullptr); });
    CHECK(message.starts_with(server.url("a.bin") + " is not the file that was published: it " +
                              problem));
    CHECK_FALSE(std::filesystem::exists(folder / "a.bin"));
    CHECK_FALSE(std::filesystem::exists(folder / "a.bin.part"));
  }
}

TEST_CASE("a missing file and a server that is not there are told apart") {
  const TemporaryFolder folder;
  const FileServer server({});
  CHECK(error_of(ErrorKind::data, [&] { fetch_file(remote(server), folder / "a.bin", nullptr); }) ==
        "cannot fetch " + server.url("a.bin") +
            ": the server answers 404; try later, or give another address with --from URL");
  folder.write("b.part", "12345");
  const std::string message = error_of(ErrorKind::device, [&] {
    fetch_file({.url = "http://127.0.0.1:1/b", .bytes = 10, .sha256 = ""}, folder / "b", nullptr);
  });
  CHECK(message.starts_with("cannot fetch http://127.0.0.1:1/b: "));
  CHECK(message.find("5 of 10 bytes are here, the same command continues") != std::string::npos);
  CHECK(text_of(folder / "b.part") == "12345");
}

}  // namespace
}  // namespace trainyard
