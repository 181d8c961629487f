// Symbolic links to images and to folders of them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "data/sets/file_walk.h"
#include "data/sets/image_list.h"
#include "helpers.h"

namespace trainyard::links_test {

using namespace test;

namespace {

namespace fs = std::filesystem;

std::string small_png(char value) { return test::png_of({.w = 2, .h = 1}, std::string(6, value)); }

ImageFolderOptions folder_options(const fs::path& root, Links links = Links::follow) {
  ImageFolderOptions options;
  options.root = root.string();
  options.links = links;
  return options;
}

ImageListOptions list_options(const test::TemporaryFolder& folder, const std::string& text) {
  folder.write("list.csv", text);
  ImageListOptions options;
  options.file = (folder / "list.csv").string();
  return options;
}

template <class Options, class Open>
std::string refusal(const Options& options, const Open& open) {
  return message_of(ErrorKind::data, [&] { (void)open(options, Opening{}); });
}
std::string folder_message(const fs::path& root, Links links = Links::follow) {
  return refusal(folder_options(root, links), open_image_folder);
}
std::string list_message(const ImageListOptions& options) {
  return refusal(options, [](const auto&... of) { return open_image_list(of...); });
}

std::vector<std::string> names_of(const Dataset& set) {
  std::vector<std::string> names;
  for (const SampleFile& file : set.files().files) names.push_back(file.name);
  return names;
}

/// Class cat of a file, and a folder elsewhere with dog.png and more/fox.png.
struct Linked {
  test::TemporaryFolder folder, elsewhere;
  Linked() {
    folder.write("cat/1.png", small_png(1));
    elsewhere.write("dog.png", small_png(2));
    elsewhere.write("more/fox.png", small_png(3));
  }
  void link(const fs::path& target, const std::string& name) const {
    fs::create_symlink(target, folder / name);
  }
};

}  // namespace

TEST_CASE("links to images and to class folders are followed, also out of the root") {
  const Linked linked;
  linked.link(linked.elsewhere / "dog.png", "cat/2.png");
  linked.link(linked.elsewhere.path(), "dog");
  linked.link("../cat/1.png", "cat/3.png");
  linked.link(linked.elsewhere / "more", "cat/below");
  const auto set = open_image_folder(folder_options(linked.folder.path()), {});
  CHECK(names_of(*set) == std::vector<std::string>{"cat/1.png", "cat/2.png", "cat/3.png",
                                                   "cat/below/fox.png", "dog/dog.png",
                                                   "dog/more/fox.png"});
  CHECK(set->class_names() == std::vector<std::string>{"cat", "dog"});
  std::vector<float> image(6);
  set->read(1, image.data());
  CHECK(image[0] == 2);
  CHECK(set->files().files[1].bytes == fs::file_size(linked.elsewhere / "dog.png"));
}

TEST_CASE("data through links are those of files: names, lengths and contents") {
  const Linked linked;
  const test::TemporaryFolder copied;
  for (const char* name : {"cat/1.png", "dog/dog.png", "dog/more/fox.png"}) {
    copied.write(name, small_png(static_cast<char>(name[4] == '1' ? 1 : name[4] == 'd' ? 2 : 3)));
  }
  linked.link(linked.elsewhere.path(), "dog");
  const auto a = open_image_folder(folder_options(linked.folder.path()), {});
  const auto b = open_image_folder(folder_options(copied.path()), {});
  CHECK(a->fingerprint() == b->fingerprint());
  CHECK(names_of(*a) == names_of(*b));
  CHECK(a->files().files[2].hash == b->files().files[2].hash);
}

TEST_CASE("a link that leads to another file of the same length and time is a change") {
  const Linked linked;
  linked.elsewhere.write("wolf.png", small_png(9));
  const auto time = fs::last_write_time(linked.elsewhere / "dog.png");
  fs::last_write_time(linked.elsewhere / "wolf.png", time);
  const auto changed_of_link = [&](const char* target, std::int64_t made) {
    const fs::path link = linked.folder / "cat/2.png";
    fs::remove(link);
    linked.link(linked.elsewhere / target, "cat/2.png");
    const timespec times[2] = {{made, 0}, {made, 0}};  // two may be made at one tick of the clock
    REQUIRE(::utimensat(AT_FDCWD, link.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
    return open_image_folder(folder_options(linked.folder.path()), {})->files().files[1].changed;
  };
  constexpr std::int64_t kLater = 4'000'000'000;  // than the files
  CHECK(changed_of_link("wolf.png", kLater + 1) != changed_of_link("dog.png", kLater));
  CHECK(changed_of_link("wolf.png", 1) == changed_of_link("dog.png", 2));  // times of the files
}

TEST_CASE("links that lead in circles are named") {
  for (const char* target : {"..", "../cat", ".", "../..", "deep/up"}) {
    const Linked linked;
    fs::create_directories(linked.folder / "cat/deep");
    linked.link("../..", "cat/deep/up");
    linked.link(target, "cat/loop");
    CAPTURE(target);
    const std::string message = folder_message(linked.folder.path());
    CHECK(holds(message, "a folder that it is in: a loop; remove the link"));
  }
  const Linked linked;
  linked.link("2.png", "cat/2.png");
  CHECK(folder_message(linked.folder.path()) ==
        "'" + (linked.folder / "cat/2.png").string() +
            "' is a symbolic link that leads back to itself: a loop; remove it");
  const Linked two;
  fs::create_directories(two.folder / "dog");
  two.link("../dog", "cat/a");
  two.link("../cat", "dog/b");
  CHECK(holds(folder_message(two.folder.path()), "a folder that it is in: a loop"));
}

TEST_CASE("links to nothing are named, whether they may be images or folders") {
  for (const char* name : {"cat/2.png", "cat/below", "dog"}) {
    const Linked linked;
    linked.link("/nowhere/x", name);
    CHECK(folder_message(linked.folder.path()) ==
          "'" + (linked.folder / name).string() +
              "' is a symbolic link to '/nowhere/x', which does not exist; get that file, or "
              "remove the link");
  }
}

TEST_CASE("a folder refuses links if it is told to") {
  const std::string refused =
      "' is a symbolic link, which 'links: refuse' forbids; copy what it leads to, or set "
      "'links: follow'";
  for (const char* name : {"cat/2.png", "dog"}) {
    const Linked linked;
    linked.link(
        std::string_view(name) == "dog" ? linked.elsewhere.path() : linked.elsewhere / "dog.png",
        name);
    CHECK(folder_message(linked.folder.path(), Links::refuse) ==
          "'" + (linked.folder / name).string() + refused);
  }
}

TEST_CASE("a list refuses links to files and on the way to them, unless they are to be followed") {
  const Linked linked;
  linked.link(linked.elsewhere.path(), "out");
  linked.link("cat", "in");
  linked.link(linked.elsewhere / "dog.png", "dog.png");
  const std::string advice =
      "' is a symbolic link; copy what it leads to, or set 'links: follow' of the source";
  for (const auto& [path, link] : {std::pair{"dog.png", "dog.png"},
                                   {"out/dog.png", "out"},
                                   {"out/more/fox.png", "out"},
                                   {"in/1.png", "in"}}) {
    ImageListOptions options =
        list_options(linked.folder, "cat/1.png,0\n" + std::string(path) + ",1\n");
    const std::string list = options.file.string();
    CHECK(list_message(options) ==
          "'" + list + "', line 2: '" + (linked.folder / link).string() + advice);
    options.links = Links::follow;
    CHECK(names_of(*open_image_list(options)) == std::vector<std::string>{"cat/1.png", path});
  }
  linked.link("/nowhere/x.png", "gone.png");
  ImageListOptions options = list_options(linked.folder, "gone.png,0\n");
  options.links = Links::follow;
  CHECK(holds(list_message(options), "line 1: '" + (linked.folder / "gone.png").string() +
                                         "' is a symbolic link to '/nowhere/x.png', which"));
}

}  // namespace trainyard::links_test
