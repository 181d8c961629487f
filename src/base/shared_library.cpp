#include "base/shared_library.h"

#include <dlfcn.h>
#include <link.h>

namespace trainyard {

void CloseLibrary::operator()(void* library) const { dlclose(library); }

SharedLibrary::SharedLibrary(const std::filesystem::path& path)
    : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (is_open()) return;
  const char* text = dlerror();
  problem_ = text == nullptr ? "the loader does not say why" : text;
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
