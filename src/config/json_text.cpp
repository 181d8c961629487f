#include "config/json_text.h"

#include <algorithm>

#include "base/text.h"

namespace trainyard::config {

Json Json::string(std::string_view text) { return raw(json_quoted(text)); }

Json Json::raw(std::string text) {
  Json json;
  json.raw_ = std::move(text);
  return json;
}

Json Json::object(std::vector<std::pair<std::string, Json>> members) {
  Json json;
  json.kind_ = Kind::object;
  for (auto& [key, value] : members) json.add(std::move(key), std::move(value));
  return json;
}

Json Json::array(std::vector<Json> items) {
  Json json;
  json.kind_ = Kind::array;
  json.items_ = std::move(items);
  return json;
}

Json& Json::add(std::string key, Json value) {
  keys_.push_back(std::move(key));
  items_.push_back(std::move(value));
  return *this;
}

Json& Json::add(Json item) {
  items_.push_back(std::move(item));
  return *this;
}

Json* Json::find(std::string_view key) {
  const auto found = std::find(keys_.begin(), keys_.end(), key);
  return found == keys_.end() ? nullptr : &items_[static_cast<std::size_t>(found - keys_.begin())];
}

bool Json::is_simple() const {
  return std::all_of(items_.begin(), items_.end(), [](const Json& item) {
    const bool list = item.kind_ == Kind::array && item.is_simple();
    return list || item.kind_ == Kind::raw;
  });
}

std::string Json::text(std::size_t indent) const {
  if (kind_ == Kind::raw) return raw_;
  const char open = kind_ == Kind::object ? '{' : '[';
  const char close = kind_ == Kind::object ? '}' : ']';
  const bool one_line = is_simple();
  const std::string margin = one_line ? "" : "\n" + std::string(indent + 2, ' ');
  std::string out(1, open);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (i > 0) out += one_line ? ", " : ",";
    out += margin;
    if (kind_ == Kind::object) out += json_quoted(keys_[i]) + ": ";
    out += items_[i].text(indent + 2);
  }
  if (!one_line) out += "\n" + std::string(indent, ' ');
  return out + close;
}

}  // namespace trainyard::config
