#include "report/line_parts.h"

#include <algorithm>
#include <utility>

namespace trainyard {

int columns_of(std::string_view text) {
  // Bytes that do not continue a UTF-8 sequence.
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::vector<LinePart> fitted(std::vector<LinePart> parts, std::string_view separator, int columns) {
  while (columns > 0 && columns_of(joined(parts, separator)) > columns) {
    auto first_to_go = parts.begin();
    for (auto part = parts.begin(); part != parts.end(); ++part) {
      if (part->rank >= first_to_go->rank) first_to_go = part;
    }
    if (first_to_go == parts.end() || first_to_go->rank == 0) break;
    parts.erase(first_to_go);
  }
  return parts;
}

std::string joined(const std::vector<LinePart>& parts, std::string_view separator) {
  std::string line;
  for (const LinePart& part : parts) {
    if (&part != &parts.front()) line += separator;
    line += part.text;
  }
  return line;
}

}  // namespace trainyard
