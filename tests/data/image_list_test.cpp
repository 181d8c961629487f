#include "data/sets/image_list.h"

#include <doctest/doctest.h>

#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

/// A png of 2 x 1 pixels of one colour.
std::string listed_png(char value) { return test::png_of({.w = 2, .h = 1}, std::string(6, value)); }

/// Three images of the colours 1, 2 and 3.
void write_images(const test::TemporaryFolder& folder) {
  folder.write("a/1.png", listed_png(1));
  folder.write("a/2, two.png", listed_png(2));
  folder.write("b/3.png", listed_png(3));
}

ImageListOptions list_options(const test::TemporaryFolder& folder, const std::string& text) {
  folder.write("list.csv", text);
  ImageListOptions options;
  options.file = (folder / "list.csv").string();
  return options;
}

/// The message without the path of the list.
std::string list_message(const ImageListOptions& options) {
  std::string text = message_of(ErrorKind::data, [&] { (void)open_image_list(options); });
  const std::string file = "'" + options.file.string() + "'";
  if (text.starts_with(file)) text.replace(0, file.size(), "LIST");
  return text;
}

std::string line_message(const std::string& text) {
  const test::TemporaryFolder folder;
  write_images(folder);
  return list_message(list_options(folder, text));
}

/// The colour of each sample.
std::vector<int> colors(const Dataset& set) {
  std::vector<int> found;
  std::vector<float> image(static_cast<std::size_t>(set.image_shape().elements()));
  for (std::int64_t i = 0; i < set.size(); ++i) {
    set.read(i, image.data());
    found.push_back(static_cast<int>(image[0]));
  }
  return found;
}

std::vector<int> labels(const Dataset& set) {
  std::vector<int> found;
  for (std::int64_t i = 0; i < set.size(); ++i) found.push_back(set.label(i));
  return found;
}

}  // namespace

TEST_CASE("a list gives its images in its order, with quotes, blank lines and CRLF") {
  const test::TemporaryFolder folder;
  write_images(folder);
  const auto set =
      open_image_list(list_options(folder, "b/3.png,1\r\n\r\n\"a/2, two.png\",4\r\na/1.png,0"));
  CHECK(colors(*set) == std::vector<int>{3, 2, 1});
  CHECK(labels(*set) == std::vector<int>{1, 4, 0});
  CHECK(set->classes() == 5);
  CHECK(set->class_names().empty());
}

TEST_CASE("labels by name are classes in the order of the names, or of the file of names") {
  const test::TemporaryFolder folder;
  write_images(folder);
  ImageListOptions options = list_options(folder, "a/1.png,cat\nb/3.png,dog\na/1.png,ant\n");
  options.labels = ListLabels::name;
  const auto sorted = open_image_list(options);
  CHECK(labels(*sorted) == std::vector<int>{1, 2, 0});
  CHECK(sorted->class_names() == std::vector<std::string>{"ant", "cat", "dog"});
  folder.write("names.txt", "dog\nwolf\ncat\nant\n");
  options.class_names = (folder / "names.txt").string();
  const auto given = open_image_list(options);
  CHECK(labels(*given) == std::vector<int>{2, 0, 3});
  CHECK(given->classes() == 4);
  folder.write("names.txt", "dog\ncat\n");
  CHECK(list_message(options) == "LIST, line 3: 'ant' is not in the file of class names");
}

TEST_CASE("a header names the columns, of which two are used") {
  const test::TemporaryFolder folder;
  write_images(folder);
  ImageListOptions options =
      list_options(folder, "id\tclass\tfile\n7\t2\ta/1.png\n8\t0\ta/2, two.png\n");
  options.separator = Separator::tab;
  options.header = true;
  options.path = "file";
  options.label = "class";
  const auto set = open_image_list(options);
  CHECK(colors(*set) == std::vector<int>{1, 2});
  CHECK(labels(*set) == std::vector<int>{2, 0});
  options.label = "species";
  CHECK(list_message(options) ==
        "LIST has the columns id, class, file, but none named 'species': set the key 'label' to "
        "the name of the one with their labels");
}

TEST_CASE("columns may be named without a header, and a space may divide path and label") {
  const test::TemporaryFolder folder;
  write_images(folder);
  ImageListOptions options = list_options(folder, "0\t2\tb/3.png\n");
  options.separator = Separator::tab;
  options.columns.order = {"index", "label", "path"};
  CHECK(labels(*open_image_list(options)) == std::vector<int>{2});
  ImageListOptions spaced = list_options(folder, "a/2, two.png 5\n");
  spaced.separator = Separator::space;
  CHECK(labels(*open_image_list(spaced)) == std::vector<int>{5});
  spaced = list_options(folder, "a/1.png 0\nb/3.png\n");
  spaced.separator = Separator::space;
  CHECK(list_message(spaced) ==
        "LIST, line 2: has no space, which 'separator: space' divides it at");
}

TEST_CASE("paths may be relative to a root elsewhere") {
  const test::TemporaryFolder folder, lists;
  write_images(folder);
  ImageListOptions options = list_options(lists, "a/1.png,0\n");
  options.root = folder.text();
  CHECK(colors(*open_image_list(options)) == std::vector<int>{1});
}

TEST_CASE("a line of a list that is wrong is named with its number and what was found") {
  CHECK(holds(line_message("path,label\na/1.png,0\n"),
              "LIST, line 1: label 'label' is not a whole number from 0;"));
  CHECK(line_message("a/1.txt,0\n") ==
        "LIST, line 1: 'a/1.txt' is not named as a JPEG, PNG, WebP, GIF or BMP file");
  CHECK(line_message("a/1.png,0\na/1.png,\n") == "LIST, line 2: has no label: its cell is empty");
  CHECK(line_message("a/1.png, \n") == "LIST, line 1: has no label: its cell is empty");
  CHECK(line_message("a/1.png,0\n\na/1.png\n") ==
        "LIST, line 3: has 1 cell, expected 2 (path, label)");
  CHECK(line_message("a/1.png,cat\n") ==
        "LIST, line 1: label 'cat' is not a whole number from 0; for names of classes set "
        "'labels: name', for a first line of column names 'header: true'");
  CHECK(holds(line_message("a/1.png,-1\n"), "label '-1' is not a whole number"));
  CHECK(holds(line_message("a/1.png,2147483647\n"), "is not a whole number"));
  CHECK(line_message("\"a/1.png,0\n") == "LIST, line 1: a quote is not closed");
  CHECK(line_message("a/1.png,0\n\"a/1.png\"x,0\n") ==
        "LIST, line 2: text follows a closing quote; write a quote in a cell as \"\"");
  CHECK(line_message(std::string("a/1.png,0\na\0,1\n", 15)) ==
        "LIST, line 2: holds a zero byte; a list is text");
  CHECK(line_message("") == "LIST is empty; expected rows of cells");
  CHECK(holds(line_message("a/9.png,0\n"), "LIST, line 1: '/"));
  CHECK(holds(line_message("a/9.png,0\n"), "a/9.png' does not exist"));
}

TEST_CASE("rows of a list without a path or a label are left out if that is asked for") {
  const test::TemporaryFolder folder;
  write_images(folder);
  ImageListOptions options = list_options(folder, "a/1.png,1\n,0\nb/3.png,\nb/3.png,0\n");
  options.missing = MissingRow::drop;
  CHECK(colors(*open_image_list(options)) == std::vector<int>{1, 3});
  CHECK(labels(*open_image_list(options)) == std::vector<int>{1, 0});
}

TEST_CASE("a list may not lead out of its root") {
  const std::string expected = "' is not a path below the root: no absolute ones, no '..'";
  for (const std::string path : {"/etc/x.png", "../x.png", "a/../../x.png", "a/..", ""}) {
    CHECK(line_message(path + ",0\n") == "LIST, line 1: '" + path + expected);
  }
}

TEST_CASE("a label beyond the given number of classes is refused with its line") {
  const test::TemporaryFolder folder;
  write_images(folder);
  ImageListOptions options = list_options(folder, "a/1.png,0\nb/3.png,3\n");
  options.classes = 3;
  CHECK(list_message(options) == "LIST, line 2: label 3 is class 3 (from 0), expected less than 3");
}

}  // namespace trainyard
