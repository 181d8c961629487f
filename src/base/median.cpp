#include "base/median.h"

#include <algorithm>

#include "base/error.h"

namespace trainyard {

double median(std::vector<double> values) {
  TY_CHECK(!values.empty(), "the median of no values");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace trainyard
