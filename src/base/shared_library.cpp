#include "base/shared_library.h"

#include <dlfcn.h>
#include <link.h>

#include "base/error.h"

namespace trainyard {
namespace {

/// The loader takes an empty path for the program itself.
const char* named(const fs::path& path) {
  TY_CHECK(!path.empty(), "a library has a path");
  return path.c_str();
}

std::string opening_problem(const RequiredLibrary& library, const std::string& reason) {
  return library.name + (library.purpose.empty() ? "" : ", " + library.purpose + ",") +
         " cannot be opened: " + reason + (library.advice.empty() ? "" : "; " + library.advice);
}

}  // namespace

void CloseLibrary::operator()(void* library) const { dlclose(library); }

SharedLibrary::SharedLibrary(const fs::path& path)
    : SharedLibrary(dlopen(named(path), RTLD_NOW | RTLD_LOCAL)) {}

SharedLibrary SharedLibrary::apart(const fs::path& path) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // A library compiled that way would load the sanitizer's runtime a second time.
  return SharedLibrary(static_cast<void*>(nullptr));
#endif
  return SharedLibrary(dlmopen(LM_ID_NEWLM, named(path), RTLD_NOW | RTLD_LOCAL));
}

SharedLibrary::SharedLibrary(void* library) : library_(library) {
  if (is_open()) return;
  const char* text = dlerror();
  problem_ = text == nullptr ? "the loader gives no reason" : text;
}

fs::path SharedLibrary::file() const {
  link_map* map = nullptr;
  if (!is_open() || dlinfo(library_.get(), RTLD_DI_LINKMAP, &map) != 0) return {};
  return map->l_name;
}

void* SharedLibrary::symbol(const char* name) const {
  return is_open() ? dlsym(library_.get(), name) : nullptr;
}

const char* find_functions(const SharedLibrary& library,
                           std::initializer_list<LibraryFunction> functions) {
  const char* missing = nullptr;
  for (const LibraryFunction& function : functions) {
    if (function.set(function.pointer, library, function.name)) continue;
    if (missing == nullptr) missing = function.name;
  }
  return missing;
}

void open_library(const RequiredLibrary& library, const fs::path& path,
                  std::initializer_list<LibraryFunction> functions) {
  SharedLibrary opened(path);
  if (!opened.is_open()) {
    throw device_error(opening_problem(library, opened.problem()));
  }
  const char* missing = find_functions(opened, functions);
  if (missing != nullptr) {
    throw device_error(opened.file().string() + " has no function " + missing + "; expected " +
                       library.name + " " + version_text(library.least_version) + " or newer");
  }
  const std::string problem = version_problem(library, library.version(opened));
  if (!problem.empty()) throw device_error(opened.file().string() + ": " + problem);
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
