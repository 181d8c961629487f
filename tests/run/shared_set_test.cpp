// Data sets that the ranks of a machine store once.
#include "run/session/shared_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <vector>

#include "../base/temporary_folder.h"
#include "data/sets/make_shapes.h"
#include "data/sets/memory_dataset.h"
#include "data/sets/table_form.h"
#include "data/sets/token_set.h"
#include "rank_sessions.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr int kRanks = 3;

MemorySamples samples(bool floats) {
  MemorySamples made{.image = {1, 2, 3},
                     .labels = {1, 0, 1, 1},
                     .classes = 2,
                     .class_names = {"cat", "dog"},
                     .fingerprint = "f00"};
  MemoryField& weight = made.fields.emplace_back();
  weight.of.name = "weight";
  weight.of.type = DType::f32;
  weight.values.assign(16, std::byte{3});
  for (int i = 0; i < 24; ++i) {
    if (floats) {
      made.floats.push_back(static_cast<float>(i) / 3);
    } else {
      made.bytes.push_back(static_cast<std::uint8_t>(i * 10));
    }
  }
  return made;
}

/// A set that is read sample by sample.
class Unheld final : public Dataset {
 public:
  [[nodiscard]] std::int64_t size() const override { return 1; }
  [[nodiscard]] Shape image_shape() const override { return {1, 2, 2}; }
  [[nodiscard]] std::int64_t classes() const override { return 2; }
  void read(std::int64_t, float* image) const override { std::fill_n(image, 4, 0.5f); }
  [[nodiscard]] std::int32_t label(std::int64_t) const override { return 0; }
  [[nodiscard]] std::string fingerprint() const override { return "unheld"; }
};

/// Counts how often it is opened.
class Counted final : public DatasetSource {
 public:
  using Open = std::unique_ptr<Dataset> (*)();
  explicit Counted(Open opener) : open_(opener) {}
  [[nodiscard]] std::string_view name() const override { return "counted"; }
  [[nodiscard]] std::unique_ptr<Dataset> open(const Opening&) const override {
    ++opened_;
    return open_();
  }
  [[nodiscard]] int opened() const { return opened_; }

 private:
  Open open_;
  mutable std::atomic<int> opened_ = 0;
};

std::unique_ptr<Dataset> token_samples() {
  return token_set_of({.steps = 3,
                       .tokens = {0, 1, 2, 2, 1, 0},
                       .labels = {1, 0, 1, 1, 1, 0},
                       .lengths = {2, 3},
                       .padding = PaddingSide::front,
                       .form = LabelForm::each,
                       .classes = 2,
                       .class_names = {"no", "yes"},
                       .vocabulary = std::make_shared<const Vocabulary>(
                           TextUnit::words, std::vector<std::string>{"", "one", "two"}, 1),
                       .fingerprint = "f00"});
}

std::unique_ptr<Dataset> table_rows() {
  const TableForm form{
      .columns = {{.name = "age", .mean = 0.1, .deviation = 3, .categories = {}},
                  {.name = "eyes", .categorical = true, .categories = {"a", "b"}}}};
  return std::make_unique<MemoryDataset>(
      MemorySamples{.image = {3, 1, 1},
                    .floats = {0.5, 1, 0, -0.5, 0, 1},
                    .labels = {1, 0},
                    .classes = 2,
                    .table = std::make_shared<const TableForm>(form),
                    .fingerprint = "f01"});
}

std::string words_of(const Dataset& set) {
  return set.vocabulary() == nullptr ? "" : vocabulary_json(*set.vocabulary());
}

bool same(const Dataset& a, const Dataset& b) {
  for (std::size_t i = 0; i + 1 < a.fields().size(); ++i) {
    if (!std::ranges::equal(a.held().fields.at(i), b.held().fields.at(i))) return false;
  }
  const auto form_of = [](const Dataset& set) {
    return set.table() == nullptr ? TableForm{} : *set.table();
  };
  if (form_of(a) != form_of(b)) return false;
  return a.size() == b.size() && words_of(a) == words_of(b) && a.image_shape() == b.image_shape() &&
         a.classes() == b.classes() && a.class_names() == b.class_names() &&
         a.fingerprint() == b.fingerprint() && std::ranges::equal(a.held().bytes, b.held().bytes) &&
         std::ranges::equal(a.held().floats, b.held().floats) &&
         std::ranges::equal(a.held().labels, b.held().labels) && a.fields() == b.fields();
}

/// The line of /proc/self/maps of the mapping that holds `memory`.
std::string mapping_of(const void* memory) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(memory);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::size_t dash = 0;
    const std::uintptr_t from = std::stoull(line, &dash, 16);
    const std::uintptr_t to = std::stoull(line.substr(dash + 1), nullptr, 16);
    if (from <= wanted && wanted < to) return line;
  }
  return "";
}

/// The texts of the warnings of all ranks, and what they threw.
struct Opened {
  testing::Outcomes outcomes;
  std::vector<std::string> warnings;
};

Opened open_everywhere(const DatasetSource& source, const Dataset* expected) {
  Opened opened;
  std::mutex mutex;
  opened.outcomes = run_groups(kRanks, [&](RankGroup& group) {
    const auto set = open_shared(source,
                                 {.seed = 1,
                                  .warn =
                                      [&](const std::string& text) {
                                        const std::lock_guard lock(mutex);
                                        opened.warnings.push_back(text);
                                      }},
                                 group);
    if (expected != nullptr && !same(*set, *expected)) throw Error(ErrorKind::bug, "another set");
    group.communicator().barrier();  // shared memory lives as long as its first owner
  });
  return opened;
}

}  // namespace

TEST_CASE("the ranks of a machine store the samples of a set once, bytes and floats") {
  const Counted bytes(
      []() -> std::unique_ptr<Dataset> { return std::make_unique<MemoryDataset>(samples(false)); });
  const Counted floats(
      []() -> std::unique_ptr<Dataset> { return std::make_unique<MemoryDataset>(samples(true)); });
  for (const Counted* source : {&bytes, &floats}) {
    const MemoryDataset expected(samples(source == &floats));
    const Opened opened = open_everywhere(*source, &expected);
    CHECK(opened.outcomes == testing::Outcomes(kRanks));
    CHECK(opened.warnings.empty());
    CHECK(source->opened() == 1);
  }
}

TEST_CASE("the ranks of a machine store tokens once, with labels of positions and vocabulary") {
  const Counted tokens(&token_samples);
  const auto expected = token_samples();
  const Opened opened = open_everywhere(tokens, expected.get());
  CHECK(opened.outcomes == testing::Outcomes(kRanks));
  CHECK(opened.warnings.empty());
  CHECK(tokens.opened() == 1);
}

TEST_CASE("the ranks of a machine store a table once, with what its columns are") {
  const Counted rows(&table_rows);
  const auto expected = table_rows();
  REQUIRE(expected->table() != nullptr);
  CHECK(open_everywhere(rows, expected.get()).outcomes == testing::Outcomes(kRanks));
  CHECK(rows.opened() == 1);
}

TEST_CASE("two ranks of a run train from the same memory") {
  const testing::TemporaryFolder folder;
  make_shapes(folder.path() / "set", {.train = 40, .test = 10});
  const std::string source = "{source: cifar10, root: " + (folder.path() / "set").string() + "}";
  const std::string run =
      "name: shared\nnetwork: {input: [3, 32, 32], layers: [flatten, dense: "
      "10]}\ndata: {train: " +
      source + ", val: " + source +
      "}\nbatch: {per_gpu: 4}\nloss: cross_entropy\noptimizer: {sgd: {lr: "
      "0.1}}\nepochs: 1\n";
  const testing::Outcomes outcomes = run_groups(2, [&](RankGroup& group) {
    Session session(read_run(run), {.threads = 1}, nullptr, group);
    for (const auto* set : {&session.data().train, &session.data().val}) {
      const std::string at = mapping_of((*set)->held().bytes.data());
      if (at.find("memfd:") == std::string::npos) throw Error(ErrorKind::bug, at);
    }
    group.communicator().barrier();
  });
  CHECK(outcomes == testing::Outcomes(2));
}

TEST_CASE("a set that is read sample by sample is opened by each rank") {
  const Counted source([]() -> std::unique_ptr<Dataset> { return std::make_unique<Unheld>(); });
  CHECK(open_everywhere(source, nullptr).outcomes == testing::Outcomes(kRanks));
  CHECK(source.opened() == kRanks);
}

TEST_CASE("an error in a set is reported once; the other ranks know that it failed elsewhere") {
  const Counted source(
      []() -> std::unique_ptr<Dataset> { throw Error(ErrorKind::data, "'x' is not there"); });
  testing::Outcomes outcomes = open_everywhere(source, nullptr).outcomes;
  std::ranges::sort(outcomes);
  CHECK(outcomes ==
        testing::Outcomes{"'x' is not there",
                          "a rank of this machine failed at work that the others wait for",
                          "a rank of this machine failed at work that the others wait for"});
  CHECK(source.opened() == 1);
}
