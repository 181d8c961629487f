#include "data/sets/pack.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/hash.h"
#include "data/sets/epoch_order.h"
#include "data/sets/pack_layout.h"
#include "data/sets/synthetic.h"
#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

namespace fs = std::filesystem;

const Shape kPackedShape{3, 5, 7};

PackOptions pack_options(const fs::path& file) {
  PackOptions options;
  options.file = file.string();
  return options;
}

/// A pack of 61 samples in blocks of 8.
fs::path small_pack(const test::TemporaryFolder& folder) {
  const auto set = test::random_bytes_set(61, kPackedShape);
  write_pack(*set, folder / "small.pack", {.block = 8, .seed = 4, .threads = 3});
  return folder / "small.pack";
}

std::string pack_message(const fs::path& file, PackCheck check = PackCheck::opening) {
  PackOptions options = pack_options(file);
  options.check = check;
  return message_of(ErrorKind::data, [&] { (void)open_pack(options); });
}

std::string read_file(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a pack has the samples, labels and names of its source in a seeded order") {
  const test::TemporaryFolder folder;
  const auto set = test::random_bytes_set(61, kPackedShape);
  const auto pack = open_pack(pack_options(small_pack(folder)));
  REQUIRE(pack->size() == 61);
  CHECK(pack->image_shape() == kPackedShape);
  CHECK(pack->classes() == set->classes());
  CHECK(pack->block() == 8);
  CHECK(pack->held().bytes.empty());  // a mapped pack is not in memory
  REQUIRE(pack->eight_bit());
  const auto order = epoch_order(4, 0, 61, true);
  const auto elements = static_cast<std::size_t>(kPackedShape.elements());
  std::vector<float> expected(elements), floats(elements);
  std::vector<std::uint8_t> bytes(elements);
  for (std::int64_t i = 0; i < 61; ++i) {
    const std::int64_t index = order[static_cast<std::size_t>(i)];
    set->read(index, expected.data());
    pack->read(i, floats.data());
    pack->read_bytes(i, bytes.data());
    CHECK(floats == expected);
    CHECK(std::ranges::equal(bytes, expected));
    CHECK(pack->label(i) == set->label(index));
  }
}

TEST_CASE("equal sources give equal packs for any number of threads") {
  const test::TemporaryFolder folder;
  const auto set = test::random_bytes_set(61, kPackedShape);
  write_pack(*set, folder / "a", {.block = 8, .threads = 1});
  write_pack(*set, folder / "b", {.block = 8, .threads = 4});
  CHECK(read_file(folder / "a") == read_file(folder / "b"));
}

TEST_CASE("the names of classes are kept, and a limit takes the first samples") {
  const test::TemporaryFolder folder;
  MemorySamples samples{.image = Shape{1, 1, 1},
                        .bytes = {1, 2, 3},
                        .labels = {0, 1, 1},
                        .classes = 2,
                        .class_names = {"a cat", "\"dog\""}};
  const MemoryDataset set(std::move(samples));
  write_pack(set, folder / "p", {});
  PackOptions options = pack_options(folder / "p");
  CHECK(open_pack(options)->class_names() == std::vector<std::string>{"a cat", "\"dog\""});
  const std::string fingerprint = open_pack(options)->fingerprint();
  options.limit = 2;
  CHECK(open_pack(options)->size() == 2);
  CHECK(open_pack(options)->fingerprint() != fingerprint);
}

TEST_CASE("a block of a pack has about 1 MiB unless it is given") {
  const test::TemporaryFolder folder;
  SyntheticOptions options;
  options.shape = {3, 64, 64};
  options.size = 100;
  write_pack(*open_synthetic(options, 1), folder / "p", {});
  CHECK(open_pack(pack_options(folder / "p"))->block() == 85);
}

TEST_CASE("every changed byte of a pack is found") {
  const test::TemporaryFolder folder;
  const std::string whole = read_file(small_pack(folder));
  const std::size_t labels_at = (61 * 105 + 63) / 64 * 64;
  int unnoticed = 0;
  for (std::size_t i = 0; i < whole.size(); i += i < labels_at - 128 ? 97 : 1) {
    CAPTURE(i);
    const bool padding = i >= 61 * 105 && i < labels_at;
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    folder.write("changed", changed);
    const std::string message = pack_message(folder / "changed");
    unnoticed += padding && message == "no error";
    if (!padding) CHECK(holds(message, "changed' is "));
  }
  CHECK(unnoticed == static_cast<int>(labels_at - 61 * 105));  // the bytes that mean nothing
}

TEST_CASE("a pack cut anywhere is refused") {
  const test::TemporaryFolder folder;
  const std::string whole = read_file(small_pack(folder));
  for (const std::size_t size : {std::size_t{1}, std::size_t{63}, std::size_t{64}, whole.size() / 2,
                                 whole.size() - 64, whole.size() - 1}) {
    folder.write("cut", whole.substr(0, size));
    CHECK(
        holds(pack_message(folder / "cut"), "cut' is not a pack of this version, or is truncated"));
  }
  folder.write("cut", whole.substr(1));
  CHECK(holds(pack_message(folder / "cut"), "bytes, but its header describes"));
  folder.write("empty", "");
  CHECK(holds(pack_message(folder / "empty"), "empty' is empty"));
  CHECK(holds(pack_message(folder / "missing"), "missing' cannot be opened: No such file"));
}

TEST_CASE("a damaged block is an error when it is read, and names its samples") {
  const test::TemporaryFolder folder;
  std::string changed = read_file(small_pack(folder));
  changed[105 * 17] = static_cast<char>(changed[105 * 17] ^ 1);
  folder.write("changed", changed);
  CHECK(pack_message(folder / "changed", PackCheck::reading) == "no error");
  const auto pack = open_pack(pack_options(folder / "changed"));
  std::vector<float> image(105);
  pack->read(15, image.data());
  const std::string message = message_of(ErrorKind::data, [&] { pack->read(20, image.data()); });
  CHECK(holds(message, "is damaged: the samples from 16 to 23 do not match their hash"));
}

TEST_CASE("a pack that is cut while it is open is an error when it is read") {
  const test::TemporaryFolder folder;
  const fs::path file = small_pack(folder);
  const auto pack = open_pack(pack_options(file));
  const std::string whole = std::to_string(fs::file_size(file));
  std::vector<std::uint8_t> image(105);
  pack->read_bytes(0, image.data());
  fs::resize_file(file, 100);
  for (const std::int64_t index : {0, 60}) {
    CHECK(message_of(ErrorKind::data, [&] { pack->read_bytes(index, image.data()); }) ==
          "'" + file.string() + "' has 100 bytes, but had " + whole +
              " when it was opened; do not change a file that is in use");
  }
}

TEST_CASE("headers whose numbers do not fit are refused") {
  const PackHeader good{.image = Shape{1, 2, 2},
                        .samples = 3,
                        .classes = 2,
                        .block = 2,
                        .hashes = {std::string(32, '0'), std::string(32, '0')},
                        .labels_hash = std::string(32, '0')};
  const auto message = [](const PackHeader& header) {
    const std::string file = std::string(64, '\0') + std::string(12, '\0') + pack_tail(header);
    return message_of(ErrorKind::data,
                      [&] { (void)pack_header(std::as_bytes(std::span(file)), "p"); });
  };
  CHECK(message(good) == "no error");
  const auto changed = [&](const auto& change) {
    PackHeader header = good;
    change(header);
    return message(header);
  };
  CHECK(changed([](auto& h) {
          h.image = Shape{1, 2, 0};
        }) == "'p' is damaged: its image has a wrong extent");
  CHECK(changed([](auto& h) {
          h.image = Shape{1 << 20, 1 << 20, 1 << 20};
        }) == "'p' is damaged: its image is too large");
  CHECK(changed([](auto& h) { h.samples = std::int64_t{1} << 62; }) ==
        "'p' is damaged: its number of samples is wrong");
  // 5 bytes a sample are 2^64 + 14.
  CHECK(changed([](auto& h) {
          h.image = Shape{1, 1, 1};
          h.samples = 3689348814741910326;
        }) == "'p' is damaged: its number of samples is wrong");
  CHECK(changed([](auto& h) { h.block = 0; }) == "'p' is damaged: its block is wrong");
  CHECK(changed([](auto& h) { h.classes = 0; }) ==
        "'p' is damaged: its number of classes is wrong");
  CHECK(changed([](auto& h) { h.class_names = {"a"}; }) ==
        "'p' is damaged: its classes and their names differ in number");
  CHECK(changed([](auto& h) { h.hashes.pop_back(); }) == "'p' is damaged: it lacks hashes");
  CHECK(holds(changed([](auto& h) { h.samples = 4; }), "bytes, but its header describes"));
}

TEST_CASE("numbers of a pack's header that are not whole are refused") {
  const std::string good = R"({"image":[1,2,2],"samples":3,"classes":2,"class_names":[],"block":3,)"
                           R"("labels_hash":"","hashes":"00000000000000000000000000000000"})";
  const auto message = [](const std::string& header) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016zx", header.size());
    const std::string file = std::string(64 + 12, '\0') + header + "trainyard pack 1" + digits +
                             hash128_hex(std::string_view(header));
    return message_of(ErrorKind::data,
                      [&] { (void)pack_header(std::as_bytes(std::span(file)), "p"); });
  };
  CHECK(message(good) == "no error");
  for (const auto& [from, to] : {std::pair{"[1,2,2]", "[1.5,2,2]"},
                                 {"\"samples\":3", "\"samples\":3.0"},
                                 {"\"classes\":2", "\"classes\":true"},
                                 {"\"block\":3", "\"block\":\"3\""}}) {
    std::string header = good;
    header.replace(header.find(from), std::string_view(from).size(), to);
    CAPTURE(to);
    CHECK(holds(message(header),
                "'p' is damaged: its header lacks a value or has one of another type"));
  }
}

TEST_CASE("only the blocks of a pack that were read last stay in memory") {
  const test::TemporaryFolder folder;
  SyntheticOptions options;
  options.shape = {1, 64, 64};
  options.size = 6000;
  write_pack(*open_synthetic(options, 1), folder / "p", {.block = 16});  // blocks of 64 KiB, 24 MB
  const auto pack = open_pack(pack_options(folder / "p"));
  const EpochOrder order({.seed = 1, .size = pack->size(), .block = pack->block()});
  std::vector<std::uint8_t> image(4096);
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < pack->size(); ++i) {
    pack->read_bytes(order[i], image.data());
    if (i % 500 == 0) most = std::max(most, test::resident_kilobytes(folder / "p"));
  }
  most = std::max(most, test::resident_kilobytes(folder / "p"));
  // 48 blocks of 64 KiB, up to 16 pages on each side of one, and labels and header.
  CHECK(most >= 48 * 64 / 2);
  CHECK(most <= 48 * (64 + 128) + 256);
}

TEST_CASE("a pack is refused for sets that it cannot hold, and leaves nothing") {
  const test::TemporaryFolder folder;
  MemorySamples floats{.image = Shape{1, 1, 1}, .floats = {1}, .labels = {0}, .classes = 1};
  const MemoryDataset set(std::move(floats));
  CHECK(holds(message_of(ErrorKind::data, [&] { write_pack(set, folder / "p", {}); }),
              "the images are not 8-bit"));
  small_pack(folder);
  const auto bytes = test::random_bytes_set(3, kPackedShape);
  CHECK(message_of(ErrorKind::disk, [&] { write_pack(*bytes, folder / "small.pack", {}); }) ==
        "'" + (folder / "small.pack").string() + "' exists; remove it or give another name");
}

TEST_CASE("a sample that cannot be read leaves no pack behind") {
  /// Fails at sample 40.
  class Failing final : public Dataset {
   public:
    [[nodiscard]] std::int64_t size() const override { return 61; }
    [[nodiscard]] Shape image_shape() const override { return {1, 1, 1}; }
    [[nodiscard]] std::int64_t classes() const override { return 1; }
    void read(std::int64_t, float*) const override {}
    [[nodiscard]] bool eight_bit() const override { return true; }
    void read_bytes(std::int64_t index, std::uint8_t* image) const override {
      if (index == 40) throw Error(ErrorKind::data, "sample 40 is bad");
      *image = 0;
    }
    [[nodiscard]] std::int32_t label(std::int64_t) const override { return 0; }
    [[nodiscard]] std::string fingerprint() const override { return ""; }
  };
  const test::TemporaryFolder folder;
  folder.write("p.partial", "of an interrupted run");
  CHECK(message_of(ErrorKind::data, [&] {
          write_pack(Failing(), folder / "p", {.block = 2, .threads = 2});
        }) == "sample 40 is bad");
  CHECK(fs::is_empty(folder.path()));
}

}  // namespace trainyard
