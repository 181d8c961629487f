// Values that a GPU thread reads and writes together.
#pragma once

#include <cstdint>

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

/// Calls add(i, load(i)) for i in [begin, end) in order; a GPU thread with up to kLoads loads in
/// flight: in batches of kLoads, then of half as many and so on. A processor has its own loads in
/// flight.
template <int kLoads, class Load, class Add>
TY_HD void add_staged(std::int64_t begin, std::int64_t end, const Load& load, const Add& add) {
#if defined(__CUDA_ARCH__)
  for (; begin + kLoads <= end; begin += kLoads) {
    decltype(load(begin)) staged[kLoads];
    TY_UNROLL
    for (int i = 0; i < kLoads; ++i) staged[i] = load(begin + i);
    TY_UNROLL
    for (int i = 0; i < kLoads; ++i) add(begin + i, staged[i]);
  }
  if constexpr (kLoads > 1) {
    if (begin < end) add_staged<kLoads / 2>(begin, end, load, add);
  }
#else
  for (; begin < end; ++begin) add(begin, load(begin));
#endif
}

}  // namespace trainyard
