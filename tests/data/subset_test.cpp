#include "data/sets/subset.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/hash.h"
#include "data/sets/synthetic.h"
#include "helpers.h"

namespace trainyard {

using test::message_of;

namespace {

/// Three classes, of 10, 21 and 69 samples.
std::unique_ptr<MemoryDataset> uneven_set() {
  MemorySamples samples{.image = Shape{1, 1, 1}, .classes = 3, .class_names = {"a", "b", "c"}};
  for (int i = 0; i < 100; ++i) {
    samples.bytes.push_back(static_cast<std::uint8_t>(i));
    samples.labels.push_back(i % 10 == 0 ? 0 : (i % 10 < 3 || i == 99) ? 1 : 2);
  }
  return std::make_unique<MemoryDataset>(std::move(samples));
}

std::int64_t of_class(const Dataset& set, const std::vector<std::int64_t>& indices,
                      std::int32_t label) {
  return std::ranges::count_if(indices, [&](std::int64_t i) { return set.label(i) == label; });
}

/// A synthetic source of `size` samples.
std::shared_ptr<const DatasetSource> synthetic_source(std::int64_t size) {
  SyntheticOptions options;
  options.shape = {1, 2, 2};
  options.size = size;
  return std::make_shared<OptionsSource<open_synthetic>>("synthetic", options);
}

/// Samples in memory with files of these names.
std::unique_ptr<Dataset> named_set(const std::vector<std::string>& names,
                                   std::vector<std::int32_t> labels) {
  MemorySamples samples{.image = Shape{1, 1, 1}, .labels = std::move(labels), .classes = 2};
  samples.bytes.resize(names.size());
  for (const std::string& name : names) samples.files.files.push_back({.name = name});
  return std::make_unique<MemoryDataset>(std::move(samples));
}

/// The names of the samples for validation, sorted.
std::vector<std::string> val_names(const Dataset& set, std::uint64_t seed) {
  std::vector<std::string> names;
  for (const std::int64_t i : part_of(set, {.fraction = 0.3, .seed = seed}, Part::val)) {
    names.push_back(sample_name(set, i));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("the parts of a set are disjoint and complete for every seed and fraction") {
  const auto set = uneven_set();
  Division by{};
  SUBCASE("by name") { by = Division::by_name; }
  SUBCASE("by index") { by = Division::by_index; }
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const double fraction : {0.011, 0.1, 1.0 / 3, 0.5, 0.9}) {
      CAPTURE(seed);
      CAPTURE(fraction);
      const Divided how{.fraction = fraction, .seed = seed, .by = by};
      auto all = part_of(*set, how, Part::train);
      const auto val = part_of(*set, how, Part::val);
      if (by == Division::by_index)
        CHECK(std::ssize(val) == static_cast<std::int64_t>(100 * fraction));
      CHECK(std::ranges::is_sorted(all));
      CHECK(std::ranges::is_sorted(val));
      all.insert(all.end(), val.begin(), val.end());
      std::ranges::sort(all);
      REQUIRE(std::ssize(all) == 100);
      for (std::int64_t i = 0; i < 100; ++i) CHECK(all[static_cast<std::size_t>(i)] == i);
    }
  }
}

TEST_CASE("every class gives the nearest whole number to its share to validation") {
  const auto set = uneven_set();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto val = part_of(*set, {.fraction = 0.3, .seed = seed}, Part::val);
    CHECK(of_class(*set, val, 0) == 3);
    CHECK(of_class(*set, val, 1) == 6);
    CHECK(of_class(*set, val, 2) == 21);
  }
  CHECK(part_of(*set, {.fraction = 0.3, .seed = 1}, Part::val) !=
        part_of(*set, {.fraction = 0.3, .seed = 2}, Part::val));
}

TEST_CASE("by index, every class gives its share up to one sample") {
  const auto set = uneven_set();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto val =
        part_of(*set, {.fraction = 0.3, .seed = seed, .by = Division::by_index}, Part::val);
    CHECK(std::abs(static_cast<double>(of_class(*set, val, 0)) - 3.0) < 1);
    CHECK(std::abs(static_cast<double>(of_class(*set, val, 1)) - 6.3) < 1);
    CHECK(std::abs(static_cast<double>(of_class(*set, val, 2)) - 20.7) < 1);
  }
}

TEST_CASE("samples are divided by the hash of seed and name: known values") {
  const auto set = named_set({"a", "b", "c", "d"}, {0, 0, 0, 0});
  std::vector<std::pair<std::string, std::int64_t>> expected;
  for (std::int64_t i = 0; i < 4; ++i) {
    expected.emplace_back(hash128_hex("7\n" + set->file(i)), i);
  }
  std::ranges::sort(expected);
  std::vector<std::int64_t> smallest{expected[0].second, expected[1].second};
  std::ranges::sort(smallest);
  CHECK(part_of(*set, {.fraction = 0.5, .seed = 7}, Part::val) == smallest);
}

TEST_CASE("a class keeps a sample to train on") {
  const auto set = named_set({"a", "b", "c"}, {0, 0, 1});
  CHECK(part_of(*set, {.fraction = 0.9, .seed = 1}, Part::train).size() == 2);
}

TEST_CASE("one file more moves at most one other, of its class") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::size_t count = 2; count < 40; ++count) {
      std::vector<std::string> names;
      std::vector<std::int32_t> labels;
      for (std::size_t i = 0; i < 2 * count; ++i) {
        names.push_back("file" + std::to_string(i));
        labels.push_back(i % 2 == 0 ? 0 : 1);
      }
      const auto before = val_names(*named_set(names, labels), seed);
      names.insert(names.begin(), "added");
      labels.insert(labels.begin(), 1);
      auto after = val_names(*named_set(names, labels), seed);
      std::vector<std::string> moved;
      std::ranges::set_symmetric_difference(before, after, std::back_inserter(moved));
      std::erase(moved, "added");
      CHECK(moved.size() <= 1);
    }
  }
}

TEST_CASE("a part knows the files and the indices that its samples had") {
  const auto part = subset(named_set({"a", "b", "c"}, {0, 1, 1}), {2, 0});
  CHECK(sample_name(*part, 0) == "c");
  CHECK(sample_name(*part, 1) == "a");
  const auto unnamed = subset(uneven_set(), {99, 7});
  CHECK(sample_name(*unnamed, 0) == "99");
  CHECK(sample_name(*unnamed, 1) == "7");
}

TEST_CASE("a subset of a set in memory is in memory, with its samples, labels and names") {
  const auto set = subset(uneven_set(), {99, 0, 7});
  REQUIRE(set->size() == 3);
  CHECK(std::ranges::equal(set->held().bytes, std::vector<std::uint8_t>{99, 0, 7}));
  CHECK(std::ranges::equal(set->held().labels, std::vector<std::int32_t>{1, 0, 2}));
  CHECK(set->class_names() == std::vector<std::string>{"a", "b", "c"});
  CHECK(set->fingerprint() != subset(uneven_set(), {99, 0, 8})->fingerprint());
}

TEST_CASE("a subset keeps the fields of its samples") {
  MemorySamples samples{.image = Shape{1, 1, 1}, .bytes = {1, 2, 3}, .labels = {0, 0, 0}};
  samples.classes = 1;
  const std::vector<std::int32_t> ages{10, 20, 30};
  const auto bytes = std::as_bytes(std::span(ages));
  MemoryField& age = samples.fields.emplace_back();
  age.of.name = "age";
  age.values.assign(bytes.begin(), bytes.end());
  const auto set = subset(std::make_unique<MemoryDataset>(std::move(samples)), {2, 0});
  REQUIRE(set->fields().size() == 2);
  CHECK(set->fields()[1].name == "age");
  std::vector<std::int32_t> found(2);
  for (std::int64_t i = 0; i < 2; ++i) {
    set->read_field(1, i, reinterpret_cast<std::byte*>(&found[static_cast<std::size_t>(i)]));
  }
  CHECK(found == std::vector<std::int32_t>{30, 10});
}

TEST_CASE("a part of a set that is not in memory reads the samples of the whole") {
  const auto source = synthetic_source(40);
  const auto whole = source->open({.seed = 9});
  const auto val = part_source(source, 0.25, Part::val)->open({.seed = 9});
  const auto indices = part_of(*whole, {.fraction = 0.25, .seed = 9}, Part::val);
  REQUIRE(val->size() == 10);
  CHECK(val->held().labels.empty());
  std::vector<float> expected(4), found(4);
  std::vector<std::uint8_t> bytes(4);
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::int64_t index = indices[static_cast<std::size_t>(i)];
    whole->read(index, expected.data());
    val->read(i, found.data());
    val->read_bytes(i, bytes.data());
    CHECK(found == expected);
    CHECK(std::ranges::equal(bytes, expected));
    CHECK(val->label(i) == whole->label(index));
  }
}

TEST_CASE("a fraction that leaves a part empty is refused") {
  const auto message = [](std::int64_t size, double fraction, Part part) {
    return message_of(ErrorKind::config, [&] {
      static_cast<void>(part_source(synthetic_source(size), fraction, part)->open({.seed = 1}));
    });
  };
  CHECK(message(20, 0.04, Part::val) ==
        "val_fraction: of 20 samples none remains for validation; use a larger fraction or more "
        "samples");
  CHECK(message(1, 0.9, Part::val) ==
        "val_fraction: of 1 samples none remains for validation; use a larger fraction or more "
        "samples");
}

}  // namespace trainyard
