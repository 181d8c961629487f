// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//
// Every draw is a pure function of its purpose: (seed, stream, epoch, sample or parameter index,
// draw), never of thread, rank, batch position or device.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/host_device.h"

namespace trainyard {

struct Random4 {
  std::uint32_t word[4];
};

/// The purpose of a draw; mixed into the key's high word, so that streams never overlap.
enum class RandomStream : std::uint32_t {
  initializer = 1,
  order = 2,  // shuffling
  augment = 3,
  layer = 4,      // dropout and the like
  synthetic = 5,  // synthetic data
  generated = 6,  // text that a model writes
  mix = 7,        // mixup and cutmix
};

/// `Lane` holds the counters; what is above its lower 32 bits is not used. In a loop that becomes
/// vectors of AVX-512, which multiply 64 bits by 64, lanes of 64 bits take about half the time,
/// since products need not be put together from even and odd ones.
template <class Lane = std::uint32_t>
TY_HD Random4 philox(std::uint32_t key0, std::uint32_t key1, std::uint32_t c0, std::uint32_t c1,
                     std::uint32_t c2, std::uint32_t c3) {
  Lane n0 = c0, n1 = c1, n2 = c2, n3 = c3;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ull * static_cast<std::uint32_t>(n0);
    const std::uint64_t p1 = 0xCD9E8D57ull * static_cast<std::uint32_t>(n2);
    n0 = static_cast<Lane>(p1 >> 32) ^ n1 ^ key0;
    n2 = static_cast<Lane>(p0 >> 32) ^ n3 ^ key1;
    n1 = static_cast<Lane>(p1);
    n3 = static_cast<Lane>(p0);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{static_cast<std::uint32_t>(n0), static_cast<std::uint32_t>(n1),
           static_cast<std::uint32_t>(n2), static_cast<std::uint32_t>(n3)}};
}

/// The four words for (seed, stream, a, b, c): a and b 32 bits, c 64 bits. By convention a = epoch
/// or node, b = draw, c = sample or element index.
TY_HD Random4 random4(std::uint64_t seed, RandomStream stream, std::uint32_t a, std::uint32_t b,
                      std::uint64_t c) {
  const std::uint32_t low = static_cast<std::uint32_t>(seed);
  const std::uint32_t high =
      static_cast<std::uint32_t>(seed >> 32) ^ (static_cast<std::uint32_t>(stream) << 24);
  return philox(low, high, static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(c >> 32), a,
                b);
}

/// [0, 1) with 24 bits: exact in float.
TY_HD float uniform01(std::uint32_t word) {
  return static_cast<float>(word >> 8) * (1.0f / 16777216.0f);
}

/// FNV-1a, 32 bits. Random draws of a layer or parameter are keyed by its path, so that fusing or
/// adding other layers never changes them.
[[nodiscard]] constexpr std::uint32_t key_of(std::string_view path) {
  std::uint32_t hash = 2166136261u;
  for (const char character : path) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 16777619u;
  }
  return hash;
}

}  // namespace trainyard
