// A small JSON tree, for writing only.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::config {

/// A JSON value: raw JSON text, an object or an array. Objects keep their order.
class Json {
 public:
  /// A string, with quotes and escapes added.
  [[nodiscard]] static Json string(std::string_view text);
  /// A number, true, false or null as written.
  [[nodiscard]] static Json raw(std::string text);
  [[nodiscard]] static Json object(std::vector<std::pair<std::string, Json>> members = {});
  [[nodiscard]] static Json array(std::vector<Json> items = {});

  Json& add(std::string key, Json value);
  Json& add(Json item);
  [[nodiscard]] Json* find(std::string_view key);
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  /// Two spaces per level; a value without inner objects is written on one line.
  [[nodiscard]] std::string text(std::size_t indent = 0) const;
  bool operator==(const Json&) const = default;

 private:
  enum class Kind { raw, object, array };
  [[nodiscard]] bool is_simple() const;

  Kind kind_ = Kind::raw;
  std::string raw_ = "null";
  std::vector<std::string> keys_;
  std::vector<Json> items_;
};

}  // namespace trainyard::config
