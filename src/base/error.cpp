#include "base/error.h"

namespace trainyard {

std::string Position::text() const {
  if (!known()) return file;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

void refuse_command(const std::string& message) { throw Error(ErrorKind::command_line, message); }

void check_failed(std::string_view expression, std::string_view message,
                  std::source_location where) {
  throw Error(ErrorKind::bug, "internal error at " + std::string(where.file_name()) + ":" +
                                  std::to_string(where.line()) + ": " + std::string(message) +
                                  " (" + std::string(expression) +
                                  "); this is a bug in train; please report it");
}

void bad_file(const fs::path& file, const std::string& what) {
  throw data_error("'" + file.string() + "' " + what);
}

}  // namespace trainyard
