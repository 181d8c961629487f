// What a starter config must know of the data it is for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "data/sets/image_list.h"
#include "starter/image_facts.h"
#include "starter/row_facts.h"

namespace trainyard {

enum class StarterKind { images, table, texts, text, cifar10, mnist, fashion_mnist, imdb };

struct StarterData {
  StarterKind kind = StarterKind::images;
  std::string name;                      // of the run and of the files: "flowers"
  std::filesystem::path path;            // images: of the training split; text: the file
  std::filesystem::path val_path;        // images: of the validation split; empty: a part of `path`
  ImageFacts images;                     // of the training split
  std::optional<ImageListOptions> list;  // of a list, which is at `path`
  std::optional<RowFacts> rows;          // of a table, and of texts
  std::int64_t length = 0;               // text: characters
  std::int64_t characters = 0;           // text: different ones
};

/// Looks at `data`: the name of a known set, a folder of images (with one folder for each class,
/// or with such folders train and val), a list of images, a CSV or TSV file of numbers and
/// categories or of texts, with their classes, or a text file. Throws
/// Error{command_line} if it is none of these, and Error{data} for images that cannot be read,
/// fewer than two classes, a text that is too short, and data that another source reads.
[[nodiscard]] StarterData look_at_data(const std::string& data);

}  // namespace trainyard
