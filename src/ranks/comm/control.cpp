#include "ranks/comm/control.h"

#include <algorithm>
#include <cstdint>

namespace trainyard {

std::vector<std::string> gather_texts(Communicator& ranks, Queue& queue, std::string_view mine) {
  const auto sizes = gather_values(ranks, queue, static_cast<std::uint64_t>(mine.size()));
  const std::size_t slot = *std::ranges::max_element(sizes);
  std::string padded(mine);
  padded.resize(slot);
  std::string all(slot * sizes.size(), '\0');
  ranks.all_gather(queue, padded.data(), slot, all.data());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < sizes.size(); ++i) texts.push_back(all.substr(i * slot, sizes[i]));
  return texts;
}

double largest(Communicator& ranks, Queue& queue, double mine) {
  const auto all = gather_values(ranks, queue, mine);
  return *std::ranges::max_element(all);
}

std::string broadcast_text(Communicator& ranks, Queue& queue, std::string_view text, int root) {
  std::uint64_t size = text.size();
  ranks.broadcast(queue, &size, sizeof size, root);
  std::string all(size, '\0');
  if (ranks.rank() == root) all = text;
  ranks.broadcast(queue, all.data(), all.size(), root);
  return all;
}

}  // namespace trainyard
