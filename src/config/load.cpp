#include "config/load.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/text.h"
#include "config/diagnostics.h"
#include "config/file_path.h"
#include "config/tree_builder.h"

namespace trainyard::config {

namespace {

std::string hexadecimal(char c) {
  std::array<char, 8> text;
  std::snprintf(text.data(), text.size(), "0x%02x", static_cast<unsigned char>(c));
  return text.data();
}

// A `#` at the start of a line or after a blank begins a comment.
bool begins_comment(std::string_view line, std::size_t i) {
  return line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t');
}

// Reports the first error of a line.
void check_line(std::string_view line, Position where, Diagnostics& diagnostics) {
  bool comment = false;
  for (std::size_t i = 0; i < line.size();) {
    where.column = static_cast<int>(i) + 1;
    comment = comment || begins_comment(line, i);
    const std::size_t length = utf8_length(line.substr(i));
    const auto byte = static_cast<unsigned char>(line[i]);
    const bool line_end = byte == '\r' && i + 1 == line.size();
    if (length == 0) {
      diagnostics.error(where, "byte " + hexadecimal(line[i]) + " is not UTF-8 text");
      return;
    }
    if (byte == '\t' && !comment) {
      diagnostics.error(where, "a tab; write spaces (or \\t between double quotes)");
      return;
    }
    if (byte != '\t' && !line_end && (byte < 0x20 || byte == 0x7f)) {
      diagnostics.error(where, "control character " + hexadecimal(line[i]) +
                                   "; write it as an escape between double quotes");
      return;
    }
    i += length;
  }
}

/// Reports bytes that are not UTF-8, control characters (yaml-cpp takes 0x04 for the end of the
/// file), tabs outside comments, and directives. Columns count bytes, from 1.
void check_text(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
  Position where{name, 1, 1};
  bool before_content = true;
  for (std::size_t begin = 0; begin < text.size(); ++where.line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    check_line(line, where, diagnostics);
    if (before_content && line.substr(0, 1) == "%") {
      diagnostics.error(where, "directives (%) are not part of the language; remove this line");
    }
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool content = first != line.npos && line[first] != '#' && line[0] != '%';
    before_content = before_content && !content;
    begin = end + 1;
  }
}

[[noreturn]] void refuse_file(const std::string& name, const std::string& text) {
  throw config_error(name + ": " + text);
}

std::string size_limit_text(std::size_t bytes) {
  return "is larger than " + std::to_string(bytes) + " bytes, the limit for a config file";
}

/// What yaml-cpp finds, by the beginning of its message, in our words: its own differ between
/// versions.
struct Fault {
  std::string_view found, text;
};
constexpr Fault kFaults[] = {
    {"end of map flow", "'{' is not closed; check brackets, quotes and commas here and above"},
    {"end of sequence flow", "'[' is not closed; check brackets, quotes and commas here and above"},
    {"end of map",
     "not a key of the map above; check indentation, quotes and brackets here and above"},
    {"end of seq",
     "not an item of the list above; check indentation, quotes and brackets here and above"},
    {"illegal map value", "a value has no place here; text that contains ': ' needs quotes"},
    {"illegal map key", "a key has no place here; check indentation here and above"},
    {"illegal flow end", "']' or '}' closes nothing; remove it, or open it above"},
    {"illegal block entry",
     "an item ('- ') has no place here; inside '{...}' and '[...]' use commas"},
    {"illegal tab", "a tab cannot indent; use spaces"},
    {"illegal EOF", "the file ends within a quoted text; close its quote"},
    {"illegal document", "a text in quotes runs into the end of the document; close its quote"},
    {"unknown token",
     "no value begins with this character; text that begins with % @ or ` needs quotes"},
    {"unknown escape",
     "unknown escape in double quotes; write \\\\ for a backslash, or use single quotes"},
    {"bad character", "an escape in double quotes lacks hexadecimal digits"},
    {"invalid unicode", "an escape in double quotes is not a character"},
    {"cannot assign multiple anchors", "a value has two anchors (&NAME); remove one"},
    {"cannot assign multiple tags", "a value has two tags (!TAG); remove them"},
    {"the referenced anchor",
     "no value above has the anchor of this name; write '&NAME' before it"},
    {"alias not found", "'*' needs the name of an anchor; text that begins with it needs quotes"},
    {"anchor not found", "'&' needs a name; text that begins with it needs quotes"},
};

std::string text_of(const std::string& message) {
  for (const Fault& fault : kFaults) {
    if (message.starts_with(fault.found)) return std::string(fault.text);
  }
  return "this has no place here; check indentation, quotes and brackets here and above";
}

}  // namespace

Node parse_yaml(std::string_view text, const std::string& name, const FileLimits& limits) {
  if (is_utf16(text)) refuse_file(name, "is UTF-16 text; save it as UTF-8");
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);  // a byte order mark
  if (text.size() > limits.bytes) refuse_file(name, size_limit_text(limits.bytes));
  Diagnostics diagnostics;
  check_text(text, name, diagnostics);
  diagnostics.raise();
  TreeBuilder builder(text, name, limits, diagnostics);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    // The second call finds what the first one left; the builder then throws.
    if (parser.HandleNextDocument(builder)) parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    const Position where =
        error.mark.is_null() ? Position{name, 1, 1} : builder.position(error.mark);
    throw config_error(where.text() + ": not YAML: " + text_of(error.msg));
  }
  diagnostics.raise();
  return builder.take();
}

Node load_yaml(const fs::path& path, const FileLimits& limits) {
  const std::string name = path.string();
  std::error_code ignored;  // opening the file gives a better message
  if (fs::is_directory(path, ignored)) {
    refuse_file(name, "is a folder; expected a YAML file");
  }
  // Opening a pipe would wait for its writer.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    refuse_file(name, "is not an ordinary file but a pipe or a device; expected a YAML file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int cause = errno == 0 ? EIO : errno;
    refuse_file(name, std::string("cannot be read: ") + std::strerror(cause) +
                          (cause == ENOENT ? near_file(path) : ""));
  }
  std::string text(limits.bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) refuse_file(name, "cannot be read: " + std::string(std::strerror(EIO)));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > limits.bytes) refuse_file(name, size_limit_text(limits.bytes));
  return parse_yaml(text, name, limits);
}

}  // namespace trainyard::config
