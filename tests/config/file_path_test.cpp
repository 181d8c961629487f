// Paths in config files.
#include "config/file_path.h"

#include <doctest/doctest.h>

#include "../base/temporary_folder.h"
#include "support.h"

using namespace trainyard;
using namespace trainyard::config;

namespace fs = std::filesystem;

namespace {

struct Source {
  FilePath root = "data";
  FilePath list;
};
void declare(Fields& fields, Source& source) {
  fields.field("root", source.root, "a folder");
  fields.field("list", source.list, "a file");
}

struct Split {
  Source train;
};
void declare(Fields& fields, Split& split) { fields.required("train", split.train, "a source"); }

struct Data {
  Split data;
};
void declare(Fields& fields, Data& data) { fields.required("data", data.data, "both splits"); }

struct Read {
  Source source;
  Node settled;
};

Read read(const std::string& path, const std::vector<std::string>& overrides = {}) {
  const Node node = load_run(path, overrides, {});
  Diagnostics diagnostics;
  Fields fields(node, nullptr, "run", Profile::keras2, diagnostics);
  Data data;
  declare(fields, data);
  fields.finish();
  diagnostics.raise();
  return {data.data.train, *fields.settled().find("data")->find("train")};
}

std::vector<std::string> flags(const FilePath& path) {
  std::vector<std::string> found;
  for (const FilePath::Other& other : path.others) found.push_back(other.flag);
  return found;
}

}  // namespace

TEST_CASE(
    "a path is absolute: from its file, or in a flag and by default from the current folder") {
  const testing::TemporaryFolder folder;
  const fs::path here = fs::current_path();
  folder.write("base/base.yaml", "data: {train: {root: images, list: ../list.csv}}\n");
  const std::string base = (folder / "base/base.yaml").string();
  CHECK(read(base).source.root.path == folder / "base/images");
  CHECK(read(base).source.list.path == folder / "list.csv");
  const std::string over = folder.write("run.yaml", "extends: base/base.yaml\n").string();
  CHECK(read(over).source.root.path == folder / "base/images");
  CHECK(read(over, {"data.train.root=p/"}).source.root.path == here / "p");
  CHECK(read(over, {"data.train={root: /p/./q}"}).source.root.path == "/p/q");
  const std::string bare = folder.write("bare.yaml", "data: {train: {list: ''}}\n").string();
  CHECK(read(bare).source.root.path == here / "data");
  CHECK(read(bare).source.list.empty());
}

TEST_CASE("a settled path is absolute and remembers what was typed") {
  const testing::TemporaryFolder folder;
  const std::string file = folder.write("run.yaml", "data: {train: {root: ./images}}\n").string();
  const Node settled = read(file).settled;
  CHECK(settled.find("root")->text == (folder / "images").string());
  CHECK(with_typed_paths(settled).find("root")->text == "./images");
  CHECK(with_typed_paths(settled).find("list")->text.empty());
  const std::string bare = folder.write("bare.yaml", "data: {train: {}}\n").string();
  CHECK(with_typed_paths(read(bare).settled).find("root")->text == "data");
}

TEST_CASE("what the same words would name from elsewhere is known with its flag") {
  const testing::TemporaryFolder folder;
  folder.write("base/base.yaml", "data: {train: {root: 'a b'}}\n");
  const std::string over = folder.write("run.yaml", "extends: base/base.yaml\n").string();
  CHECK(flags(read(over).source.root) ==
        std::vector<std::string>{"--set 'data.train.root=a b'",
                                 "--set 'data.train.root=" + (folder / "a b").string() + "'"});
  CHECK(flags(read(over, {"data.train.root=x"}).source.root) ==
        std::vector<std::string>{"--set data.train.root=" + (folder / "x").string()});
  CHECK(flags(read(over, {"data.train.root=/x"}).source.root).empty());
  const FilePath path = read(over).source.root;
  CHECK(elsewhere(path).empty());
  fs::create_directories(folder / "a b");
  CHECK(elsewhere(path) ==
        "; a path in a file is relative to that file, one in a flag and the default 'data' to the "
        "current folder; to use '" +
            (folder / "a b").string() + "': " + path.others[1].flag);
  fs::create_directories(path.path);
  CHECK(elsewhere(path).empty());
}

TEST_CASE("a path through a link keeps its .., which is not the folder before") {
  const testing::TemporaryFolder folder;
  fs::create_directories(folder / "real/deep");
  fs::create_directory_symlink(folder / "real/deep", folder / "link");
  CHECK(absolute_path(folder / "link/../x") == folder / "link/../x");
  CHECK(absolute_path(folder / "real/../x/.") == folder / "x");
  CHECK(absolute_path("/") == "/");
}

TEST_CASE("a path that is no text is an error") {
  const testing::TemporaryFolder folder;
  const std::string file = folder.write("run.yaml", "data: {train: {root: 5}}\n").string();
  CHECK(message_of([&] { static_cast<void>(read(file)); }) ==
        file + ":1:22: 'root' must be text, found number 5; put it in quotes");
}
