#include "starter/picture_facts.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/error.h"

namespace trainyard {
namespace {

constexpr std::int64_t kMostRead = 500;

std::int64_t median_side(const Dataset& set) {
  std::vector<std::int64_t> sides;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const Shape shape = set.sample_shape(i);
    sides.push_back(std::min(shape[1], shape[2]));
  }
  const auto middle = sides.begin() + std::ssize(sides) / 2;
  std::ranges::nth_element(sides, middle);
  return *middle;
}

/// True if the planes of red, green and blue are equal.
bool is_grey(const Dataset& set, std::int64_t index) {
  std::vector<std::uint8_t> planes(static_cast<std::size_t>(set.sample_shape(index).elements()));
  try {
    set.read_bytes(index, planes.data());
  } catch (const Error&) {
    return true;  // damaged, which 'train check' reports
  }
  const std::size_t plane = planes.size() / 3;
  const std::span red = std::span(planes).first(plane);
  return std::ranges::equal(red, std::span(planes).subspan(plane, plane)) &&
         std::ranges::equal(red, std::span(planes).last(plane));
}

bool all_grey(const Dataset& set) {
  const std::int64_t read = std::min(set.size(), kMostRead);
  for (std::int64_t i = 0; i < read; ++i) {
    if (!is_grey(set, i * set.size() / read)) return false;
  }
  return true;
}

bool is_skewed(const Dataset& set) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(set.classes()));
  for (std::int64_t i = 0; i < set.size(); ++i) {
    ++counts[static_cast<std::size_t>(set.label(i))];
  }
  const auto [least, most] = std::ranges::minmax(counts);
  return most > 2 * least;
}

}  // namespace

PictureFacts facts_of_pictures(const Dataset& set) {
  return {.samples = set.size(),
          .classes = set.classes(),
          .side = median_side(set),
          .grey = all_grey(set),
          .skewed = is_skewed(set)};
}

}  // namespace trainyard
