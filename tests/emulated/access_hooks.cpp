// The functions that GCC calls before each access to memory in code that it compiles for
// ThreadSanitizer. Programs that do not link its library call these, which report accesses of
// kernels. (Not seen are what the C library's functions copy, and where a function leaves a struct
// that it returns.)
#include <cstddef>
#include <cstdint>

#include "accesses.h"

namespace {

using trainyard::emulated::Access;
using trainyard::emulated::watching;

void note(const void* at, std::size_t bytes, Access how, const void* instruction) {
  if (watching == nullptr) return;
  watching->note({reinterpret_cast<std::uintptr_t>(at), bytes}, how, instruction);
}

}  // namespace

#define TY_HOOK(NAME, BYTES)                                    \
  void __tsan_##NAME##BYTES(void* at) {                         \
    note(at, BYTES, Access::NAME, __builtin_return_address(0)); \
  }
#define TY_HOOKS(NAME)                                          \
  TY_HOOK(NAME, 1)                                              \
  TY_HOOK(NAME, 2)                                              \
  TY_HOOK(NAME, 4)                                              \
  TY_HOOK(NAME, 8)                                              \
  TY_HOOK(NAME, 16)                                             \
  void __tsan_##NAME##_range(void* at, std::size_t bytes) {     \
    note(at, bytes, Access::NAME, __builtin_return_address(0)); \
  }

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** /*at*/, void* /*table*/) {}
// Counts of references, and whether static variables are initialized, which is the host's.
int __tsan_atomic32_fetch_add(int* number, int value, int /*order*/) {
  return __atomic_fetch_add(number, value, __ATOMIC_SEQ_CST);
}
char __tsan_atomic8_load(const char* at, int /*order*/) {
  return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}
TY_HOOKS(read)
TY_HOOKS(write)

}  // extern "C"
