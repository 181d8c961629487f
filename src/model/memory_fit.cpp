#include "model/memory_fit.h"

#include <fmt/format.h>

#include "base/error.h"

namespace trainyard {
namespace {

std::string advice(std::int64_t fits, std::int64_t batch) {
  if (fits == 0) return "not even a batch of 1 would fit: choose a smaller network or input";
  return fmt::format(
      "the largest batch that would fit is {}, not {}: lower 'batch', or raise 'accumulate' to "
      "keep the samples per step",
      fits, batch);
}

// Bytes of a thread's stack and of the libraries' own code and buffers, in addition to a model:
// measured on two threads as the smallest address space in which ResNet-20 trains, less its
// forecast. They fail without it, and do not always report that.
constexpr std::size_t kThreadBytes = std::size_t{8} << 20;
constexpr std::size_t kLibraryBytes = std::size_t{48} << 20;

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

void require_program_memory(const Device& device, std::int64_t threads) {
  const std::size_t free = device.free_bytes();
  const std::size_t needed = kLibraryBytes + static_cast<std::size_t>(threads) * kThreadBytes;
  if (free == 0 || needed <= free) return;
  throw Error(
      ErrorKind::memory,
      fmt::format("out of memory: training on {} threads takes {:.0f} MiB besides the model, "
                  "but {:.1f} MiB are free, limited by {}; raise that limit, or use fewer "
                  "'threads' and 'data.workers'",
                  threads, mebibytes(needed), mebibytes(free), device.memory_bound()));
}

void require_memory(const ModelPrograms& programs, const Device& device, const TrainingGraph& graph,
                    const ExecutorFactory& executors, const ModelOptions& options) {
  const std::size_t free = device.free_bytes();
  const std::size_t needed =
      ModelMemory::offsets_of(programs.blocks, programs.sizes).bytes + programs.transient_bytes();
  if (free == 0 || needed <= free) return;
  const std::int64_t batch = programs.sizes.batch;
  const std::int64_t fits = largest_batch(free, batch - 1, [&](std::int64_t smaller) {
    return forecast(make_programs(with_batch(graph, smaller), executors, options)).total();
  });
  throw Error(ErrorKind::memory,
              fmt::format("out of memory on {}: {:.1f} MiB are free, limited by {}; {}; {}",
                          device.name(), mebibytes(free), device.memory_bound(),
                          text_of(forecast(programs)), advice(fits, batch)));
}

}  // namespace trainyard
