#include "launches.h"
#include "measurements.h"

namespace trainyard::probe {
namespace {

Reading read_machine(const Gpu& gpu) {
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));  // 0: unknown
  const cudaDeviceProp& facts = gpu.facts();
  return {.more = {{"gpu", facts.name},
                   {"capability", std::to_string(facts.major) + "." + std::to_string(facts.minor)},
                   {"processors", facts.multiProcessorCount},
                   {"l2_mib", facts.l2CacheSize >> 20},
                   {"shared_kib", facts.sharedMemPerBlockOptin >> 10},
                   {"memory_mib", facts.totalGlobalMem >> 20},
                   {"driver", driver},
                   {"runtime", CUDART_VERSION}}};
}

Reading read_clock(Gpu& gpu) {
  const Memory<ClockReading> memory(gpu, 1);
  const auto processors = static_cast<unsigned>(gpu.facts().multiProcessorCount);
  std::vector<double> megahertz;
  for (int i = 0; i < 7; ++i) {
    launch_clocks(gpu.stream(), processors * 2, memory.data());
    const ClockReading reading = memory.read()[0];
    megahertz.push_back(1e3 * static_cast<double>(reading.cycles) /
                        static_cast<double>(reading.nanoseconds));
  }
  return {.spread = spread_of(megahertz), .unit = "MHz"};
}

}  // namespace

std::vector<Measurement> clock_measurements(Gpu& gpu) {
  return {{.name = "M0.machine",
           .what = "the GPU, its driver and this program's runtime",
           .predicted = "132 processors, 50 MiB of L2 (H100, H200)",
           .decides = "which predictions hold",
           .measure = [&gpu] { return read_machine(gpu); }},
          {.name = "M0.clock",
           .what = "clock of a processor while all of them multiply",
           .predicted = "1755 to 1980 MHz",
           .decides = "the clock that cycles are counted in",
           .measure = [&gpu] { return read_clock(gpu); }}};
}

}  // namespace trainyard::probe
