#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/schema.h"

namespace trainyard::config {
namespace {

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

Json expression() { return Json::object({{"$ref", Json::string("#/definitions/expression")}}); }

Json any_of(std::vector<Json> forms) {
  if (forms.size() == 1) return forms[0];
  return Json::object({{"anyOf", Json::array(std::move(forms))}});
}

Json typed(std::string_view type) { return Json::object({{"type", Json::string(type)}}); }

Json words_of(const std::vector<std::string>& words) {
  std::vector<Json> list;
  for (const std::string& word : words) {
    list.push_back(word == "true" || word == "false" ? Json::raw(word) : Json::string(word));
  }
  return Json::object({{"enum", Json::array(std::move(list))}});
}

std::vector<std::string> member_names(const FieldDescription& field) {
  std::vector<std::string> names;
  for (const FieldDescription::Member& member : field.members) names.push_back(member.name);
  return names;
}

// A number within the field's range.
Json plain_number(const FieldDescription& field, std::string_view type) {
  Json json = typed(type);
  if (field.has_minimum) {
    json.add(field.exclusive_minimum ? "exclusiveMinimum" : "minimum",
             Json::raw(number_text(field.minimum)));
  }
  if (field.has_maximum) json.add("maximum", Json::raw(number_text(field.maximum)));
  return json;
}

Json number(const FieldDescription& field, std::string_view type) {
  return any_of({plain_number(field, type), expression()});
}

Json list_of(Json item) {
  Json list = typed("array");
  list.add("items", std::move(item));
  return list;
}

Json pair_list(const FieldDescription& field) {
  return list_of(number(field, "integer"))
      .add("minItems", Json::raw("2"))
      .add("maxItems", Json::raw("2"));
}

Json body(const std::vector<FieldDescription>& fields, bool keys_only = false);
Json object_of(const std::vector<FieldDescription>& fields);
Json member_form(const FieldDescription& field);

// An item of the open family, which may itself contain lists of such items.
Json open_item() { return Json::object({{"$ref", Json::string("#/definitions/item")}}); }

// The schema of an item of a list field.
Json item_of(const FieldDescription& field) {
  if (field.type == "list of integers") return number(field, "integer");
  if (field.type == "list of numbers") return number(field, "number");
  if (field.type == "list of texts") return typed("string");
  if (field.type == "table") return list_of(number(field, "number"));
  if (field.type == "list of members") return field.open ? open_item() : member_form(field);
  if (field.type == "items") return open_item();
  if (field.type == "branches") return list_of(open_item());
  return Json::object();
}

std::vector<Json> forms_of(const FieldDescription& field) {
  const std::string& type = field.type;
  if (type == "integer" || type == "number") return {plain_number(field, type), expression()};
  if (type == "boolean") return {typed("boolean"), expression()};
  if (type == "text") return {typed("string")};
  if (type == "pair") {
    return {plain_number(field, "integer"), pair_list(field), expression()};
  }
  if (type == "word") return {words_of(field.words), expression()};
  if (type == "word or pair") {
    return {words_of(field.words), plain_number(field, "integer"), pair_list(field), expression()};
  }
  if (type == "map") return {body(field.fields, field.keys_only)};
  if (type == "sizes or map") {
    return {list_of(number(field, "integer")), object_of(field.fields), expression()};
  }
  if (type == "one of") return {member_form(field)};
  if (type == "selected") return {words_of(member_names(field)), expression()};
  if (type == "tree") return {Json::object()};
  return {list_of(item_of(field)), expression()};
}

// The words that leave a part out, and those that have it without keys.
Json switches(const FieldDescription& field) {
  std::vector<Json> list{Json::raw("false")};
  for (const char* word : {"no", "No", "NO", "off", "Off", "OFF"})
    list.push_back(Json::string(word));
  if (field.type != "map") return Json::object({{"enum", Json::array(std::move(list))}});
  list.push_back(Json::raw("true"));
  for (const char* word : {"yes", "Yes", "YES", "on", "On", "ON"})
    list.push_back(Json::string(word));
  return Json::object({{"enum", Json::array(std::move(list))}});
}

bool default_is_json(const FieldDescription& field) {
  if (field.default_text.empty() || field.default_text.find(".inf") != std::string::npos ||
      field.default_text.find(".nan") != std::string::npos) {
    return false;
  }
  return field.type == "integer" || field.type == "number" || field.type == "boolean" ||
         field.type == "pair" || field.type == "list of integers" ||
         field.type == "list of numbers" || field.type == "table";
}

Json value_of(const FieldDescription& field) {
  std::vector<Json> forms = forms_of(field);
  if (field.rest && field.type.starts_with("list of")) forms.push_back(item_of(field));
  if (!field.required) forms.push_back(typed("null"));
  if (field.feature) forms.push_back(switches(field));
  Json json = any_of(std::move(forms));
  if (!field.help.empty()) json.add("description", Json::string(field.help));
  if (default_is_json(field)) {
    json.add("default", Json::raw(field.default_text));
  } else if (field.type == "word") {
    if (!field.default_text.empty()) json.add("default", Json::string(field.default_text));
  }
  return json;
}

// One key may belong to several members of a selected family.
void add_property(Json& properties, const std::string& key, Json value) {
  Json* known = properties.find(key);
  if (known == nullptr) {
    properties.add(key, std::move(value));
  } else if (!(*known == value)) {
    *known = any_of({*known, std::move(value)});
  }
}

Json object_of(const std::vector<FieldDescription>& fields) {
  Json properties = Json::object();
  Json required = Json::array();
  Json others = Json::raw("false");
  for (const FieldDescription& field : fields) {
    if (field.others) {
      others = value_of(field);
      continue;
    }
    add_property(properties, field.key, value_of(field));
    if (field.required) required.add(Json::string(field.key));
    if (field.type != "selected") continue;
    for (const FieldDescription::Member& member : field.members) {
      for (const FieldDescription& own : member.fields) {
        add_property(properties, own.key, value_of(own));
      }
    }
  }
  Json json = typed("object");
  json.add("properties", std::move(properties));
  if (required.size() > 0) json.add("required", std::move(required));
  return json.add("additionalProperties", std::move(others));
}

// Values in the order of the declarations.
Json positional(const std::vector<FieldDescription>& fields) {
  Json items = Json::array();
  Json json = typed("array");
  Json more = Json::raw("false");
  for (const FieldDescription& field : fields) {
    if (field.rest) {
      more = item_of(field);
      break;
    }
    items.add(value_of(field));
  }
  if (items.size() == 0) return json.add("items", std::move(more));  // no empty list in draft-07
  return json.add("items", std::move(items)).add("additionalItems", std::move(more));
}

// A body in all its forms: empty, one value, values in order, a map.
Json body(const std::vector<FieldDescription>& fields, bool keys_only) {
  std::vector<Json> forms = {object_of(fields)};
  const bool needs = std::any_of(fields.begin(), fields.end(),
                                 [](const FieldDescription& field) { return field.required; });
  if (!needs) forms.push_back(typed("null"));
  if (!fields.empty() && !keys_only) {
    // A list that takes the rest may be a single item; a tree may be anything, a single word too.
    const bool listed = fields[0].rest && fields[0].type == "list of texts";
    if (!fields[0].rest || fields[0].type == "tree") forms.push_back(value_of(fields[0]));
    if (listed) forms.push_back(item_of(fields[0]));
    forms.push_back(positional(fields));
  }
  return any_of(std::move(forms));
}

// `name` or `name: body`, with the keys allowed next to the name.
Json member_form(const FieldDescription& field) {
  Json properties = Json::object();
  for (const FieldDescription::Member& member : field.members) {
    std::vector<FieldDescription> keys = member.fields;
    // The file's own defaults may supply missing keys of an open family's members.
    for (FieldDescription& key : keys) key.required = key.required && !field.open;
    Json value = body(keys);
    if (!member.help.empty()) value.add("description", Json::string(member.help));
    properties.add(member.name, std::move(value));
  }
  for (const FieldDescription& key : field.adjacent_keys) properties.add(key.key, value_of(key));
  Json map = typed("object");
  map.add("properties", std::move(properties))
      .add("additionalProperties", Json::raw(field.open ? "true" : "false"))
      .add("minProperties", Json::raw("1"))
      .add("maxProperties", Json::raw(std::to_string(1 + field.adjacent_keys.size())));
  Json words = field.open ? typed("string") : words_of(member_names(field));
  return any_of({std::move(words), std::move(map), expression()});
}

/// The object of `fields`, or one that has `part` and none of the keys that are required otherwise.
Json or_part(const std::vector<FieldDescription>& fields, std::string_view part) {
  std::vector<FieldDescription> optional = fields;
  Json required = Json::array(), others = Json::array();
  for (FieldDescription& field : optional) {
    if (!field.required) continue;
    field.required = false;
    required.add(Json::string(field.key));
    others.add(Json::object({{"required", Json::array({Json::string(field.key)})}}));
  }
  Json whole = Json::object({{"required", std::move(required)}});
  Json alone = Json::object({{"required", Json::array({Json::string(part)})},
                             {"not", Json::object({{"anyOf", std::move(others)}})}});
  return object_of(optional).add("anyOf", Json::array({std::move(whole), std::move(alone)}));
}

}  // namespace

std::vector<FieldDescription> inheritable(std::vector<FieldDescription> fields) {
  for (FieldDescription& field : fields) {
    field.required = false;
    field.fields = inheritable(std::move(field.fields));
    field.adjacent_keys = inheritable(std::move(field.adjacent_keys));
    for (FieldDescription::Member& member : field.members) {
      member.fields = inheritable(std::move(member.fields));
    }
  }
  return fields;
}

std::string json_schema(const std::vector<FieldDescription>& fields, std::string_view title,
                        std::string_view part) {
  Json form = typed("string");
  form.add("pattern", Json::string(R"(^\$|\$\{)"))
      .add("description", Json::string("an expression: $n - 1, or ${n} inside text"));
  Json json = part.empty() ? object_of(fields) : or_part(fields, part);
  Json definitions = Json::object({{"expression", std::move(form)}});
  for (const FieldDescription& field : fields) {
    if (field.open) definitions.add("item", member_form(field));
  }
  json.add("$schema", Json::string("http://json-schema.org/draft-07/schema#"))
      .add("title", Json::string(title))
      .add("definitions", std::move(definitions));
  return json.text() + "\n";
}

}  // namespace trainyard::config
