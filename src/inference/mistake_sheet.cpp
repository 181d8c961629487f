#include "inference/mistake_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "data/sets/float_image.h"
#include "data/images/picture_sheet.h"

namespace trainyard {
namespace {

constexpr std::size_t kColumns = 8;
constexpr std::int64_t kMostSide = 160;  // of a picture, pixels

std::string text_below(const Dataset& set, const Mistake& mistake,
                       std::span<const std::string> names) {
  const std::string file = std::filesystem::path(set.file(mistake.sample)).filename().string();
  return fmt::format("{}\n>{}\n{:.4f}{}{}", name_of_class(names, mistake.label),
                     name_of_class(names, mistake.predicted), mistake.probability,
                     file.empty() ? "" : "\n", file);
}

}  // namespace

std::optional<Picture> mistake_sheet(const Dataset& set, std::span<const Mistake> mistakes,
                                     std::span<const std::string> names, std::size_t most) {
  const std::int64_t channels = set.image_shape()[0];
  const bool pictures = (channels == 1 || channels == 3) && set.image_shape()[1] != 1;
  if (mistakes.empty() || !pictures) return std::nullopt;
  std::vector<FloatImage> images;
  ValueRange range;
  for (const Mistake& mistake : mistakes.first(std::min(most, mistakes.size()))) {
    images.push_back(image_of(set, mistake.sample));
    range.take(images.back().values);
  }
  if (set.eight_bit()) range = {.least = 0, .most = 255};
  std::vector<SheetRow> rows;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (i % kColumns == 0) rows.emplace_back();
    rows.back().push_back({colored(images[i], range), text_below(set, mistakes[i], names)});
  }
  return picture_sheet(rows, kMostSide);
}

}  // namespace trainyard
