// What a starter config must know of the data it is for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace trainyard {

enum class StarterKind { pictures, text, cifar10, mnist, fashion_mnist, imdb };

struct StarterData {
  StarterKind kind = StarterKind::pictures;
  std::string name;                // of the run and of the files: "flowers"
  std::filesystem::path path;      // pictures: of the training split; text: the file
  std::filesystem::path val_path;  // pictures: of the validation split; empty: a part of `path`
  std::int64_t classes = 0;        // pictures
  std::int64_t samples = 0;        // pictures: of the training split
  std::int64_t characters = 0;     // text: different ones
};

/// Looks at `data`: the name of a known set, a folder of pictures (with one folder for each class,
/// or with such folders train and val), or a text file. Throws Error{command_line} if it is none of
/// these, and Error{data} for pictures that cannot be read, fewer than two classes, or a text that
/// is too short.
[[nodiscard]] StarterData look_at_data(const std::string& data);

}  // namespace trainyard
