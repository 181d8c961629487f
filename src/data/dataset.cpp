#include "data/dataset.h"

#include <algorithm>

namespace trainyard {

void Dataset::read_bytes(std::int64_t index, std::uint8_t* image) const {
  const std::int64_t elements = image_shape().elements();
  std::copy_n(held().bytes.data() + index * elements, elements, image);
}

}  // namespace trainyard
