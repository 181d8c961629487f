// The bias of convolutions and dense layers as functors over rows of channels, for cases in which
// the library does not add it.
#pragma once

#include <cstdint>

#include "base/half.h"
#include "exec/functor/channel_rows.h"

namespace trainyard {

/// y += bias, in place. One call does P channels of a row; padding is unchanged.
template <class T, int P>
struct AddBiasRows {
  using A = Arithmetic<T>;
  ChannelRows rows;
  T* y;
  const A* bias;  // [channels]

  TY_HD void operator()(std::int64_t i) const {
    const std::uint32_t packs = static_cast<std::uint32_t>((rows.channels + P - 1) / P);
    const std::uint32_t row = static_cast<std::uint32_t>(i) / packs;
    const std::int64_t c = (static_cast<std::uint32_t>(i) - row * packs) * P;
    T* const at = y + rows.offset(row) + c * rows.channel_stride;
    Pack<T, P> value = load_pack<T, P>(at);
    for (int k = 0; k < P; ++k) {
      if (P > 1 && c + k >= rows.channels) break;
      value.value[k] = static_cast<T>(static_cast<A>(value.value[k]) + bias[c + k]);
    }
    store_pack<T, P>(at, value);
  }
};

/// bias_gradient[c] = sum of dy over the rows, in the order of columns() and in double. A column is
/// a channel.
template <class T>
struct BiasGradientRows {
  using A = Arithmetic<T>;
  using Sum = double;
  ChannelRows rows;
  const T* dy;
  A* gradient;  // [channels]

  TY_HD double operator()(std::int64_t row, std::int64_t c) const {
    return static_cast<A>(dy[rows.offset(row) + c * rows.channel_stride]);
  }
  TY_HD void finish(std::int64_t c, double sum) const { gradient[c] = static_cast<A>(sum); }
};

}  // namespace trainyard
