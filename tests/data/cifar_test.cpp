#include "data/sets/cifar.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

/// Five training files of two records each (labels 0..9, every pixel 10 times the label) and one
/// test record of label 7.
void write_small_cifar(const test::TemporaryFolder& folder, const std::string& below) {
  for (int file = 1; file <= 5; ++file) {
    const int label = 2 * (file - 1);
    folder.write(below + "data_batch_" + std::to_string(file) + ".bin",
                 cifar_record(label, 10 * label) + cifar_record(label + 1, 10 * label + 10));
  }
  folder.write(below + "test_batch.bin", cifar_record(7, 70));
}

Cifar10Options cifar_options(const test::TemporaryFolder& folder, Split split = Split::train) {
  Cifar10Options options;
  options.root = folder.text();
  options.split = split;
  return options;
}

std::string data_message(const Cifar10Options& options) {
  return message_of(ErrorKind::data, [&] { (void)open_cifar10(options); });
}

}  // namespace

TEST_CASE("cifar10 reads the five training files in order") {
  const test::TemporaryFolder folder;
  write_small_cifar(folder, "");
  const auto set = open_cifar10(cifar_options(folder));
  REQUIRE(set->size() == 10);
  CHECK(set->image_shape() == Shape{3, 32, 32});
  CHECK(set->classes() == 10);
  CHECK(set->class_names().empty());
  std::vector<float> image(3072);
  for (std::int64_t i = 0; i < 10; ++i) {
    CHECK(set->label(i) == i);
    set->read(i, image.data());
    CHECK(image.front() == 10.0f * static_cast<float>(i));
    CHECK(image.back() == 10.0f * static_cast<float>(i));
  }
}

TEST_CASE("cifar10 keeps the planes red, green, blue and their rows") {
  const test::TemporaryFolder folder;
  std::string record = cifar_record(3, 0);
  record[1] = '\1';                    // red, row 0, column 0
  record[1 + 1024 + 32 + 2] = '\xff';  // green, row 1, column 2
  record[1 + 2048 + 1023] = '\3';      // blue, last
  folder.write("test_batch.bin", record);
  const auto set = open_cifar10(cifar_options(folder, Split::test));
  std::vector<float> image(3072);
  set->read(0, image.data());
  CHECK(image[0] == 1.0f);
  CHECK(image[1024 + 34] == 255.0f);
  CHECK(image[3071] == 3.0f);
  CHECK(set->held().bytes[1024 + 34] == 255);
}

TEST_CASE(
    "cifar10 finds the folder that the archive unpacks to, or says which flag would find it") {
  const test::TemporaryFolder folder;
  write_small_cifar(folder, "sub/cifar-10-batches-bin/");
  std::filesystem::create_directories(folder / "other");
  Cifar10Options options;
  options.root = folder / "sub";
  CHECK(open_cifar10(options)->size() == 10);
  options.root = folder / "other";
  options.root.others = {{folder / "none", "--set no"},
                         {folder / "sub", "--set data.train.root=s"}};
  try {
    static_cast<void>(open_cifar10(options));
    FAIL("found files that are not there");
  } catch (const Error& error) {
    CHECK(std::string(error.what())
              .ends_with("to use '" + (folder / "sub").string() + "': --set data.train.root=s"));
  }
}

TEST_CASE("cifar10 takes limit samples and class names when they are there") {
  const test::TemporaryFolder folder;
  write_small_cifar(folder, "");
  folder.write("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  Cifar10Options options = cifar_options(folder);
  options.limit = 3;
  const auto set = open_cifar10(options);
  CHECK(set->size() == 3);
  CHECK(set->held().bytes.size() == 3 * 3072);
  REQUIRE(set->class_names().size() == 10);
  CHECK(set->class_names()[9] == "j");
}

TEST_CASE("cifar10 refuses a list of names of another length") {
  const test::TemporaryFolder folder;
  write_small_cifar(folder, "");
  folder.write("batches.meta.txt", "a\nb\n");
  CHECK(data_message(cifar_options(folder)) == "'" + folder.text() +
                                                   "/batches.meta.txt' has 2 class names, "
                                                   "expected 10");
}

TEST_CASE("two classes of one name are refused") {
  const test::TemporaryFolder folder;
  write_small_cifar(folder, "");
  folder.write("batches.meta.txt", "a\nb\nc\nd\na\nf\ng\nh\ni\nj\n");
  CHECK(data_message(cifar_options(folder)) ==
        "'" + folder.text() +
            "/batches.meta.txt' has the class name 'a' twice; each class has its own");
}

TEST_CASE("the fingerprint of cifar10 changes with one byte of its files") {
  const test::TemporaryFolder folder;
  write_small_cifar(folder, "");
  const std::string before = open_cifar10(cifar_options(folder))->fingerprint();
  CHECK(before.size() == 32);
  CHECK(open_cifar10(cifar_options(folder))->fingerprint() == before);
  folder.write("data_batch_5.bin", cifar_record(8, 80) + cifar_record(9, 91));
  CHECK(open_cifar10(cifar_options(folder))->fingerprint() != before);
}

TEST_CASE("a missing cifar10 folder names the places and the download") {
  const test::TemporaryFolder folder;
  const std::string message = data_message(cifar_options(folder));
  CHECK(holds(message, "cannot find CIFAR-10: no data_batch_1.bin in '" + folder.text() +
                           "/cifar-10-batches-bin', '" + folder.text() + "'"));
  CHECK(holds(message, "in $TRAINYARD_DATA, or in data/ if that is not set"));
  CHECK(holds(message, "get it with: train data get cifar10 --to "));
  CHECK(holds(message, "train data make shapes"));
}

TEST_CASE("a missing file of cifar10 is named") {
  const test::TemporaryFolder folder;
  write_small_cifar(folder, "");
  std::filesystem::remove(folder.path() / "data_batch_3.bin");
  CHECK(data_message(cifar_options(folder)) ==
        "cannot read '" + folder.text() + "/data_batch_3.bin': No such file or directory");
}

TEST_CASE("a truncated cifar10 file is refused with its size and the expected one") {
  const test::TemporaryFolder folder;
  write_small_cifar(folder, "");
  folder.write("data_batch_2.bin", (cifar_record(1, 1) + cifar_record(2, 2)).substr(0, 6145));
  CHECK(data_message(cifar_options(folder)) ==
        "'" + folder.text() +
            "/data_batch_2.bin' is damaged: 6145 bytes, that is 1 records and 3072 bytes; "
            "expected a multiple of 3073 bytes; get the file again");
}

TEST_CASE("an empty cifar10 file is refused") {
  const test::TemporaryFolder folder;
  folder.write("test_batch.bin", "");
  CHECK(holds(data_message(cifar_options(folder, Split::test)), "is damaged: 0 bytes"));
}

TEST_CASE("a wrong cifar10 label is refused with file, record and value") {
  const test::TemporaryFolder folder;
  write_small_cifar(folder, "");
  folder.write("data_batch_4.bin", cifar_record(6, 1) + cifar_record(12, 1));
  CHECK(data_message(cifar_options(folder)) ==
        "'" + folder.text() +
            "/data_batch_4.bin': record 1 (from 0) has label 12, expected 0 to 9; the file is "
            "damaged or of another data set");
}

TEST_CASE("a pipe instead of a cifar10 file is refused and does not wait for a writer") {
  const test::TemporaryFolder folder;
  REQUIRE(mkfifo((folder.path() / "test_batch.bin").c_str(), 0600) == 0);
  CHECK(data_message(cifar_options(folder, Split::test)) ==
        "cannot read '" + folder.text() + "/test_batch.bin': it is not a regular file");
}

TEST_CASE("a file that cannot be opened is refused with the system's reason") {
  const test::TemporaryFolder folder;
  write_small_cifar(folder, "");
  std::filesystem::remove(folder.path() / "data_batch_2.bin");
  std::filesystem::create_symlink("data_batch_2.bin", folder.path() / "data_batch_2.bin");
  CHECK(data_message(cifar_options(folder)) ==
        "cannot read '" + folder.text() + "/data_batch_2.bin': Too many levels of symbolic links");
}

TEST_CASE("a folder instead of a cifar10 file is refused") {
  const test::TemporaryFolder folder;
  folder.write("test_batch.bin/x", "");
  CHECK(holds(data_message(cifar_options(folder, Split::test)), "it is not a regular file"));
}

TEST_CASE("cifar100 takes the fine or the coarse label of a record") {
  const test::TemporaryFolder folder;
  folder.write("train.bin", std::string(1, '\5') + cifar_record(77, 1));
  Cifar100Options options;
  options.root = folder.text();
  const auto fine = open_cifar100(options);
  CHECK(fine->classes() == 100);
  CHECK(fine->label(0) == 77);
  options.labels = CifarLabels::coarse;
  const auto coarse = open_cifar100(options);
  CHECK(coarse->classes() == 20);
  CHECK(coarse->label(0) == 5);
  std::vector<float> image(3072);
  coarse->read(0, image.data());
  CHECK(image[0] == 1.0f);
}

TEST_CASE("a missing cifar100 folder names its own archive") {
  const test::TemporaryFolder folder;
  Cifar100Options options;
  options.root = folder.text();
  options.split = Split::test;
  const std::string message = message_of(ErrorKind::data, [&] { (void)open_cifar100(options); });
  CHECK(holds(message, "no test.bin in"));
  CHECK(holds(message, "cifar-100-binary.tar.gz"));
}

}  // namespace trainyard
