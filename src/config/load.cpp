#include "config/load.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "config/near_file.h"
#include "config/text_check.h"
#include "config/tree_builder.h"

namespace trainyard::config {
namespace {

[[noreturn]] void refuse_file(const std::string& name, const std::string& text) {
  throw Error(ErrorKind::config, name + ": " + text);
}

std::string size_limit_text(std::size_t bytes) {
  return "is larger than " + std::to_string(bytes) + " bytes, the limit for a config file";
}

// A hint that yaml-cpp's own message lacks.
std::string syntax_hint(const std::string& message) {
  if (message.find("end of map") != message.npos || message.find("end of seq") != message.npos) {
    return "; check indentation, quotes and brackets here and above";
  }
  if (message.find("map value") != message.npos) {
    return "; text that contains ': ' needs quotes";
  }
  if (message.find("unknown token") != message.npos) {
    return "; text that begins with % @ or ` needs quotes";
  }
  return "";
}

}  // namespace

Node parse_yaml(std::string_view text, const std::string& name, const FileLimits& limits) {
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
    throw Error(ErrorKind::config,
                where.text() + ": not YAML: " + error.msg + syntax_hint(error.msg));
  }
  diagnostics.raise();
  return builder.take();
}

Node load_yaml(const std::filesystem::path& path, const FileLimits& limits) {
  const std::string name = path.string();
  std::error_code ignored;  // opening the file gives a better message
  if (std::filesystem::is_directory(path, ignored)) {
    refuse_file(name, "is a folder; expected a YAML file");
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
