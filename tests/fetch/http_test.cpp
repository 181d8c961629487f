#include "fetch/http.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <map>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "base/hash.h"
#include "file_server.h"

namespace trainyard {
namespace {

using namespace testing;

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

const FetchLimits kImpatient{.pause = std::chrono::milliseconds(0)};

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
  fetch_file(remote(server), folder / "a.bin", nullptr, kImpatient);
  CHECK(text_of(folder / "a.bin") == kContents);
  CHECK(server.requested() == std::vector<std::size_t>{0, 30'000, 60'000, 90'000});
}

TEST_CASE("connections that bring little are tried five times, with growing pauses") {
  const FileServer server({{"a.bin", kContents}}, {.cut_after = 1});
  const TemporaryFolder folder;
  FetchLimits limits = kImpatient;
  limits.pause = std::chrono::milliseconds(20);
  const auto began = std::chrono::steady_clock::now();
  const std::string message = error_of(
      ErrorKind::device, [&] { fetch_file(remote(server), folder / "a.bin", nullptr, limits); });
  const auto spent = std::chrono::steady_clock::now() - began;
  CHECK(server.requested() == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(spent >= std::chrono::milliseconds(20 + 40 + 80 + 160));
  CHECK(message.find("5 of 108890 bytes are here, the same command continues") !=
        std::string::npos);
  CHECK(text_of(folder / "a.bin.part") == kContents.substr(0, 5));
}

TEST_CASE("a server that sends too little in a time counts as lost") {
  const FileServer server({{"a.bin", kContents}}, {.stalls = true});
  const TemporaryFolder folder;
  const FetchLimits limits{.slow_seconds = 1, .attempts = 1, .pause = std::chrono::milliseconds(0)};
  const std::string message = error_of(
      ErrorKind::device, [&] { fetch_file(remote(server), folder / "a.bin", nullptr, limits); });
  CHECK(message.find("the same command continues") != std::string::npos);
}

TEST_CASE("a server that redirects to itself is given up") {
  const FileServer server({{"a.bin", kContents}}, {.redirects = true});
  const TemporaryFolder folder;
  const std::string message =
      error_of(ErrorKind::device, [&] { fetch_file(remote(server), folder / "a.bin", nullptr); });
  CHECK(message.starts_with("cannot fetch " + server.url("a.bin") + ": "));
  CHECK(server.requested().size() == 11);
  CHECK_FALSE(std::filesystem::exists(folder / "a.bin.part"));  // a file of 0 bytes
}

TEST_CASE("a part that is a link or a pipe is neither followed nor waited for") {
  const FileServer server({{"a.bin", kContents}});
  const TemporaryFolder folder;
  folder.write("victim", "precious");
  const std::string message = "cannot write '" + (folder / "a.bin.part").string() +
                              "': it is not an ordinary file; remove it, then try again";
  const auto refusal = [&] {
    return error_of(ErrorKind::disk,
                    [&] { fetch_file(remote(server), folder / "a.bin", nullptr); });
  };
  std::filesystem::create_symlink(folder / "victim", folder / "a.bin.part");
  CHECK(refusal() == message);
  CHECK(text_of(folder / "victim") == "precious");
  std::filesystem::remove(folder / "a.bin.part");
  REQUIRE(::mkfifo((folder / "a.bin.part").c_str(), 0600) == 0);
  CHECK(refusal() == message);
  CHECK(server.requested().empty());
}

TEST_CASE("a pipe at a local address is refused without waiting for its writer") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "a").c_str(), 0600) == 0);
  const std::string url = "file://" + (folder / "a").string();
  CHECK(error_of(ErrorKind::data, [&] {
          fetch_file({.url = url, .bytes = 10, .sha256 = ""}, folder / "b", nullptr);
        }) == "cannot fetch " + url + ": it is not an ordinary file");
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
