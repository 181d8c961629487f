#include "data/sets/arrays.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <array>

#include "data/sets/numpy_array.h"
#include "data/sets/zip_file.h"
#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

/// A .npy file of version 1 with this dictionary.
std::string npy(const std::string& dictionary, const std::string& values) {
  return "\x93NUMPY" + std::string("\1\0", 2) + little(dictionary.size(), 2) + dictionary + values;
}

std::string npy_of(const std::string& type, const std::string& shape, const std::string& values) {
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n",
             values);
}

std::string bytes_file(const std::string& shape, const std::string& values) {
  return npy_of("|i1", shape, values);
}

struct ZipForm {
  std::string contents;     // as stored
  std::uint64_t bytes = 0;  // claimed size of the contents; 0: the true one
  int method = 0, flags = 0;
  bool wide = false;  // 64-bit sizes, and a second end record
  std::uint32_t crc_change = 0;
};

/// An archive with the one member x.npy.
std::string zip_of(const ZipForm& form) {
  const auto crc =
      static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(form.contents.data()),
                                       static_cast<uInt>(form.contents.size()))) ^
      form.crc_change;
  const std::uint64_t packed = form.contents.size();
  const std::uint64_t bytes = form.bytes == 0 ? packed : form.bytes;
  const auto size = [&](std::uint64_t value) { return little(form.wide ? 0xffffffff : value, 4); };
  const std::string wide =
      form.wide ? little(1, 2) + little(24, 2) + little(bytes, 8) + little(packed, 8) + little(0, 8)
                : "";
  const std::string common = little(20, 2) + little(static_cast<std::uint64_t>(form.flags), 2) +
                             little(static_cast<std::uint64_t>(form.method), 2) + little(0, 4) +
                             little(crc, 4) + size(packed) + size(bytes) + little(5, 2);
  const std::string local = "PK\3\4" + common + little(0, 2) + "x.npy" + form.contents;
  const std::string entry = "PK\1\2" + little(20, 2) + common + little(wide.size(), 2) +
                            little(0, 2) + little(0, 4) + little(0, 4) + size(0) + "x.npy" + wide;
  std::string end;
  if (form.wide) {
    end = "PK\6\6" + little(44, 8) + little(0, 4) + little(0, 8) + little(1, 8) + little(1, 8) +
          little(entry.size(), 8) + little(local.size(), 8);
    end += "PK\6\7" + little(0, 4) + little(local.size() + entry.size(), 8) + little(1, 4);
  }
  const std::uint64_t count = form.wide ? 0xffff : 1;
  return local + entry + end + "PK\5\6" + little(0, 4) + little(count, 2) + little(count, 2) +
         size(entry.size()) + size(local.size()) + little(0, 2);
}

std::string numpy_message(const std::string& file) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(file.data());
  return message_of(ErrorKind::data, [&] {
    const NumpyArray array = parse_numpy({bytes, bytes + file.size()}, "a.npy");
    (void)floats_of(array);
    (void)integers_of(array);
  });
}

std::string zip_message(const std::string& archive, const std::string& member = "x.npy") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("a.npz", archive);
  std::string message = message_of(ErrorKind::data, [&] { (void)ZipFile(path).read(member); });
  const std::size_t at = message.find(path.string());
  if (at != std::string::npos) message.replace(at, path.string().size(), "a.npz");
  return message;
}

struct Arrays {
  test::TemporaryFolder folder;
  ArraysOptions options(const std::string& x, const std::string& y) const {
    ArraysOptions options;
    options.x = folder.write("x.npy", x).string();
    options.y = folder.write("y.npy", y).string();
    return options;
  }
  std::string message(const std::string& x, const std::string& y, std::int64_t vocabulary = 0) {
    ArraysOptions given = options(x, y);
    given.vocabulary = vocabulary;
    return message_of(ErrorKind::data, [&] { (void)open_arrays(given); });
  }
};

const std::string kNumbers =
    bytes_file("(2, 3, 2)", std::string("\0\1\2\3\4\5\6\7\10\11\12\13", 12));
const std::string kTokens = bytes_file("(2, 3)", std::string("\0\1\2\3\4\0", 6));
const std::string kClasses = bytes_file("(2,)", std::string("\1\0", 2));

}  // namespace

TEST_CASE("numbers become images of features and steps") {
  const Arrays arrays;
  const auto set = open_arrays(arrays.options(kNumbers, kClasses));
  CHECK(set->size() == 2);
  CHECK(set->image_shape() == Shape{2, 1, 3});
  CHECK(set->classes() == 2);
  CHECK(set->label(0) == 1);
  std::vector<float> image(6);
  set->read(1, image.data());
  CHECK(image == std::vector<float>{6, 8, 10, 7, 9, 11});
  const auto flat = open_arrays(arrays.options(bytes_file("(2, 3)", "abcdef"), kClasses));
  CHECK(flat->image_shape() == Shape{1, 1, 3});
}

TEST_CASE("numbers may have a class at each step, and lengths") {
  const Arrays arrays;
  ArraysOptions options = arrays.options(kNumbers, kTokens);
  arrays.folder.write("lengths.npy", bytes_file("(2,)", std::string("\3\1", 2)));
  options.lengths = (arrays.folder / "lengths.npy").string();
  const auto set = open_arrays(options);
  CHECK(set->size() == 2);
  CHECK(set->classes() == 5);
  CHECK(set->label(0) == 2);
  REQUIRE(set->fields() == std::vector<SampleField>{{.shape = {3}}, {.name = kLengthField}});
  std::vector<std::int32_t> labels(3);
  set->read_field(0, 1, reinterpret_cast<std::byte*>(labels.data()));
  CHECK(labels == std::vector<std::int32_t>{3, 4, 0});
  std::int32_t length = 0;
  set->read_field(1, 1, reinterpret_cast<std::byte*>(&length));
  CHECK(length == 1);
  CHECK(set->fingerprint() != open_arrays(arrays.options(kNumbers, kTokens))->fingerprint());
  options.limit = 1;
  CHECK(open_arrays(options)->size() == 1);
}

TEST_CASE("lengths that do not fit are refused") {
  const Arrays arrays;
  ArraysOptions options = arrays.options(kNumbers, kClasses);
  options.lengths = (arrays.folder / "lengths.npy").string();
  const auto refused = [&](const std::string& lengths) {
    arrays.folder.write("lengths.npy", lengths);
    return message_of(ErrorKind::data, [&] { (void)open_arrays(options); });
  };
  const std::string file = "'" + options.lengths.string() + "'";
  CHECK(refused(bytes_file("(3,)", "abc")) ==
        file + " is i1 [3], expected whole numbers [2]: the steps of each sample");
  CHECK(refused(bytes_file("(2,)", std::string("\3\4", 2))) ==
        file + ": length 1 (from 0) is 4, expected 0 to 3, the steps of x");
}

TEST_CASE("whole numbers below a vocabulary become tokens, with a class or one for each position") {
  const Arrays arrays;
  ArraysOptions options = arrays.options(kTokens, kClasses);
  options.vocabulary = 5;
  const auto set = open_arrays(options);
  CHECK_FALSE(has_images(*set));
  CHECK(set->vocabulary()->size() == 5);
  std::vector<std::int32_t> tokens(3);
  set->read_field(1, 1, reinterpret_cast<std::byte*>(tokens.data()));
  CHECK(tokens == std::vector<std::int32_t>{3, 4, 0});
  options = arrays.options(kTokens, kTokens);
  options.vocabulary = 5;
  CHECK(open_arrays(options)->fields()[0].shape == Shape{3});
  options.limit = 1;
  CHECK(open_arrays(options)->size() == 1);
}

TEST_CASE("real numbers are a field of two outputs, and rows of vectors are no sequences") {
  Arrays arrays;
  const std::array<float, 4> y{0.5F, -2, 3, 1e6F};
  ArraysOptions options = arrays.options(
      kTokens, npy_of("<f4", "(2, 2)", {reinterpret_cast<const char*>(y.data()), sizeof y}));
  options.vectors = true;
  const auto set = open_arrays(options);
  CHECK(set->image_shape() == Shape{3, 1, 1});
  CHECK(set->label(1) == -1);
  CHECK(set->classes() == 0);
  REQUIRE(set->fields().size() == 2);
  CHECK(set->fields()[1] == SampleField{.name = "y", .shape = {2}, .type = DType::f32});
  std::array<float, 2> row{};
  set->read_field(1, 1, reinterpret_cast<std::byte*>(row.data()));
  CHECK(row == std::array{3.0F, 1e6F});
}

TEST_CASE("a member with 64-bit sizes is found") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("a.npz", zip_of({.contents = kClasses, .wide = true}));
  CHECK(ZipFile(path).read("x.npy").size() == kClasses.size());
}

TEST_CASE("unsuitable arrays are refused with what is expected") {
  Arrays arrays;
  const std::string x = "'" + (arrays.folder / "x.npy").string() + "'";
  const std::string y = "'" + (arrays.folder / "y.npy").string() + "'";
  CHECK(arrays.message(kClasses, kClasses) ==
        x + " is i1 [2], expected numbers [n, steps, features] or [n, steps], at least one");
  CHECK(arrays.message(bytes_file("(0, 3)", ""), kClasses) ==
        x + " is i1 [0, 3], expected numbers [n, steps, features] or [n, steps], at least one");
  for (const std::int64_t vocabulary : {0, 5}) {
    CHECK(arrays.message(vocabulary == 0 ? kNumbers : kTokens, bytes_file("(2, 4)", "aaaabbbb"),
                         vocabulary) ==
          y + " is i1 [2, 4], expected whole numbers [2] or [2, 3]: a class for each sample of x, "
              "or for each of its steps; or real numbers [2] or [2, outputs]; of one-hot labels "
              "take numpy.argmax(y, -1)");
  }
  CHECK(arrays.message(kNumbers, npy_of("<f4", "(1, 1)", std::string(4, '\0'))) ==
        y + " is f4 [1, 1], expected real numbers [2] or [2, outputs]");
  CHECK(arrays.message(kNumbers, kClasses, 5) ==
        x + " is i1 [2, 3, 2], expected whole numbers [n, steps], at least one: tokens of the "
            "'vocabulary'");
  CHECK(arrays.message(kTokens, kClasses, 4) ==
        x + ": sample 1 (from 0) has token 4, expected 0 to 3: below 'vocabulary'");
  CHECK(arrays.message(kNumbers, bytes_file("(2,)", "\1\xff")) ==
        y + ": label 1 (from 0) is -1, expected 0 to 1");
}

TEST_CASE("a file that is not an array of numbers is refused with the reason") {
  CHECK(numpy_message("PK\3\4 and more of it") ==
        "'a.npy': is no .npy file: it does not begin with \\x93NUMPY");
  CHECK(numpy_message("\x93NUMPY" + std::string("\4\0\0\0\0\0", 6)) ==
        "'a.npy': has version 4 of the .npy format, expected 1 to 3");
  CHECK(numpy_message("\x93NUMPY" + std::string("\1\0\377\0{}", 6)) ==
        "'a.npy': its header of 255 bytes is longer than the file, or 65536");
  CHECK(numpy_message(bytes_file("(3,)", "ab")) ==
        "'a.npy': is i1 [3], but has 2 bytes of values; is it cut?");
  CHECK(numpy_message(bytes_file("(2,)", "abc")) ==
        "'a.npy': is i1 [2], but has 3 bytes of values; is it cut?");
  CHECK(holds(numpy_message(bytes_file("(4294967296, 4294967296, 4294967296)", "a")),
              "but has 1 bytes of values"));
  CHECK(numpy_message(npy_of("<c8", "(1,)", "abcdefgh")) ==
        "'a.npy': has elements of type '<c8', expected b1, i1 to i8, u1 to u8 or f2 to f8");
  CHECK(
      numpy_message(npy("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}", "")) ==
      "'a.npy': is an array of records; save each field as an array of its own");
  CHECK(numpy_message(npy("{'descr': '|i1', 'shape': (1,)}", "a")) ==
        "'a.npy': its header is \"{'descr': '|i1', 'shape': (1,)}\", expected {'descr': ..., "
        "'fortran_order': ..., 'shape': ...}");
  for (const char* header :
       {"{", "{'descr'}", "{'descr': 1}", "{'x': 1}", "{'shape': (a,)}",
        "{'shape': (1,1,1,1,1,1,1,1,1)}", "{'fortran_order': true}",
        "{'descr': '|i1', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '|i1', 'shape': (1,), 'shape': (1,)}",
        "{'descr': '|i1', 'fortran_order': False, 'shape': (1,), 'shape': ()}"}) {
    CAPTURE(header);
    CHECK(holds(numpy_message(npy(header, "a")), "'a.npy': its header is \""));
  }
  CHECK(numpy_message(npy_of("<f4", "(2,)", little(0, 4) + little(0x7f800000, 4))) ==
        "'a.npy': element 1 (from 0, last index fastest) is not finite in 32 bits");
  CHECK(numpy_message(npy_of("<i8", "(1,)", little(std::uint64_t{1} << 40, 8))) ==
        "'a.npy': element 0 (from 0, last index fastest) does not fit 32 bits");
  CHECK(numpy_message(npy_of("<f4", "(1,)", little(0, 4))) ==
        "'a.npy': is f4 [1], expected whole numbers");
}

TEST_CASE("the header of an array in an archive is judged before all of it is inflated") {
  const std::string array = bytes_file("(2,)", std::string(1 << 20, '\0'));
  uLongf size = compressBound(array.size());
  std::string packed(size, '\0');
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                   reinterpret_cast<const Bytef*>(array.data()), array.size()) == Z_OK);
  packed = packed.substr(2, size - 2 - 4);                     // without zlib's frame
  std::ranges::fill(packed.end() - 20, packed.end(), '\xff');  // damage far behind the header
  const test::TemporaryFolder folder;
  ArraysOptions options;
  options.file =
      folder.write("a.npz", zip_of({.contents = packed, .bytes = array.size(), .method = 8}))
          .string();
  options.x = options.y = std::string("x");
  CHECK(holds(message_of(ErrorKind::data, [&] { (void)open_arrays(options); }),
              "a.npz: x': is i1 [2], but has 1048576 bytes of values; is it cut?"));
  const ZipFile archive((folder / "a.npz"));
  CHECK(archive.start("x.npy", 100).bytes.size() == 100);
  CHECK(archive.start("x.npy", 100).size == array.size());
}

TEST_CASE("a damaged archive is refused with the reason") {
  const std::string good = zip_of({.contents = kClasses});
  CHECK(zip_message(good) == "no error");
  CHECK(zip_message("") ==
        "'a.npz' is no ZIP archive, which an .npz file is: it has no end record");
  CHECK(zip_message(good.substr(0, good.size() - 1)) ==
        "'a.npz' is no ZIP archive, which an .npz file is: it has no end record");
  CHECK(zip_message(good, "z.npy") == "'a.npz' has no member 'z.npy'; it has x.npy");
  CHECK(zip_message(zip_of({.contents = kClasses, .flags = 1})) ==
        "'a.npz' has the encrypted member 'x.npy'; store it without a password");
  CHECK(zip_message(zip_of({.contents = kClasses, .method = 14})) ==
        "'a.npz' has the member 'x.npy' in compression method 14, expected 0 (stored) or 8 "
        "(deflate); write it with numpy.savez or savez_compressed");
  CHECK(holds(zip_message(zip_of({.contents = kClasses, .bytes = 1 << 30})),
              " of 1073741824 bytes in "));
  CHECK(holds(zip_message(zip_of({.contents = kClasses, .bytes = 1 << 30, .method = 8})),
              "which cannot be; get the file again"));
  CHECK(zip_message(zip_of({.contents = kClasses, .method = 8})) ==
        "'a.npz' has a damaged member 'x.npy'; get the file again");
  CHECK(zip_message(zip_of({.contents = kClasses, .bytes = 5})) ==
        "'a.npz' has the stored member 'x.npy' with two sizes");
  CHECK(zip_message(zip_of({.contents = kClasses, .crc_change = 1})) ==
        "'a.npz' has a damaged member 'x.npy': its CRC-32 differs; get the file again");
  CHECK(zip_message("x" + good) == "'a.npz' is a damaged ZIP archive: its list of members is cut");
  std::string moved = good;
  moved[0] = 'X';
  CHECK(zip_message(moved) ==
        "'a.npz' is a damaged ZIP archive: member 'x.npy' is not where its list says");
  std::string far = good;
  far.replace(far.size() - 6, 4, little(0x7fffffff, 4));
  CHECK(zip_message(far) == "'a.npz' is a damaged ZIP archive: a part of it is past its end");
  std::string many = good;
  many.replace(many.size() - 12, 2, little(9, 2));
  CHECK(zip_message(many) == "'a.npz' is a damaged ZIP archive: its list of members is cut");
}

}  // namespace trainyard
