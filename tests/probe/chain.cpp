#include "launches.h"
#include "measurements.h"

namespace trainyard::probe {
namespace {

constexpr int kChain = 200;
/// One a processor of an H100.
constexpr EmptyLaunch kWide = {.blocks = 132, .threads = 256};

Reading read_chain(Gpu& gpu, const EmptyLaunch& launch) {
  if (launch.overlap != Overlap::none) gpu.require_hopper();
  return {.spread = gpu.copies(kChain, [&](int) { launch_empty(gpu.stream(), launch); })};
}

/// Every second kernel waits, behind one that does not trigger it, as a library's does not.
Reading read_behind_plain(Gpu& gpu) {
  gpu.require_hopper();
  EmptyLaunch waiting = kWide;
  waiting.overlap = Overlap::early;
  return {.spread = gpu.copies(
              kChain, [&](int i) { launch_empty(gpu.stream(), i % 2 == 0 ? kWide : waiting); })};
}

Reading read_copy_node(Gpu& gpu) {
  constexpr std::size_t kBytes = 3072;
  const Memory<std::uint8_t> to(gpu, kBytes), from(gpu, kBytes);
  const double kernel = read_chain(gpu, kWide).spread->median;
  const Spread both = gpu.copies(kChain / 2, [&](int) {
    launch_empty(gpu.stream(), kWide);
    gpu.queue().copy(to.data(), from.data(), kBytes);
  });
  return {.spread = share_above(both, kernel, 1), .more = {{"kernel_us", kernel}}};
}

/// Four kernels, and one beside the second and third of them.
Reading read_fork(Gpu& gpu) {
  const auto four = [&](bool forks) {
    return gpu.copies(kChain / 4, [&gpu, forks](int) {
      launch_empty(gpu.stream(), kWide);
      if (forks) {
        gpu.fork();
        launch_empty(gpu.beside(), {});
      }
      launch_empty(gpu.stream(), kWide);
      launch_empty(gpu.stream(), kWide);
      if (forks) gpu.join();
      launch_empty(gpu.stream(), kWide);
    });
  };
  const double without = four(false).median;
  return {.spread = share_above(four(true), without, 1), .more = {{"four_kernels_us", without}}};
}

/// Eight launches of a graph in turn.
Reading read_launch_gap(Gpu& gpu) {
  constexpr int kNodes = 50, kLaunches = 8;
  const double node = read_chain(gpu, kWide).spread->median;
  const std::unique_ptr<Recording> graph = gpu.device().record(gpu.queue(), [&] {
    for (int i = 0; i < kNodes; ++i) launch_empty(gpu.stream(), kWide);
  });
  const double one = gpu.time([&] { graph->replay(); }).median;
  const Spread all = gpu.time([&] {
    for (int i = 0; i < kLaunches; ++i) graph->replay();
  });
  const Spread period = share_above(all, one, kLaunches - 1);
  return {.spread = share_above(period, kNodes * node, 1), .more = {{"node_us", node}}};
}

Measurement of_overlap(Gpu& gpu, const char* name, const char* what, const char* predicted,
                       Overlap overlap) {
  EmptyLaunch launch = kWide;
  launch.overlap = overlap;
  return {std::string("M1.overlap.") + name, what, predicted,
          "programmatic launches; above 0.9 us the goal of the fused step moves to batch 256",
          [&gpu, launch] { return read_chain(gpu, launch); }};
}

}  // namespace

std::vector<Measurement> chain_measurements(Gpu& gpu) {
  const std::string floor = "the least time of a node";
  return {
      {"M1.empty.1", "an empty kernel of 1 block of 32 threads, in a chain of 200", "1.25 us",
       floor, [&gpu] { return read_chain(gpu, {}); }},
      {"M1.empty.132", "the same of 132 blocks of 256 threads", "1.3 us", floor,
       [&gpu] { return read_chain(gpu, kWide); }},
      of_overlap(gpu, "before_wait", "the same, triggers the next before its own wait (a bound)",
                 "0.35 to 0.6 us", Overlap::before_wait),
      of_overlap(gpu, "early", "the same, triggers the next behind its own wait", "0.35 to 0.6 us",
                 Overlap::early),
      of_overlap(gpu, "at_exit", "the same, does not trigger the next", "0.9 to 1.1 us",
                 Overlap::at_exit),
      {"M1.overlap.behind_plain", "the same, every second one plain, as a library's kernel is",
       "1.05 to 1.15 us", "what programmatic launches gain next to cuDNN",
       [&gpu] { return read_behind_plain(gpu); }},
      {"M1.copy", "a node that copies 3 KB, behind a kernel", "2.7 to 3.3 us (1.5 to 2 more)",
       "the step's head: a kernel in place of the copy of labels",
       [&gpu] { return read_copy_node(gpu); }},
      {"M1.fork", "what a fork and join by events add to four kernels", "1 to 2 us",
       "weight gradients beside: how many forks a step may have",
       [&gpu] { return read_fork(gpu); }},
      {"M1.gap", "from the end of a graph's launch to the next one's begin", "2 to 4 us",
       "several steps in a launch", [&gpu] { return read_launch_gap(gpu); }},
  };
}

}  // namespace trainyard::probe
