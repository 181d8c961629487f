#include "data/augment/number_keys.h"

#include <algorithm>

#include "base/text.h"

namespace trainyard {

NumberRange read_range(config::Fields& fields, std::string_view key, std::string_view help,
                       double minimum) {
  config::Node value;
  fields.rest(key, value, help);
  if (fields.describing()) return {1, 1};
  const bool list = value.kind == config::Node::Kind::list;
  const std::vector<config::Node> items = list ? value.items : std::vector<config::Node>{value};
  const bool numbers = std::ranges::all_of(items, &config::Node::is_number);
  if (!numbers || items.empty() || items.size() > 2) {
    fields.error(key, "expected a number r for [1 - r, 1 + r], or [low, high], found " +
                          config::describe(value));
    return {1, 1};
  }
  const NumberRange range = items.size() == 2 ? NumberRange{items[0].real, items[1].real}
                                              : NumberRange{1 - items[0].real, 1 + items[0].real};
  if (range.low < minimum || range.low > range.high) {
    fields.error(key, "expected " + number_text(minimum) + " <= low <= high, found [" +
                          number_text(range.low) + ", " + number_text(range.high) + "]");
  }
  return range;
}

void read_bounds(config::Fields& fields, std::string_view key, NumberRange& range,
                 std::string_view help, config::Limits limits) {
  std::vector<double> ends{range.low, range.high};
  fields.field(key, ends, std::string(help) + ", [low, high]", limits);
  if (ends.size() == 2 && ends[0] <= ends[1]) {
    range = {ends[0], ends[1]};
  } else if (!fields.describing()) {
    fields.error(key, "expected [low, high] with low <= high");
  }
}

std::vector<float> numbers_or_word(config::Fields& fields, std::string_view key,
                                   const config::Node& value, std::string_view word) {
  if (value.kind == config::Node::Kind::text && value.text == word) return {};
  const std::string wanted =
      "expected '" + std::string(word) + "', one number, or one number per channel";
  const bool list = value.kind == config::Node::Kind::list;
  const std::vector<config::Node> items = list ? value.items : std::vector<config::Node>{value};
  std::vector<float> numbers;
  for (const config::Node& item : items) {
    if (!item.is_number()) {
      fields.error(key, wanted + ", found " + config::describe(item));
      return {};
    }
    numbers.push_back(static_cast<float>(item.real));
  }
  if (numbers.empty()) fields.error(key, wanted + ", found an empty list");
  return numbers;
}

}  // namespace trainyard
