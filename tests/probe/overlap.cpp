#include <algorithm>
#include <set>

#include "launches.h"
#include "measurements.h"

namespace trainyard::probe {
namespace {

constexpr int kNodes = 60;
/// Beside them eight kernels, of three times the work, are two fifths of theirs.
constexpr int kBeside = 8, kBesideWork = 3, kBesideKilobytes = 70;

struct OverlapCase {
  Overlap overlap;
  int kilobytes;
  bool beside;
};

/// The rounds with which a node takes 3 us.
int rounds_of_node(Gpu& gpu, int kilobytes) {
  constexpr int kSample = 40;
  const auto time = [&](int rounds) {
    return gpu
        .copies(kNodes,
                [&](int) { launch_work(gpu.stream(), {.kilobytes = kilobytes, .rounds = rounds}); })
        .median;
  };
  const double none = time(0), sample = time(kSample);
  return std::clamp(static_cast<int>((3 - none) / (sample - none) * kSample), 1, 100);
}

void enqueue_beside(const Gpu& gpu, int rounds) {
  for (int i = 0; i < kBeside; ++i) {
    launch_work(gpu.beside(), {.kilobytes = kBesideKilobytes, .rounds = rounds * kBesideWork});
  }
}

/// How the blocks of the nodes were placed: processors of a node, and its blocks that shared one
/// with another of the same node, both on average; then how many processors of a node had one
/// block, two, and so on.
Json placement_of(const std::vector<std::uint16_t>& processors, int blocks) {
  double used = 0, shared = 0;
  std::vector<double> histogram;
  for (int node = 0; node < kNodes; ++node) {
    const auto first = processors.begin() + node * blocks;
    std::multiset<std::uint16_t> all(first, first + blocks);
    for (auto at = all.begin(); at != all.end(); at = all.upper_bound(*at)) {
      const std::size_t here = all.count(*at);
      used += 1;
      if (here > 1) shared += static_cast<double>(here);
      if (histogram.size() < here) histogram.resize(here);
      histogram[here - 1] += 1;
    }
  }
  for (double& count : histogram) count /= kNodes;
  return {{"processors", used / kNodes},
          {"sharing_blocks", shared / kNodes},
          {"processors_by_blocks", histogram}};
}

Reading read_overlap(Gpu& gpu, const OverlapCase& one) {
  if (one.overlap != Overlap::none) gpu.require_hopper();
  const int rounds = rounds_of_node(gpu, one.kilobytes);
  WorkLaunch node{.kilobytes = one.kilobytes, .rounds = rounds, .overlap = one.overlap};
  const auto blocks = static_cast<int>(node.blocks);
  const Memory<std::uint16_t> processors(gpu, static_cast<std::size_t>(kNodes * blocks));
  const Spread spread = gpu.replays([&] {
    if (one.beside) {
      gpu.fork();
      enqueue_beside(gpu, rounds);
    }
    for (int i = 0; i < kNodes; ++i) {
      node.processors = processors.data() + i * blocks;
      launch_work(gpu.stream(), node);
    }
    if (one.beside) gpu.join();
  });
  Reading reading{.spread = share_above(spread, 0, kNodes),
                  .more = {{"rounds", rounds}, {"registers", work_registers()}}};
  if (one.beside) {
    const double alone = gpu.replays([&] {
                              gpu.fork();
                              enqueue_beside(gpu, rounds);
                              gpu.join();
                            })
                             .median;
    reading.more["beside_alone_us"] = alone / kNodes;
  }
  reading.more.update(placement_of(processors.read(), blocks));
  return reading;
}

}  // namespace

std::vector<Measurement> overlap_measurements(Gpu& gpu) {
  struct Trigger {
    const char* name;
    Overlap overlap;
    const char* alone;   // predicted
    const char* beside;  // with the others
  };
  const char* const hidden = "3.0 us (they are hidden) to 3.9 us";
  const Trigger triggers[] = {{"full", Overlap::none, "3.0 us", hidden},
                              {"early", Overlap::early, "2.05 to 2.4 us", hidden},
                              {"late", Overlap::late, "2.05 to 2.4 us", hidden},
                              {"at_exit", Overlap::at_exit, "2.5 to 2.7 us", hidden}};
  std::vector<Measurement> all;
  for (const int kilobytes : {37, 80}) {
    for (const bool beside : {false, true}) {
      for (const Trigger& trigger : triggers) {
        const OverlapCase one{trigger.overlap, kilobytes, beside};
        all.push_back({"M9." + std::string(trigger.name) + "." + std::to_string(kilobytes) +
                           (beside ? ".beside" : ""),
                       "a node of 3 us, 128 blocks, so many KB of shared memory, by when it lets "
                       "the next one begin; beside: next to others",
                       beside ? trigger.beside : trigger.alone,
                       "where kernels trigger the next; whether they do with work beside",
                       [&gpu, one] { return read_overlap(gpu, one); }});
      }
    }
  }
  return all;
}

}  // namespace trainyard::probe
