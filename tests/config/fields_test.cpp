#include "config/fields.h"

#include <doctest/doctest.h>

#include "sample.h"
#include "support.h"

using namespace trainyard;
using namespace trainyard::config;

TEST_CASE("positional values are matched in the order of the declarations") {
  sample::Window window;
  CHECK(read_into("[3, [1, 2], same_upper, wrap]", window).empty());
  CHECK(window.size == Pair{3, 3});
  CHECK(window.stride == Pair{1, 2});
  CHECK(window.pad == 1);
  CHECK(window.fill == sample::Fill::wrap);
  sample::Window one;
  CHECK(read_into("5", one).empty());
  CHECK(one.size == Pair{5, 5});
}

TEST_CASE("explicit values beat defaults, defaults beat the declaration") {
  const Node defaults = parse_yaml("{stride: 2, fill: wrap}", "d.yaml");
  sample::Window window;
  CHECK(read_into("{size: 3, fill: constant}", window, "pool", &defaults).empty());
  CHECK(window.stride == Pair{2, 2});
  CHECK(window.fill == sample::Fill::constant);
  sample::Window positional;
  CHECK(read_into("[3, 4]", positional, "pool", &defaults).empty());
  CHECK(positional.stride == Pair{4, 4});
  CHECK(positional.fill == sample::Fill::wrap);
}

TEST_CASE("mistakes in defaults are reported at their own position") {
  const Node defaults = parse_yaml("{strde: 2, fill: 3}", "d.yaml");
  sample::Window window;
  CHECK(read_into("{size: 3}", window, "pool", &defaults) ==
        "d.yaml:1:2: unknown key 'strde' in 'pool'; did you mean 'stride'?\n"
        "d.yaml:1:18: 'fill' must be one of constant, nearest, reflect, wrap, found number 3");
}

TEST_CASE("every kind of field is read") {
  sample::Run run;
  const std::string text = R"(
name: x
epochs: 4
smoothing: 1
deterministic: false
sizes: [1, 2]
means: [0.5, 1]
metrics: [accuracy, top5]
clip: 5
vars: {n: 9}
window: {size: 3, pad: [1, 2]}
train: {source: images, path: data/x, size: 8, shuffle: false}
batch: {per_gpu: 64}
optimizer: {sgd: {lr: 1e-1}}
schedule: {piecewise: [[0, 1e-3], [81, 1e-4]]}
augment: [hflip, shift: {x: 0.1, fill: wrap}, pad_crop: 2]
)";
  CHECK(read_into(text, run) == "");
  CHECK(run.name == "x");
  CHECK(run.epochs == 4);
  CHECK(run.smoothing == 1);
  CHECK_FALSE(run.deterministic);
  CHECK(run.sizes == std::vector<std::int64_t>{1, 2});
  CHECK(run.means == std::vector<double>{0.5, 1});
  CHECK(run.metrics == std::vector<std::string>{"accuracy", "top5"});
  CHECK(run.clip == 5);
  CHECK(run.vars.find("n")->integer == 9);
  CHECK_FALSE(run.window.pad.has_value());
  CHECK(run.window.margin == Pair{1, 2});
  CHECK(run.train.source->kind == "images");
  CHECK_FALSE(run.train.shuffle);
  CHECK(run.batch.per_gpu == 64);
  CHECK(run.optimizer->value == 0.1);
  CHECK(run.schedule->table == std::vector<std::vector<double>>{{0, 1e-3}, {81, 1e-4}});
  REQUIRE(run.augment.size() == 3);
  CHECK(run.augment[1]->value == 0.1);
}

TEST_CASE("an absent key keeps its default, and null clears an optional value") {
  sample::Run run;
  run.clip = 1;
  CHECK(read_into("{name: x, optimizer: adam, clip: ~}", run).empty());
  CHECK_FALSE(run.clip.has_value());
  CHECK(run.epochs == 10);
  CHECK(run.optimizer->value == 1e-3);
  CHECK_FALSE(run.schedule);
  sample::Run kept;
  kept.clip = 1;
  CHECK(read_into("{name: x, optimizer: adam}", kept).empty());
  CHECK(kept.clip == 1);
}

TEST_CASE("null is a key that is left out, wherever it stands") {
  sample::Run run;
  CHECK(read_into("{name: x, epochs: ~, smoothing: null, deterministic: , sizes: Null, window: ~, "
                  "batch: ~, optimizer: {adam: ~}, schedule: ~, augment: ~, vars: ~}",
                  run)
            .empty());
  CHECK(run.epochs == sample::Run{}.epochs);
  CHECK(run.sizes == sample::Run{}.sizes);
  CHECK(run.optimizer->value == 1e-3);
  CHECK(run.augment.empty());
  CHECK(read_into("{name: ~, optimizer: ~}", run) ==
        "t.yaml:1:8: 'name' must be text, found nothing\n"
        "t.yaml:1:22: 'optimizer' must be one of sgd, adam, found nothing");
  sample::Window window;
  CHECK(read_into("[3, ~, same_upper, null]", window).empty());
  CHECK(window.pad == 1);
  const Node settled = [] {
    const Node node = parse_yaml("{name: x, epochs: ~, optimizer: adam}", "t.yaml");
    Diagnostics diagnostics;
    sample::Run values;
    Fields fields(node, nullptr, "", Profile::keras2, diagnostics);
    declare(fields, values);
    fields.finish();
    return fields.settled();
  }();
  CHECK(settled.find("epochs")->integer == 10);
}

TEST_CASE("a part that is set to false is not a value of its first key") {
  sample::Run run;
  CHECK(read_into("{name: x, optimizer: adam, window: False}", run) ==
        "t.yaml:1:36: 'size' must be a whole number of at least 1 or two of them, [h, w], found "
        "false; without 'window', leave it out or set it to null");
  CHECK(read_into("{name: false, optimizer: adam}", run) ==
        "t.yaml:1:8: 'name' must be text, found false; put it in quotes");
}

namespace {
struct Sides {
  std::vector<std::int64_t> sides;
  std::vector<std::string> names;
};
void declare(Fields& fields, Sides& out) {
  fields.rest("sides", out.sides, "of the result", {.minimum = 1});
  fields.field("names", out.names, "of the sides");
}
}  // namespace

TEST_CASE("a list that takes all values also takes one alone") {
  for (const char* yaml : {"256", "[256]", "{sides: 256}", "{sides: [256]}"}) {
    CAPTURE(yaml);
    Sides one;
    CHECK(read_into(yaml, one).empty());
    CHECK(one.sides == std::vector<std::int64_t>{256});
  }
  Sides wrong;
  CHECK(read_into("0", wrong) ==
        "t.yaml:1:1: 'sides' must be a list of whole numbers of at least 1, found number 0");
  CHECK(read_into("{names: a}", wrong) ==
        "t.yaml:1:9: 'names' must be a list of texts, found text 'a'; put it in quotes");
}

TEST_CASE("the settled map holds every default and reads to the same values") {
  const Node node = parse_yaml(
      "{name: '5', clip: ~, window: [3], schedule: {piecewise: [[0, 1e-3]]}, vars: {n: x}, "
      "optimizer: adam, augment: [hflip, shift: [0.1]]}",
      "t.yaml");
  Diagnostics diagnostics;
  const auto settle = [&](const Node& from) {
    sample::Run run;
    run.clip = 1;
    Fields fields(from, nullptr, "run", Profile::keras2, diagnostics);
    declare(fields, run);
    fields.finish();
    diagnostics.raise();
    return fields.settled();
  };
  const Node settled = settle(node);
  CHECK(to_yaml(settled) ==
        "name: \"5\"\nepochs: 10\nsmoothing: 0.1\ndeterministic: true\nsizes: [32, 32]\n"
        "means: []\nmetrics: [accuracy]\nclip: null\nvars:\n  n: x\n"
        "window:\n  size: 3\n  stride: 1\n  pad: valid\n  fill: nearest\n"
        "batch: {}\n"
        "optimizer:\n  adam:\n    lr: 0.001\n    beta1: 0.9\n"
        "schedule:\n  piecewise:\n    table: [[0, 0.001]]\n    by_step: false\n"
        "augment:\n  - hflip:\n      probability: 0.5\n"
        "  - shift:\n      x: 0.1\n      fill: nearest\n");
  CHECK(same_value(settle(settled), settled));
}

TEST_CASE("an absent map settles its defaults unless it lacks a required key") {
  sample::Run run;
  const Node node = parse_yaml("{name: x, optimizer: adam}", "t.yaml");
  Diagnostics diagnostics;
  Fields fields(node, nullptr, "run", Profile::keras2, diagnostics);
  declare(fields, run);
  fields.finish();
  CHECK(diagnostics.empty());
  CHECK(fields.settled().find("window") == nullptr);
  CHECK(fields.settled().find("train") == nullptr);
  CHECK(fields.settled().find("batch") != nullptr);
}

TEST_CASE("a list of rest values has the same meaning under its key") {
  sample::Run a, b;
  CHECK(read_into("{name: x, optimizer: adam, schedule: {piecewise: [[0, 1], [2, 3]]}}", a) == "");
  CHECK(read_into("{name: x, optimizer: adam, schedule: {piecewise: {table: [[0, 1], [2, 3]], "
                  "by_step: true}}}",
                  b) == "");
  CHECK(a.schedule->table == b.schedule->table);
}

TEST_CASE("all errors of a map are reported at once, in file order") {
  sample::Run run;
  CHECK(
      read_into("{epochs: 1e1, smoothing: two, deterministic: yes, nme: y,\n"
                " sizes: [1, 0], window: {fill: warp}, optimizer: {sgd: {lr: 0}}}",
                run, "run") ==
      "t.yaml:1:10: 'epochs' must be a whole number from 1 to 10000, found number 1e1; write it "
      "without point or exponent\n"
      "t.yaml:1:26: 'smoothing' must be a number from 0 to 1, found text 'two'\n"
      "t.yaml:1:46: 'deterministic' must be true or false, found text 'yes'; write true\n"
      "t.yaml:1:51: unknown key 'nme' in 'run'; did you mean 'name'?\n"
      "t.yaml:2:13: 'sizes' must be a list of whole numbers of at least 1, found number 0\n"
      "t.yaml:2:17: missing key 'size' in 'window'\n"
      "t.yaml:2:32: 'fill' must be one of constant, nearest, reflect, wrap, found text 'warp'; did "
      "you mean 'wrap'?\n"
      "t.yaml:2:61: 'lr' must be a number above 0, found number 0");
}

TEST_CASE("where() and given() cover the keys of the map and of its defaults") {
  const Node node = parse_yaml("{stride: 2, fill: ~}", "t.yaml");
  const Node defaults = parse_yaml("{size: 3}", "d.yaml");
  Diagnostics diagnostics;
  const Fields fields(node, &defaults, "pool", Profile::torch, diagnostics);
  CHECK(fields.profile() == Profile::torch);
  CHECK_FALSE(fields.describing());
  CHECK(fields.given("stride"));
  CHECK(fields.given("size"));
  CHECK_FALSE(fields.given("fill"));
  CHECK_FALSE(fields.given("pad"));
  CHECK(fields.where("size").text() == "d.yaml:1:8");
  CHECK(fields.where("stride").text() == "t.yaml:1:10");
  CHECK(fields.where().text() == "t.yaml:1:1");
}

TEST_CASE("messages contain the layer's path until the scope ends") {
  Diagnostics diagnostics;
  {
    const Diagnostics::LayerScope scope(diagnostics, "stage1.conv1");
    diagnostics.error({"a.yaml", 2, 3}, "first");
    const Diagnostics::LayerScope inner(diagnostics, "stage2.conv1");
    diagnostics.error({"a.yaml", 2, 3}, "the same place again");
    diagnostics.error({"a.yaml", 1, 9}, "second");
  }
  diagnostics.error({"b.yaml", 1, 1}, "third");
  CHECK(message_of([&] { diagnostics.raise(); }) ==
        "a.yaml:1:9: layer 'stage2.conv1': second\n"
        "a.yaml:2:3: layer 'stage1.conv1': first\n"
        "b.yaml:1:1: third");
}

TEST_CASE("the first hundred errors are shown and the rest counted") {
  Diagnostics diagnostics;
  for (int i = 1; i <= 250; ++i) diagnostics.error({"a.yaml", i, 1}, "wrong");
  const std::string text = message_of([&] { diagnostics.raise(); });
  CHECK(text.find("a.yaml:100:1: wrong\nand 150 more errors") != std::string::npos);
  CHECK(text.find("a.yaml:101:1") == std::string::npos);
}
