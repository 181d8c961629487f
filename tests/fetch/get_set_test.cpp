#include "fetch/get_set.h"

#include <doctest/doctest.h>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "base/hash.h"
#include "file_server.h"
#include "tar_archive.h"

namespace trainyard {
namespace {

using namespace testing;

SetFile set_file(const std::string& name, const std::string& contents,
                 const std::string& unpacks = "") {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(contents)));
  return {.remote = {"http://127.0.0.1:1/published/" + name, contents.size(), hash.hex()},
          .unpacks = unpacks};
}

const std::string kArchive =
    testing::tar_archive({{"reviews/", "", '5'}, {"reviews/train/1.txt", "good\n"}});

/// A set of a file and an archive, and a server that has both.
struct SmallSet {
  KnownSet set{
      .name = "small",
      .folder = "small-set",
      .files = {set_file("index.json", "{}"), set_file("reviews.tar", kArchive, "reviews")}};
  FileServer server{{{"mirror/index.json", "{}"}, {"mirror/reviews.tar", kArchive}}};
  TemporaryFolder folder;
  std::vector<std::string> lines;

  std::filesystem::path get() {
    return get_set(set, {.to = folder / "data",
                         .from = server.url("mirror"),
                         .progress = nullptr,
                         .tell = [this](const std::string& line) { lines.push_back(line); }});
  }
};

TEST_CASE("a set is fetched from a mirror, checked and unpacked, and the archive is removed") {
  SmallSet small;
  const auto folder = small.get();
  CHECK(folder == small.folder / "data/small-set");
  CHECK(text_of(folder / "index.json") == "{}");
  CHECK(text_of(folder / "reviews/train/1.txt") == "good\n");
  CHECK_FALSE(std::filesystem::exists(folder / "reviews.tar"));
  CHECK_FALSE(std::filesystem::exists(folder / "reviews.part"));
  CHECK(small.lines ==
        std::vector<std::string>{
            (folder / "index.json").string() + ": 2 bytes, hash checked",
            (folder / "reviews").string() + ": 2,560 bytes, hash checked, unpacked"});
}

TEST_CASE("what is there is not fetched again") {
  SmallSet small;
  const auto folder = small.get();
  const std::size_t requests = small.server.requested().size();
  small.lines.clear();
  (void)small.get();
  CHECK(small.server.requested().size() == requests);
  CHECK(small.lines ==
        std::vector<std::string>{(folder / "index.json").string() + ": already there",
                                 (folder / "reviews").string() + ": already there"});
}

TEST_CASE("an unpacking that was ended begins again") {
  SmallSet small;
  small.folder.write("data/small-set/reviews.tar", kArchive);
  small.folder.write("data/small-set/reviews.part/reviews/train/half.txt", "go");
  const auto folder = small.get();
  CHECK(text_of(folder / "reviews/train/1.txt") == "good\n");
  CHECK_FALSE(std::filesystem::exists(folder / "reviews/train/half.txt"));
  CHECK(small.server.requested().size() == 1);  // the archive was there
}

TEST_CASE("an empty folder with the name of what is unpacked is not taken for it") {
  SmallSet small;
  std::filesystem::create_directories(small.folder / "data/small-set/reviews");
  const auto folder = small.get();
  CHECK(text_of(folder / "reviews/train/1.txt") == "good\n");
}

TEST_CASE("another file in the way is refused and stays") {
  SmallSet small;
  small.folder.write("data/small-set/index.json", "mine");
  const std::string message = error_of(ErrorKind::data, [&] { (void)small.get(); });
  CHECK(message == "'" + (small.folder / "data/small-set/index.json").string() +
                       "' is not the file that was published as index.json; move it away, or give "
                       "another folder with --to");
  CHECK(text_of(small.folder / "data/small-set/index.json") == "mine");
}

TEST_CASE("an unknown set is refused with the nearest name") {
  CHECK(error_of(ErrorKind::command_line, [] { (void)known_set("cifar-10"); }) ==
        "no data set 'cifar-10' is known; known are cifar10, mnist, fashion_mnist, imdb; did you "
        "mean 'cifar10'?");
  CHECK(known_set("imdb").files.size() == 2);
}

TEST_CASE("every published file has a size, an address and a hash of 64 digits") {
  for (const KnownSet& set : known_sets()) {
    for (const SetFile& file : set.files) {
      CHECK(file.remote.bytes > 0);
      CHECK(file.remote.url.starts_with("http"));
      CHECK(file.remote.sha256.size() == 64);
      CHECK(file.remote.sha256.find_first_not_of("0123456789abcdef") == std::string::npos);
    }
  }
}

}  // namespace
}  // namespace trainyard
