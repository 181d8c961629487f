#include <algorithm>
#include <utility>

#include "config/fields.h"
#include "config/scalars.h"
#include "config/schema.h"

namespace trainyard::config {
namespace {

std::string code(const std::string& text) { return "`" + text + "`"; }

std::string code_list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + code(word);
  return out;
}

Limits limits_of(const FieldDescription& field) {
  Limits limits;
  if (field.has_minimum) limits.minimum = field.minimum;
  if (field.has_maximum) limits.maximum = field.maximum;
  limits.exclusive_minimum = field.exclusive_minimum;
  return limits;
}

std::string type_text(const FieldDescription& field) {
  std::vector<std::string> names;
  for (const FieldDescription::Member& member : field.members) names.push_back(member.name);
  if (field.type == "word") return "one of " + code_list(field.words);
  if (field.type == "word or pair") {
    return "one of " + code_list(field.words) + ", or " + wanted_text("pair", limits_of(field));
  }
  if (field.type == "one of" || field.type == "selected") return "one of " + code_list(names);
  if (field.type == "list of members") return "a list of " + code_list(names);
  if (field.type == "map") return "a map, see below";
  if (field.type == "sizes or map") {
    return wanted_text("list of integers", limits_of(field)) + ", or a map, see below";
  }
  if (field.type == "items") return "a list of items as above";
  if (field.type == "branches") return "lists of items as above";
  if (field.type == "tree") return "any value";
  const std::string text = wanted_text(field.type, limits_of(field));
  const bool alone = field.rest && field.type.starts_with("list of");
  return alone ? text + "; one alone needs no brackets" : text;
}

std::string value_text(const FieldDescription& field) {
  return type_text(field) + (field.feature ? "; `false`, `no` or `off`: without it" : "");
}

std::string default_text(const FieldDescription& field) {
  if (field.required) return "required";
  return field.default_text.empty() ? "" : code(field.default_text);
}

std::string heading(std::size_t level, const std::string& text) {
  return std::string(std::min<std::size_t>(level, 6), '#') + " " + text + "\n\n";
}

// A bar would end the table cell.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, "\\");
  return text;
}

void write_table(const std::vector<FieldDescription>& fields, std::string& out) {
  if (fields.empty()) {
    out += "No keys.\n";
    return;
  }
  out += "| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const FieldDescription& field : fields) {
    out += "| " + cell(code(field.key)) + " | " + cell(value_text(field)) + " | " +
           cell(default_text(field)) + " | " + cell(field.help) + " |\n";
  }
}

/// Writes each map and family once; where one is repeated, it refers to the first.
class Sections {
 public:
  explicit Sections(std::string title) : out_("# " + std::move(title) + "\n\n") {}

  void write(const std::vector<FieldDescription>& fields, const std::string& path,
             std::size_t level) {
    write_table(fields, out_);
    for (const FieldDescription& field : fields) {
      const std::string name = path.empty() ? field.key : path + "." + field.key;
      if (repeats(field, name, level)) continue;
      if (field.type == "map" || field.type == "sizes or map") {
        out_ += "\n" + heading(level, code(name));
        write(field.fields, name, level + 1);
      }
      if (!field.adjacent_keys.empty()) {
        out_ += "\n" + heading(level, "Next to a name in " + code(name));
        write_table(field.adjacent_keys, out_);
      }
      write_members(field, name, level);
    }
  }
  [[nodiscard]] std::string text() && { return std::move(out_); }

 private:
  void write_members(const FieldDescription& field, const std::string& path, std::size_t level) {
    for (const FieldDescription::Member& member : field.members) {
      const std::string name = path + (field.type == "selected" ? ": " : ".") + member.name;
      out_ += "\n" + heading(level, code(name));
      if (!member.help.empty()) out_ += member.help + "\n\n";
      write(member.fields, name, level + 1);
    }
  }
  bool repeats(const FieldDescription& field, const std::string& name, std::size_t level) {
    if (field.fields.empty() && field.members.empty()) return false;
    const auto first = std::ranges::find_if(written_, [&](const auto& earlier) {
      const auto& members = earlier.first->members;
      return earlier.first->fields == field.fields &&
             std::ranges::all_of(field.members, [&](const FieldDescription::Member& member) {
               return std::ranges::find(members, member) != members.end();
             });
    });
    if (first == written_.end()) {
      written_.emplace_back(&field, name);
      return false;
    }
    out_ += "\n" + heading(level, code(name)) + "As " + code(first->second) + ".\n";
    return true;
  }

  std::string out_;
  std::vector<std::pair<const FieldDescription*, std::string>> written_;
};

}  // namespace

std::string reference_text(const std::vector<FieldDescription>& fields, std::string_view title) {
  Sections sections{std::string(title)};
  sections.write(fields, "", 2);
  return std::move(sections).text();
}

bool FieldDescription::operator==(const FieldDescription& other) const = default;

}  // namespace trainyard::config
