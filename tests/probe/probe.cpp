// Measures what the design of the GPU step assumes of a GPU.
#include <cstdio>
#include <iterator>

#include "measurements.h"
#include "program.h"

namespace trainyard::probe {
namespace {

std::vector<Measurement> all_measurements(Gpu& gpu) {
  std::vector<Measurement> all;
  for (const auto list : {clock_measurements, edge_measurements, chain_measurements,
                          copy_measurements, finish_measurements, overlap_measurements,
                          lane_map_measurements, inner_loop_measurements}) {
    std::vector<Measurement> some = list(gpu);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

int run(std::vector<std::string> arguments) {
  const Request request = take_request(arguments);
  if (!arguments.empty()) refuse_command("unknown: " + arguments[0]);
  if (const std::string why = no_gpu(); !why.empty()) return skip("no GPU: " + why);
  Gpu gpu;
  return finish(all_measurements(gpu), request);
}

}  // namespace
}  // namespace trainyard::probe

int main(int count, char** words) {
  return trainyard::probe::run_program(
      {words + 1, words + count}, trainyard::probe::run,
      "probe [--only M1,M3.read_16.64] [--seconds N] [--output FILE]\n");
}
