#include "report/nan_values.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

std::string reason_of(std::int64_t counted, const std::string& fault) {
  if (counted == 0) return "no sample counts, as every label is ignored or every weight is 0";
  if (!fault.empty()) return fault;
  return "an output of the network is not a number, or a label is none of its classes";
}

}  // namespace

void NanValues::add(std::string_view name, double value, std::int64_t counted,
                    const std::string& fault) {
  if (!std::isnan(value)) return;
  const std::string reason = reason_of(counted, fault);
  const auto same = std::ranges::find(lines_, reason, &Line::reason);
  if (same == lines_.end()) return lines_.push_back({std::string(name), reason});
  same->names += ", " + std::string(name);
}

std::vector<std::string> NanValues::lines() const {
  std::vector<std::string> lines;
  for (const Line& line : lines_) lines.push_back(line.names + ": " + line.reason);
  return lines;
}

}  // namespace trainyard
