// What `train bench --layers` prints: the steps of a plan with their times and algorithms.
#pragma once

#include <string>

#include "bench/bench.h"
#include "formats/json.h"

namespace trainyard::cli {

/// A line a step: time, share of the training step, and of a product its algorithm with its share
/// of the peak, counted in operations of the direct form and, if it executes fewer, in those; then
/// the sums of products and of everything else. "" without layers.
[[nodiscard]] std::string layers_text(const BenchResult& result);
/// The same as an array with an object a step.
[[nodiscard]] Json layers_json(const BenchResult& result);
/// On a GPU: a line a launch, of several that are alike in a step one, then the sum of all. "" on
/// the CPU.
[[nodiscard]] std::string node_times_text(const BenchResult& result);
/// An array of {"step", "kind", "functor", "library", "beside", "bytes", "flop", "nodes", "count",
/// "microseconds"}; time, bytes and operations are of one of `count` launches.
[[nodiscard]] Json node_times_json(const BenchResult& result);

/// JSON lines, of the bench and then of each span: {"node", "kind", "functor", "queue", "begin_us",
/// "end_us", "gap_us", "calls_in_gap"}.
[[nodiscard]] std::string spans_lines(const BenchResult& result);

}  // namespace trainyard::cli
