// Values that a GPU thread reads and writes together.
#pragma once

#include "base/host_device.h"

/// In front of a loop over a pack: unrolled, so that a GPU thread has it in registers.
#if defined(__CUDACC__)
#define TY_UNROLL _Pragma("unroll")
#else
#define TY_UNROLL
#endif

namespace trainyard {

/// Values that one call of an elementwise functor handles together if the layout allows it: 16
/// bytes, the vector load of a GPU thread.
template <class T>
inline constexpr int kPack = 16 / sizeof(T);

/// P values that are read and written together.
template <class T, int P>
struct alignas(sizeof(T) * P) Pack {
  T value[P];
};
template <class T, int P>
TY_HD Pack<T, P> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, P>*>(from);
}
template <class T, int P>
TY_HD void store_pack(T* to, const Pack<T, P>& pack) {
  *reinterpret_cast<Pack<T, P>*>(to) = pack;
}

}  // namespace trainyard
