// Ranks as threads of one process.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "ranks/comm/communicator.h"
#include "ranks/comm/gloo_communicator.h"
#include "ranks/rendezvous/socket.h"
#include "ranks/rendezvous/store.h"

namespace trainyard::testing {

enum class StoreKind { memory, tcp };

/// What each rank's work threw, by rank; "" if it returned.
using Outcomes = std::vector<std::string>;

/// Runs work(rank) in one thread per rank, and waits for all.
Outcomes run_threads(int ranks, const std::function<void(int)>& work);

/// The same with work(rank, its store); over TCP, each rank has its own connection.
Outcomes run_stores(StoreKind kind, int ranks, const std::function<void(int, Store&)>& work);

/// Runs work(its communicator) with Gloo's communicators. Their hosts are "host0", "host1", ...
Outcomes run_gloo(StoreKind kind, int ranks, const std::function<void(Communicator&)>& work,
                  Milliseconds limit = Milliseconds(60'000));

/// Options of run_gloo's rank.
[[nodiscard]] GlooOptions local_options(int rank, Milliseconds limit);

/// A limit that no test reaches.
inline constexpr Milliseconds kLong(60'000);

inline double seconds_since(Moment begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace trainyard::testing
