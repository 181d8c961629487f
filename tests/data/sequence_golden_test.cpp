// Sequences against the files of scripts/make_sequence_goldens.py: what numpy writes and shuffles,
// and what Keras makes of the IMDB reviews.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "config/load.h"
#include "data/sets/numpy_array.h"
#include "data/sets/zip_file.h"
#include "data/text/imdb.h"
#include "data/text/keras_words.h"
#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

const std::filesystem::path kGoldens = std::string(TY_SOURCE_DIR) + "/tests/data/goldens";

NumpyArray array_in(const std::string& name) {
  return parse_numpy(read_bytes(kGoldens / name, ErrorKind::data, 1 << 20), name);
}

NumpyArray member_of(const std::string& archive, const std::string& name) {
  return parse_numpy(ZipFile(kGoldens / archive).read(name + ".npy"), name);
}

/// (0..23 - 7) / 4, [4, 3, 2].
std::vector<float> numbers() {
  std::vector<float> values;
  for (int i = 0; i < 24; ++i) values.push_back(static_cast<float>(i - 7) / 4);
  return values;
}

std::vector<std::int64_t> integers(const config::Node& list) {
  std::vector<std::int64_t> values;
  for (const config::Node& item : list.items) values.push_back(item.integer);
  return values;
}

/// FNV-1a over numbers of 32 bits.
std::string fnv_hex(std::span<const std::int32_t> numbers, std::uint64_t& state) {
  for (const std::int32_t number : numbers) {
    state = (state ^ static_cast<std::uint32_t>(number)) * 0x100000001B3ull;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state));
  return text;
}

const std::string kImdb = [] {
  const char* folder = std::getenv("TRAINYARD_DATA");
  if (folder == nullptr) return std::string();
  const auto table = std::filesystem::path(folder) / "imdb" / "train.tsv";
  return std::filesystem::exists(table) ? std::string(folder) : std::string();
}();

std::vector<std::int64_t> tokens_at(const Dataset& set, std::int64_t index) {
  std::vector<std::int32_t> tokens(80);
  set.read_field(1, index, reinterpret_cast<std::byte*>(tokens.data()));
  return {tokens.begin(), tokens.end()};
}

void check_imdb(const std::string& name, Split split) {
  const config::Node golden = *config::load_yaml((kGoldens / "imdb.yaml").string()).find(name);
  ImdbOptions options;
  options.root = kImdb;
  options.split = split;
  const auto set = open_imdb(options);
  REQUIRE(set->size() == 25000);
  CHECK(tokens_at(*set, 0) == integers(*golden.find("first")));
  CHECK(tokens_at(*set, 24999) == integers(*golden.find("last")));
  std::uint64_t tokens_state = 0xCBF29CE484222325ull, labels_state = tokens_state;
  std::string tokens_hash, labels_hash;
  std::vector<std::int64_t> first_labels;
  for (std::int64_t i = 0; i < set->size(); ++i) {
    const std::vector<std::int64_t> wide = tokens_at(*set, i);
    tokens_hash = fnv_hex(std::vector<std::int32_t>(wide.begin(), wide.end()), tokens_state);
    const std::int32_t label = set->label(i);
    labels_hash = fnv_hex({&label, 1}, labels_state);
    if (i < 10) first_labels.push_back(label);
  }
  CHECK(tokens_hash == golden.find("tokens")->text);
  CHECK(labels_hash == golden.find("labels")->text);
  CHECK(first_labels == integers(*golden.find("first_labels")));
}

}  // namespace

TEST_CASE(
    "numbers of every type, order of bytes and order of indices are read as numpy wrote them") {
  for (const char* name : {"f2.npy", "f8_big.npy", "fortran.npy"}) {
    CAPTURE(name);
    const NumpyArray array = array_in(name);
    CHECK(array.shape == std::vector<std::int64_t>{4, 3, 2});
    CHECK(floats_of(array) == numbers());
  }
  CHECK(floats_of(member_of("numbers.npz", "x")) == numbers());
  std::vector<std::int32_t> quarters, naturals, positive;
  for (int i = 0; i < 24; ++i) {
    quarters.push_back(i - 7);
    naturals.push_back(i);
    positive.push_back(i > 7);
  }
  CHECK(integers_of(array_in("i1.npy")) == quarters);
  CHECK(integers_of(array_in("u4_big.npy")) == naturals);
  CHECK(integers_of(array_in("bool.npy")) == positive);
  CHECK(integers_of(array_in("classes.npy")) == std::vector<std::int32_t>{0, 2, 1, 2});
}

TEST_CASE("stored and deflated members are read as numpy wrote them") {
  CHECK(ZipFile(kGoldens / "numbers.npz").names() == std::vector<std::string>{"x.npy", "y.npy"});
  CHECK(integers_of(member_of("numbers.npz", "y")) == std::vector<std::int32_t>{0, 2, 1, 2});
  CHECK(integers_of(member_of("tokens.npz", "x")) ==
        std::vector<std::int32_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1});
  CHECK(integers_of(member_of("tokens.npz", "y")) ==
        std::vector<std::int32_t>{1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2});
}

TEST_CASE("pickled objects are refused with the reason") {
  const std::string message = message_of(ErrorKind::data, [] { (void)array_in("objects.npy"); });
  CHECK(message ==
        "'objects.npy': holds pickled Python objects, which run code when they are read, and are "
        "refused; save numbers instead: numpy.array(x, dtype=...) of sequences of one length");
}

TEST_CASE("one seed gives numpy's shuffles one after another") {
  NumpyRandom random(113);
  for (const config::Node& row : config::load_yaml((kGoldens / "shuffles.yaml").string()).items) {
    const std::vector<std::int64_t> order = integers(row);
    CHECK(random.shuffled(std::ssize(order)) == order);
  }
}

TEST_CASE("every training review is the sequence that Keras gives" * doctest::skip(kImdb.empty())) {
  check_imdb("train", Split::train);
}

TEST_CASE("every test review is the sequence that Keras gives" * doctest::skip(kImdb.empty())) {
  check_imdb("test", Split::test);
}

}  // namespace trainyard
