// What a starter makes of its data: numbers, layers, the columns of lists.
#include "starter/starter.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "starter/starter_data.h"

using namespace trainyard;

namespace {

/// "comma,header path,label,name root" of a list of these lines.
std::string read_as(const std::string& lines) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder.write("list.txt", lines);
  static_cast<void>(folder.write("a.png", ""));
  static_cast<void>(folder.write("below/b.png", ""));
  const auto found = image_list_in(file);
  if (!found) return "none";
  const ImageListOptions* const list = &found->options;
  std::string columns;
  for (const std::string& column : list->columns.order) columns += " " + column;
  return std::string(config::word_of(list->separator)) + (list->header ? ",header" : columns) +
         " " + list->path + "," + list->label +
         (list->labels == ListLabels::name ? ",name" : ",number") +
         (list->root.empty() ? "" : " " + list->root.path.filename().string());
}

std::string refused_list(const std::string& lines) {
  return testing::error_of(ErrorKind::data, [&] { static_cast<void>(read_as(lines)); });
}

}  // namespace

TEST_CASE("a run of images has about 1,500 steps and several in an epoch, within bounds") {
  for (const std::int64_t samples : {12, 240, 1'000, 1'600, 9'999, 50'000, 1'000'000}) {
    CAPTURE(samples);
    const Recipe recipe = image_recipe(samples);
    const std::int64_t per_epoch = samples / recipe.batch, steps = per_epoch * recipe.epochs;
    CHECK(per_epoch >= 5);
    CHECK((recipe.epochs >= 10 && recipe.epochs <= 200));
    CHECK((recipe.epochs == 10 || recipe.epochs == 200 ||
           (steps >= 1'500 && steps < 1'500 + per_epoch)));
    CHECK(recipe.weight_decay == (steps < 10'000 ? "5e-3" : "5e-4"));
  }
  CHECK(image_recipe(1).batch == 1);
  CHECK(text_recipe(8'000, 64).epochs == 60);
  CHECK(text_recipe(10'000'000, 64).epochs == 5);
}

TEST_CASE("images get the largest size that enlarges no more than half of them") {
  for (const auto& [side, size] : {std::pair{1, 28},
                                   {28, 28},
                                   {31, 28},
                                   {32, 32},
                                   {63, 32},
                                   {100, 64},
                                   {128, 128},
                                   {223, 128},
                                   {224, 224},
                                   {1200, 224}}) {
    CHECK(input_side(side) == size);
  }
}

TEST_CASE("the layers of every size end at a map of 7 or 8 pixels") {
  CHECK(image_layers(28) == image_layers(32));
  const auto pools = [](std::int64_t size) {
    const std::string layers = image_layers(size);
    int count = 0;
    for (auto at = layers.find("max_pool"); at != std::string::npos;
         at = layers.find("max_pool", at + 1)) {
      ++count;
    }
    return count;
  };
  CHECK(pools(28) == 2);
  CHECK(pools(64) == 3);
  CHECK(pools(128) == 3);  // its first convolution halves it
  CHECK(pools(224) == 4);
}

TEST_CASE("a list is recognised by the images in a column, whatever divides its lines") {
  CHECK(read_as("path,label\na.png,x\nb.png,y\n") == "comma,header path,label,name");
  CHECK(read_as("filename\tspecies\na.png\t0\nb.jpg\t1\n") == "tab,header filename,species,number");
  CHECK(read_as("id;Class;file\n1;x;a.png\n2;y;a.png\n") == "semicolon,header file,Class,name");
  CHECK(read_as("a.png 0\nb.png 2\n") == "space path label path,label,name");  // no class 1
  CHECK(read_as("x,a.png\r\n\"y, z\",b.png\r\n") == "comma label path path,label,name");
  CHECK(read_as("a.webp,x\nb.gif,y\n") == "comma path label path,label,name");
  CHECK(read_as("name,id,y\na.png,1,u\nb.png,2,v\n") == "comma,header name,y,name");
  CHECK(read_as("b.png,x\na.png,y\n") == "comma path label path,label,name below");
}

TEST_CASE("texts and tables of something else are no lists") {
  for (const char* text : {"", "\n", "A book, of sorts.\nIt has a.png in a line.\n", "x,y\n1,2\n",
                           "path,label\n", "one\ntwo\n"}) {
    CAPTURE(text);
    CHECK(read_as(text) == "none");
  }
}

TEST_CASE("a list without a clear column of classes is refused with what it has") {
  CHECK(
      refused_list("a.png\nb.png\n")
          .find("lists images in the column 'path', but no line has a class; expected a path and a "
                "class in each (source image_list in docs/language/data.md)") != std::string::npos);
  CHECK(refused_list("file,width,height\na.png,1,2\n")
            .find("lists images in the column 'file', but which of file, width, height is their "
                  "class? "
                  "Name it 'label' in the first line") != std::string::npos);
}
