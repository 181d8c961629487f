// Images that cannot be read: all are told, or left out.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "base/faults.h"
#include "data/augment/statistics.h"
#include "data/sets/image_index.h"
#include "data/sets/image_list.h"
#include "data/sets/subset.h"
#include "helpers.h"

namespace trainyard::bad_images_test {

using namespace test;

namespace {

namespace fs = std::filesystem;

std::string small_png(char value) { return test::png_of({.w = 2, .h = 1}, std::string(6, value)); }
std::string cut_png() { return small_png(9).substr(0, 50); }

/// Classes cat and dog of three images each, and of bad files: one that is empty, one whose
/// pixels are cut off, one of another format, a link to nothing.
struct BadImages {
  test::TemporaryFolder folder;
  BadImages() {
    for (const char* name : {"cat/1", "cat/4", "cat/5", "dog/1", "dog/2", "dog/3"}) {
      folder.write(name + std::string(".png"), small_png(static_cast<char>(name[4] - '0')));
    }
    folder.write("cat/2.png", "");
    folder.write("cat/3.png", cut_png());
    folder.write("dog/4.tif", "x");
    fs::create_symlink("/nowhere", folder / "dog/5.png");
  }
  [[nodiscard]] ImageFolderOptions options(OnError on_error, std::int64_t memory = 0) const {
    ImageFolderOptions options;
    options.root = folder.text();
    options.on_error = on_error;
    options.memory_mib = memory;
    return options;
  }
};

std::string data_message(const ImageFolderOptions& options, const Opening& opening = {}) {
  return message_of(ErrorKind::data, [&] { (void)open_image_folder(options, opening); });
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

TEST_CASE("at most 20 faults are listed, and a single one stands for itself") {
  std::vector<std::string> faults{"'a' is empty"};
  CHECK(fault_list(faults) == "'a' is empty");
  faults.emplace_back("'b' is cut");
  CHECK(fault_list(faults) == "2 files cannot be used:\n  'a' is empty\n  'b' is cut");
  for (int i = 0; i < 20; ++i) faults.emplace_back("'c'");
  CHECK(lines_in(fault_list(faults)) == 21);
  CHECK(fault_list(faults).ends_with("\n  'c'\n  and 2 more"));
}

TEST_CASE("every bad file is told at once: by headers, or if images are decoded, by pixels") {
  const BadImages bad;
  const std::string headers = data_message(bad.options(OnError::error));
  CHECK(holds(headers, "3 files cannot be used:\n"));
  for (const char* part : {"dog/4.tif' is an image of another format", "cat/2.png' is empty",
                           "dog/5.png' is a symbolic link to '/nowhere'",
                           "\nmend or remove them, or leave them out with 'on_error: skip'"}) {
    CHECK(holds(headers, part));
  }
  const std::string pixels = data_message(bad.options(OnError::error), {.check_all = true});
  CHECK(holds(pixels, "4 files cannot be used:\n"));
  CHECK(holds(pixels, "cat/3.png' is truncated"));
}

TEST_CASE("images that memory holds are all decoded, and all that fail are told") {
  const test::TemporaryFolder folder;
  for (int i = 0; i < 6; ++i) {
    folder.write("cat/" + std::to_string(i) + ".png", i % 2 == 0 ? cut_png() : small_png(1));
  }
  ImageFolderOptions options;
  options.root = folder.text();
  CHECK(holds(data_message(options), "3 files cannot be used:\n"));
  options.memory_mib = 0;
  const auto set = open_image_folder(options);
  CHECK(holds(message_of(ErrorKind::data, [&] { (void)compute_statistics(*set, 2); }),
              "3 files cannot be used:\n"));
}

TEST_CASE("bad files are left out with a warning of their number and names") {
  const BadImages bad;
  const auto clean = [] {
    const BadImages same;
    for (const char* name : {"cat/2.png", "cat/3.png", "dog/4.tif", "dog/5.png"}) {
      fs::remove(same.folder / name);
    }
    return open_image_folder(same.options(OnError::error));
  }();
  for (const std::int64_t memory : {0, 64}) {
    std::vector<std::string> warnings;
    const auto set =
        open_image_folder(bad.options(OnError::skip, memory),
                          {.warn = [&](const std::string& text) { warnings.push_back(text); }});
    CHECK(set->size() == 6);
    CHECK(set->label(3) == 1);
    CHECK(set->fingerprint() == clean->fingerprint());
    CHECK(set->files().left_out ==
          std::vector<std::string>{"dog/4.tif", "dog/5.png", "cat/2.png", "cat/3.png"});
    REQUIRE(warnings.size() == 1);
    CHECK(holds(warnings[0], "4 of 10 files of '" + bad.folder.text() +
                                 "' are left out ('on_error: skip'):\n  '"));
    CHECK(lines_in(warnings[0]) == 4);
  }
}

TEST_CASE("the same files are left out with and without an index, and by parts of a set") {
  const BadImages bad;
  const test::TemporaryFolder cache;
  const Opening opening{.seed = 3, .cache_folder = cache.path()};
  // Headers alone are known first, then pixels, then both come from the index.
  CHECK(holds(data_message(bad.options(OnError::error), opening), "3 files cannot be used"));
  const std::string first = open_image_folder(bad.options(OnError::skip), opening)->fingerprint();
  CHECK(open_image_folder(bad.options(OnError::skip), opening)->fingerprint() == first);
  CHECK(open_image_folder(bad.options(OnError::skip))->fingerprint() == first);
  const auto val = subset(open_image_folder(bad.options(OnError::skip)), {0, 4});
  CHECK(val->files().left_out.size() == 4);
  CHECK(val->files().files.size() == 2);
}

TEST_CASE("an image that the index knows to be whole is not decoded again") {
  const BadImages bad;
  const test::TemporaryFolder cache;
  const Opening opening{.cache_folder = cache.path()};
  const std::vector<std::string> names{"cat/3.png"};
  const auto look = [&](bool decode) {
    return indexed_images(bad.folder.path(), names, {1000, decode}, opening)[0];
  };
  CHECK(look(false).fault.empty());
  CHECK(holds(look(true).fault, "cat/3.png' is truncated"));
  bad.folder.write("cat/3.png", small_png(1));
  CHECK(look(true).decoded);
  const auto time = fs::last_write_time(bad.folder / "cat/3.png");
  std::string damaged = small_png(1);
  damaged[50] = static_cast<char>(damaged[50] ^ 1);
  bad.folder.write("cat/3.png", damaged);
  fs::last_write_time(bad.folder / "cat/3.png", time);
  CHECK(look(true).fault.empty());
  CHECK(look(false).decoded);
}

TEST_CASE("a class, or a set, of bad files alone is refused although they are to be left out") {
  const BadImages bad;
  bad.folder.write("fox/1.png", "");
  CHECK(data_message(bad.options(OnError::skip)) ==
        "no file of class 'fox' in '" + bad.folder.text() + "' can be used: '" +
            (bad.folder / "fox/1.png").string() + "' is empty; get the image again or remove it");
  CHECK(open_image_folder(bad.options(OnError::skip), {.may_lack_classes = true})->size() == 6);
  const test::TemporaryFolder folder;
  folder.write("cat/1.png", "");
  ImageFolderOptions options = bad.options(OnError::skip);
  options.root = folder.text();
  CHECK(holds(data_message(options, {.may_lack_classes = true}),
              "no file of '" + folder.text() + "' can be used:\n  '"));
}

TEST_CASE("a list leaves out files that are missing or bad, not lines that are wrong") {
  const BadImages bad;
  ImageListOptions options;
  options.file = (bad.folder / "list.csv").string();
  const std::string good = "cat/1.png,0\ndog/1.png,1\n";
  bad.folder.write("list.csv", good + "cat/9.png,0\ncat/2.png,0\ncat/3.png,0\ndog/4.tif,1\n");
  const auto message = [&] {
    return message_of(ErrorKind::data, [&] { (void)open_image_list(options); });
  };
  CHECK(holds(message(), "4 files cannot be used:\n"));
  CHECK(holds(message(),
              "list.csv', line 3: '" + (bad.folder / "cat/9.png").string() + "' does not exist"));
  options.memory_mib = 0;
  CHECK(holds(message(), "3 files cannot be used:\n"));
  options.on_error = OnError::skip;
  CHECK(open_image_list(options)->size() == 2);
  bad.folder.write("list.csv", good + "../x.png,0\n");
  CHECK(holds(message(), "line 3: '../x.png' is not a path below the root"));
}

}  // namespace trainyard::bad_images_test
