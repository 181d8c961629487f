#include "model/model_hash.h"

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

}  // namespace trainyard
