// Small values gathered from all ranks, for decisions that every rank must make alike. For groups
// on host memory (Gloo, or one rank); `queue` is one of the CPU device.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ranks/comm/communicator.h"

namespace trainyard {

/// Every rank's value, by rank.
template <class T>
[[nodiscard]] std::vector<T> gather_values(Communicator& ranks, Queue& queue, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(queue, &mine, sizeof mine, all.data());
  return all;
}

/// Every rank's text, by rank.
[[nodiscard]] std::vector<std::string> gather_texts(Communicator& ranks, Queue& queue,
                                                    std::string_view mine);
/// The largest value of all ranks.
[[nodiscard]] double largest(Communicator& ranks, Queue& queue, double mine);
/// Rank `root`'s text; the others' are ignored.
[[nodiscard]] std::string broadcast_text(Communicator& ranks, Queue& queue, std::string_view text,
                                         int root);

}  // namespace trainyard
