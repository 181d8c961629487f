// Durations for the tests.
#pragma once

#include <chrono>

#include "ranks/rendezvous/socket.h"

namespace trainyard::testing {

/// A limit that no test reaches.
inline constexpr Milliseconds kLong(60'000);

inline double seconds_since(Moment begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace trainyard::testing
