#include <array>
#include <cstdio>

#include "base/text.h"
#include "config/node.h"
#include "config/scalars.h"

namespace trainyard::config {
namespace {

constexpr std::size_t kFlowColumns = 90;  // longer lists of scalars are written line by line

// Characters with no meaning to YAML anywhere in a plain scalar after its first character.
bool is_plain_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return word || byte >= 0x80 ||
         std::string_view("_$./+-*%()<>=^~ ").find(c) != std::string_view::npos;
}

bool is_plain(const std::string& text) {
  if (text.empty() || text.size() > kFlowColumns || text.back() == ' ') return false;
  const std::string_view first = "_$./";
  const bool word = is_plain_letter(text[0]) &&
                    std::string_view("+-*%()<>=^~ _$./").find(text[0]) == std::string_view::npos;
  if (!word && first.find(text[0]) == first.npos) return false;
  if (text.substr(0, 3) == "...") return false;
  for (const char c : text) {
    if (!is_plain_letter(c)) return false;
  }
  return true;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned>(byte));
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string text_scalar(const std::string& text) {
  const bool text_again =
      scalar_node(text, false, {}).kind == Node::Kind::text && number_trap(text).empty();
  return text_again && is_plain(text) ? text : quoted(text);
}

std::string scalar(const Node& node) {
  // As written, if that still reads the same.
  if (node.kind != Node::Kind::text && !node.text.empty() &&
      same_value(scalar_node(node.text, false, {}), node)) {
    return node.text;
  }
  switch (node.kind) {
    case Node::Kind::boolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::integer:
      return number_text(node.integer);
    case Node::Kind::real:
      return real_scalar(node.real);
    case Node::Kind::text:
      return text_scalar(node.text);
    default:
      return "null";
  }
}

// Lists of scalars (and of such lists) on one line; empty if that does not fit.
std::string flow(const Node& node) {
  if (node.is_scalar()) return scalar(node);
  if (node.kind == Node::Kind::map) return node.entries.empty() ? "{}" : "";
  std::string out = "[";
  for (const Node& item : node.items) {
    const std::string text = flow(item);
    if (text.empty()) return "";
    out += (out.size() > 1 ? ", " : "") + text;
    if (out.size() > kFlowColumns) return "";
  }
  return out + "]";
}

void write(const Node& node, std::size_t indent, std::string& out);

// Writes the part after `key:` or `-`.
void write_value(const Node& node, std::size_t indent, std::string& out) {
  const std::string line = flow(node);
  if (!line.empty()) {
    out += " " + line + "\n";
    return;
  }
  out += '\n';
  write(node, indent, out);
}

void write_entry(const Entry& entry, std::size_t indent, std::string& out) {
  out += is_plain(entry.key) ? entry.key : quoted(entry.key);
  out += ':';
  write_value(entry.value, indent + 2, out);
}

void write(const Node& node, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  for (const Entry& entry : node.entries) {
    out += margin;
    write_entry(entry, indent, out);
  }
  for (const Node& item : node.items) {
    out += margin + "-";
    if (item.kind != Node::Kind::map || item.entries.empty()) {
      write_value(item, indent + 2, out);
      continue;
    }
    // The first key of a map is on the line of its dash.
    for (std::size_t i = 0; i < item.entries.size(); ++i) {
      out += i == 0 ? " " : margin + "  ";
      write_entry(item.entries[i], indent + 2, out);
    }
  }
}

}  // namespace

std::string to_yaml(const Node& node) {
  const std::string line = flow(node);
  if (!line.empty()) return line + "\n";
  std::string out;
  write(node, 0, out);
  return out;
}

}  // namespace trainyard::config
