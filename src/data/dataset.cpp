#include "data/dataset.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace trainyard {

void Dataset::read_field(std::size_t field, std::int64_t index, std::byte* out) const {
  TY_CHECK(field == 0, "a set with fields after its label reads them itself");
  const std::int32_t of_sample = label(index);
  std::memcpy(out, &of_sample, sizeof of_sample);
}

void Dataset::read_bytes(std::int64_t index, std::uint8_t* image) const {
  const std::int64_t elements = image_shape().elements();
  std::copy_n(held().bytes.data() + index * elements, elements, image);
}

}  // namespace trainyard
