#include "run/memory_fit.h"

#include <fmt/format.h>

#include "base/error.h"

namespace trainyard {
namespace {

std::string advice(std::int64_t fits, std::int64_t batch) {
  if (fits == 0) return "not even a batch of 1 would fit: choose a smaller network or input";
  return fmt::format(
      "the largest batch that would fit is {}, not {}: lower 'batch', or raise 'accumulate' to "
      "keep "
      "the samples of an update",
      fits, batch);
}

}  // namespace

void require_memory(const ModelPrograms& programs, const Device& device, const TrainingGraph& graph,
                    const ExecutorFactory& executors, const ModelOptions& options) {
  const std::size_t free = device.free_bytes();
  const std::size_t needed =
      ModelMemory::places(programs.blocks, programs.sizes).bytes + programs.transient_bytes();
  if (free == 0 || needed <= free) return;
  const std::int64_t batch = programs.sizes.batch;
  const std::int64_t fits = largest_batch(free, batch - 1, [&](std::int64_t smaller) {
    return forecast(make_programs(with_batch(graph, smaller), executors, options)).total();
  });
  throw Error(ErrorKind::memory, fmt::format("out of memory on {}: {:.1f} MiB are free; {}; {}",
                                             device.name(), static_cast<double>(free) / (1 << 20),
                                             text_of(forecast(programs)), advice(fits, batch)));
}

}  // namespace trainyard
