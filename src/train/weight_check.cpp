#include "train/weight_check.h"

#include "base/error.h"
#include "base/hash.h"

namespace trainyard {

std::string model_hash(const Model& model, std::vector<std::byte>& copy) {
  const ModelMemory& memory = model.memory();
  const BlockLayout& blocks = model.blocks();
  Queue& queue = model.compute().queue;
  Hash128 hash;
  const auto add = [&](const std::byte* from, std::int64_t elements) {
    copy.resize(static_cast<std::size_t>(elements) * size_of(memory.type()));
    if (copy.empty()) return;
    queue.copy_to_host(copy.data(), from, copy.size());
    queue.wait();
    hash.update(copy);
  };
  add(memory.weights(), blocks.parameter_elements);
  for (int slot = 0; slot < memory.slots(); ++slot) {
    add(memory.slot(slot), blocks.parameter_elements);
  }
  add(memory.running(), blocks.statistic_elements);
  if (memory.averages()) {
    add(memory.averaged().weights, blocks.parameter_elements);
    add(memory.averaged().running, blocks.statistic_elements);
  }
  return hash.hex();
}

void require_equal_models(const std::string& hash, RankGroup& ranks, std::int64_t step) {
  const std::vector<std::string> all = ranks.gather(hash);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw Error(
        ErrorKind::device,
        "after step " + std::to_string(step) + " rank " + std::to_string(rank) +
            " has a different model than rank 0 (hash " + all[rank] + ", not " + all[0] +
            "), though all took the same steps: a rank's memory or an all-reduce is faulty; "
            "checkpoints saved since the last check may be wrong, too");
  }
}

}  // namespace trainyard
