#include <doctest/doctest.h>

#include "../base/temporary_folder.h"
#include "support.h"

using namespace trainyard;
using namespace trainyard::config;

namespace {

const std::vector<ExclusiveKeys> kExclusiveKeys = {{"batch", {"per_gpu", "total"}},
                                                   {"optimizer", {}}};

// Paths as text, as in messages.
class Folder : public testing::TemporaryFolder {
 public:
  [[nodiscard]] std::string file(const std::string& name, const std::string& contents) const {
    return write(name, contents).string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (*this / name).string(); }
};

std::string run(const std::string& path, const std::vector<std::string>& overrides = {}) {
  return to_yaml(load_run(path, overrides, kExclusiveKeys));
}

std::string run_refusal(const std::string& path, const std::vector<std::string>& overrides = {}) {
  return message_of([&] { static_cast<void>(load_run(path, overrides, kExclusiveKeys)); });
}

ErrorKind kind_of(const std::string& path, const std::vector<std::string>& overrides) {
  try {
    static_cast<void>(load_run(path, overrides, kExclusiveKeys));
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::bug;
}

}  // namespace

TEST_CASE("a run file that extends another one merges maps and replaces lists") {
  const Folder folder;
  static_cast<void>(folder.file("base.yaml", "a: {x: 1, y: 2}\nlist: [1, 2]\nb: 3\n"));
  const std::string path =
      folder.file("run.yaml", "extends: base.yaml\na: {y: 5, z: 6}\nlist: [7]\nc: 8\n");
  CHECK(run(path) == "a:\n  x: 1\n  y: 5\n  z: 6\nlist: [7]\nb: 3\nc: 8\n");
}

TEST_CASE("values keep the position of the file that wrote them") {
  const Folder folder;
  const std::string base = folder.file("sub/base.yaml", "network: {file: net.yaml, n: 1}\n");
  const std::string path = folder.file("run.yaml", "extends: sub/base.yaml\nnetwork: {n: 2}\n");
  const Node node = load_run(path, {}, kExclusiveKeys);
  const Node& file = *node.find("network")->find("file");
  CHECK(file.where.text() == base + ":1:17");
  CHECK(path_from(file.where, file.text) == folder.path("sub") + "/net.yaml");
  CHECK(node.find("network")->find("n")->where.text() == path + ":2:14");
  CHECK(path_from({"--set network.file", 1, 1}, "net.yaml") == "net.yaml");
  CHECK(path_from({"a/b.yaml", 1, 1}, "/net.yaml") == "/net.yaml");
}

TEST_CASE("naming one of several exclusive keys replaces the inherited one") {
  const Folder folder;
  static_cast<void>(folder.file(
      "base.yaml", "batch: {per_gpu: 64, remainder: drop}\noptimizer: {sgd: {lr: 1}}\n"));
  CHECK(run(folder.file("a.yaml", "extends: base.yaml\nbatch: {total: 256}\n")) ==
        "batch:\n  remainder: drop\n  total: 256\noptimizer:\n  sgd:\n    lr: 1\n");
  CHECK(run(folder.file("b.yaml", "extends: base.yaml\noptimizer: {adam: {lr: 2}}\n")) ==
        "batch:\n  per_gpu: 64\n  remainder: drop\noptimizer:\n  adam:\n    lr: 2\n");
  CHECK(run(folder.file("c.yaml", "extends: base.yaml\noptimizer: {sgd: {momentum: 2}}\n")) ==
        "batch:\n  per_gpu: 64\n  remainder: drop\noptimizer:\n  sgd:\n    lr: 1\n    momentum: "
        "2\n");
  CHECK(run(folder.file("d.yaml", "extends: base.yaml\noptimizer: adam\n")).find("sgd") ==
        std::string::npos);
}

TEST_CASE("exclusive keys in one file are both kept, for the reader to refuse") {
  const Folder folder;
  static_cast<void>(folder.file("base.yaml", "batch: {per_gpu: 64}\n"));
  CHECK(run(folder.file("a.yaml", "extends: base.yaml\nbatch: {per_gpu: 1, total: 2}\n")) ==
        "batch:\n  per_gpu: 1\n  total: 2\n");
}

TEST_CASE("extends is refused if cyclic, too deep or naming a missing file") {
  const Folder folder;
  const std::string a = folder.file("a.yaml", "extends: b.yaml\n");
  const std::string b = folder.file("b.yaml", "x: 1\nextends: ./a.yaml\n");
  const std::string again = folder.path("./a.yaml");
  CHECK(run_refusal(a) == b + ":2:10: 'extends' forms a cycle: " + a + " -> " + b + " -> " + again);
  const std::string lost = folder.file("lost.yaml", "extends: nothing.yaml\n");
  CHECK(run_refusal(lost) ==
        lost + ":1:10: 'extends' names a missing file: " + folder.path("nothing.yaml"));
  const std::string name(300, 'x');
  const std::string longer = folder.file("longer.yaml", "extends: " + name + "\n");
  CHECK(run_refusal(longer) == longer +
                                   ":1:10: 'extends' names a missing file (File name too "
                                   "long): " +
                                   folder.path(name));
  const std::string list = folder.file("list.yaml", "extends: [a.yaml, b.yaml]\n");
  CHECK(run_refusal(list) ==
        list + ":1:10: 'extends' must be the name of one run file, found a list");
  static_cast<void>(folder.file("0.yaml", "x: 1\n"));
  for (int i = 1; i <= 8; ++i) {
    static_cast<void>(
        folder.file(std::to_string(i) + ".yaml", "extends: " + std::to_string(i - 1) + ".yaml\n"));
  }
  CHECK(run_refusal(folder.path("7.yaml")).empty());
  CHECK(run_refusal(folder.path("8.yaml")).find("more than 8 files") != std::string::npos);
}

TEST_CASE("files that cannot be read are named") {
  const Folder folder;
  CHECK(run_refusal(folder.path("none.yaml")) ==
        folder.path("none.yaml") + ": cannot be read: No such file or directory");
  const std::string longer = folder.path(std::string(300, 'x'));
  CHECK(run_refusal(longer) == longer + ": cannot be read: File name too long");
  CHECK(run_refusal(folder.text()) == folder.text() + ": is a folder; expected a YAML file");
  const std::string list = folder.file("list.yaml", "- 1\n");
  CHECK(run_refusal(list) == list + ":1:1: a run file is a map of keys, found a list");
  const std::string large = folder.file("large.yaml", "#" + std::string(1 << 20, 'x'));
  CHECK(run_refusal(large) ==
        large + ": is larger than 1048576 bytes, the limit for a config file");
}

TEST_CASE("an override sets any key, with a value read as YAML") {
  const Folder folder;
  const std::string path = folder.file("run.yaml", "a: {b: {c: 1, d: 2}}\nlist: [1]\n");
  CHECK(run(path, {"a.b.c=5"}) == "a:\n  b:\n    c: 5\n    d: 2\nlist: [1]\n");
  CHECK(run(path, {"list=[x, 2]", "a="}) == "a: null\nlist: [x, 2]\n");
  CHECK(load_run(path, std::vector<std::string>{"new.key=x=y"}, kExclusiveKeys)
            .find("new")
            ->find("key")
            ->text == "x=y");
  CHECK(run(path, {"a.b.c=5", "a.b.c=6"}).find("c: 6") != std::string::npos);
}

TEST_CASE("an override replaces exclusive keys and turns bare names into maps") {
  const Folder folder;
  const std::string path = folder.file("run.yaml", "batch: {per_gpu: 64}\noptimizer: sgd\n");
  CHECK(run(path, {"batch.total=8"}) == "batch:\n  total: 8\noptimizer: sgd\n");
  CHECK(run(path, {"optimizer.sgd.lr=8"}).find("optimizer:\n  sgd:\n    lr: 8") !=
        std::string::npos);
  CHECK(run(path, {"optimizer.adam.lr=8"}).find("optimizer:\n  adam:\n    lr: 8") !=
        std::string::npos);
}

TEST_CASE("an override goes into a part that the file turns off, or on") {
  const Folder folder;
  const std::string path = folder.file("run.yaml", "stop: off\nsave: false\nplot: yes\n");
  CHECK(run(path, {"stop.patience=3", "save.keep=1", "plot.title=x"}) ==
        "stop:\n  patience: 3\nsave:\n  keep: 1\nplot:\n  title: x\n");
  CHECK(run(path, {"stop="}) == "stop: null\nsave: false\nplot: yes\n");
}

TEST_CASE("values of overrides have the position of the override") {
  const Folder folder;
  const std::string path = folder.file("run.yaml", "optimizer: {sgd: {lr: 1}}\n");
  const Node node =
      load_run(path, std::vector<std::string>{"optimizer.sgd.lr=[1, abc]"}, kExclusiveKeys);
  const Node& rate = *node.find("optimizer")->find("sgd")->find("lr");
  CHECK(rate.items[1].where.text() == "--set optimizer.sgd.lr:1:5");
  CHECK(node.where.text() == path + ":1:1");
}

TEST_CASE("malformed overrides are command-line errors") {
  const Folder folder;
  const std::string path =
      folder.file("run.yaml", "data: {augment: [hflip]}\nepochs: 3\nloss: mse\n");
  CHECK(kind_of(path, {"epochs"}) == ErrorKind::command_line);
  CHECK(run_refusal(path, {"epochs"}) ==
        "--set epochs: expected KEY=VALUE, as in --set optimizer.sgd.lr=1e-3");
  CHECK(run_refusal(path, {"a..b=1"}) == "--set a..b=1: a key is empty in 'a..b'");
  CHECK(run_refusal(path, {"=1"}) == "--set =1: a key is empty in ''");
  CHECK(run_refusal(path, {"extends=b.yaml"}) ==
        "--set extends=b.yaml: 'extends' is allowed only in a run file");
  CHECK(run_refusal(path, {"data.augment.0=x"}) ==
        "--set data.augment.0=x: 'data.augment' is a list (" + path +
            ":1:17); --set goes through maps only, set 'data.augment' as a whole");
  CHECK(run_refusal(path, {"epochs.x=1"}) ==
        "--set epochs.x=1: 'epochs' is number 3 (" + path +
            ":2:9); --set goes through maps only, set 'epochs' as a whole");
  CHECK(run_refusal(path, {"loss.x=1"}).find("'loss' is text 'mse'") != std::string::npos);
  CHECK(kind_of(path, {"epochs=[1"}) == ErrorKind::command_line);
  CHECK(run_refusal(path, {"epochs=010"}) ==
        "--set epochs:1:1: '010' looks octal; drop the leading zero, or quote it if text is meant");
}
