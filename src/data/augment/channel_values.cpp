#include "data/augment/channel_values.h"

namespace trainyard {

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
