#include "base/shared_library.h"

#include <dlfcn.h>
#include <link.h>

#include "base/error.h"

namespace trainyard {
namespace {

/// The loader takes an empty path for the program itself.
const char* named(const std::filesystem::path& path) {
  TY_CHECK(!path.empty(), "a library has a path");
  return path.c_str();
}

}  // namespace

void CloseLibrary::operator()(void* library) const { dlclose(library); }

SharedLibrary::SharedLibrary(const std::filesystem::path& path)
    : SharedLibrary(dlopen(named(path), RTLD_NOW | RTLD_LOCAL)) {}

SharedLibrary SharedLibrary::apart(const std::filesystem::path& path) {
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

std::filesystem::path SharedLibrary::file() const {
  link_map* map = nullptr;
  if (!is_open() || dlinfo(library_.get(), RTLD_DI_LINKMAP, &map) != 0) return {};
  return map->l_name;
}

void* SharedLibrary::symbol(const char* name) const {
  return is_open() ? dlsym(library_.get(), name) : nullptr;
}

}  // namespace trainyard
