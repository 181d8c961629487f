#include "formats/json.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>
#include <vector>

namespace trainyard {

namespace {

/// Builds the value and enforces the limits. nlohmann's parser calls it without recursion, so
/// nesting costs no stack.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const JsonSource& source, const JsonLimits& limits)
      : text_(text), source_(source), limits_(limits) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(std::int64_t value) override { return add(value) != nullptr; }
  bool number_unsigned(std::uint64_t value) override { return add(value) != nullptr; }
  bool number_float(double value, const std::string&) override { return add(value) != nullptr; }
  bool string(std::string& value) override { return add(std::move(value)) != nullptr; }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& key) override {
    if (!open_.back().keys.insert(key).second) fail(source_.name, "duplicate key '" + key + "'");
    key_ = std::move(key);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const std::string_view before = text_.substr(0, position == 0 ? 0 : position - 1);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t feed = before.rfind('\n');
    const std::size_t column =
        feed == std::string_view::npos ? before.size() + 1 : before.size() - feed;
    const std::string_view what = error.what();
    const std::size_t colon = what.find(": ");
    fail(source_.name + ":" + std::to_string(line) + ":" + std::to_string(column),
         "not valid JSON: " +
             std::string(colon == std::string_view::npos ? what : what.substr(colon + 2)));
  }

 private:
  struct Open {
    Json* value = nullptr;
    std::unordered_set<std::string> keys;
  };

  [[noreturn]] void fail(const std::string& where, const std::string& what) const {
    throw Error(source_.kind, where + ": " + what);
  }

  Json* add(Json value) {
    if (++values_ > limits_.values) {
      fail(source_.name, "more than " + std::to_string(limits_.values) + " JSON values");
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back().value;
    if (parent.is_array()) {
      auto& items = parent.get_ref<Json::array_t&>();
      return &items.emplace_back(std::move(value));
    }
    // Appended without a search: key() has already rejected duplicates.
    auto& items = parent.get_ref<Json::object_t&>();
    return &items
                .std::vector<std::pair<const std::string, Json>>::emplace_back(key_,
                                                                               std::move(value))
                .second;
  }

  bool open(Json value) {
    if (static_cast<std::int64_t>(open_.size()) >= limits_.depth) {
      fail(source_.name, "JSON nested deeper than " + std::to_string(limits_.depth));
    }
    open_.push_back({add(std::move(value)), {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const JsonSource& source_;
  const JsonLimits& limits_;
  Json root_;
  std::vector<Open> open_;
  std::string key_;
  std::int64_t values_ = 0;
};

/// Paths and messages may contain bytes that are not UTF-8: those become U+FFFD.
std::string dump(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Json parse_json(std::string_view text, const JsonSource& source, const JsonLimits& limits) {
  Builder builder(text, source, limits);
  Json::sax_parse(text, &builder);
  return builder.take();
}

Json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

std::string json_text(const Json& value) { return dump(value, 2); }

std::string json_line(const Json& value) { return dump(value, -1); }

}  // namespace trainyard
