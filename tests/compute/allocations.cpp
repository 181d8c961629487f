// Counts allocations, except those that oneDNN makes while it passes a primitive its arguments.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "node_run.h"

namespace {

std::atomic<std::int64_t> allocations{0};

bool called_by_onednn(void* caller) {
  Dl_info info{};
  return dladdr(caller, &info) != 0 && std::strstr(info.dli_fname, "libdnnl") != nullptr;
}

}  // namespace

namespace trainyard::test {
std::int64_t counted_allocations() { return allocations; }
}  // namespace trainyard::test

void* operator new(std::size_t bytes) {
  if (!called_by_onednn(__builtin_return_address(0))) ++allocations;
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// Inlined, they look like free() of memory from new.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
