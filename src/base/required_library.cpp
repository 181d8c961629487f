#include "base/required_library.h"

#include "base/error.h"

namespace trainyard {
namespace {

std::string opening_problem(const RequiredLibrary& library, const std::string& reason) {
  return library.name + (library.purpose.empty() ? "" : ", " + library.purpose + ",") +
         " cannot be opened: " + reason + (library.advice.empty() ? "" : "; " + library.advice);
}

}  // namespace

const char* find_functions(const SharedLibrary& library,
                           std::initializer_list<LibraryFunction> functions) {
  const char* missing = nullptr;
  for (const LibraryFunction& function : functions) {
    if (function.set(function.pointer, library, function.name)) continue;
    if (missing == nullptr) missing = function.name;
  }
  return missing;
}

void open_library(const RequiredLibrary& library, const std::filesystem::path& path,
                  std::initializer_list<LibraryFunction> functions) {
  SharedLibrary opened(path);
  if (!opened.is_open()) {
    throw Error(ErrorKind::device, opening_problem(library, opened.problem()));
  }
  const char* missing = find_functions(opened, functions);
  if (missing != nullptr) {
    throw Error(ErrorKind::device, opened.file().string() + " has no function " + missing +
                                       "; expected " + library.name + " " +
                                       version_text(library.least_version) + " or newer");
  }
  const std::string problem = version_problem(library, library.version(opened));
  if (!problem.empty()) throw Error(ErrorKind::device, opened.file().string() + ": " + problem);
  opened.keep();
}

std::string version_text(int number) {
  return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

std::string version_problem(const RequiredLibrary& library, int found) {
  const int least = library.least_version, major = least / 10000;
  if (found >= least && (library.newer_major || found / 10000 == major)) return "";
  return library.name + " " + version_text(found) + " was found, expected " + version_text(least) +
         (library.newer_major ? " or newer" : " or a newer " + std::to_string(major) + ".x");
}

}  // namespace trainyard
