#include "expect.h"

#include <vector>

namespace trainyard::fuzz {

void expect(bool holds, const std::string& what) {
  if (!holds) throw BrokenProperty(what);
}

void expect_readable(const Dataset& set, std::int32_t least_label) {
  expect(set.size() >= 1, "a set without samples");
  std::vector<float> image(static_cast<std::size_t>(set.image_shape().elements()));
  for (const std::int64_t index : {std::int64_t{0}, set.size() - 1}) {
    set.read(index, image.data());
    const std::int32_t label = set.label(index);
    expect(label >= least_label && label < set.classes(), "a label that is not a class");
  }
}

}  // namespace trainyard::fuzz
