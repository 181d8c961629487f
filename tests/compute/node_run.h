// Runs all passes of one node on one device, in memory that reveals every mistake: NaN-filled
// before each pass, guard bytes around every tensor, workspace and reserve of exactly the stated
// size.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "compute/executor.h"

namespace trainyard::test {

/// Memory at a 64-byte boundary with guard bytes on both sides, filled with NaN.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes);
  [[nodiscard]] std::byte* data() { return storage_.data() + first_; }
  void fill_with_nan();
  /// False if a byte outside was written.
  [[nodiscard]] bool intact() const;

 private:
  std::size_t bytes_, first_;
  std::vector<std::byte> storage_;
};

/// A node to run. Channels of the inputs and outputs are in blocks of these sizes (1: plain), as
/// channels [first, ...) of a tensor that is `extra` channels wider (output_only: only the output).
struct NodeCase {
  std::shared_ptr<const Op> op;
  Shape input;
  std::int64_t input_block = 1;
  std::int64_t output_block = 1;
  std::int64_t slice_first = 0, slice_extra = 0;
  bool slice_output_only = false;
  int threads = 2;
  bool needs_input_gradient = true;
  bool relu = false;               // behind the node, as part of its forward passes
  bool in_place_backward = false;  // the input gradient overwrites the output gradient
  bool adds_gradient = false;      // the input gradient is added to added_to()
};

/// Everything that the passes wrote, as n, c, h, w in row-major order.
struct NodeResults {
  std::vector<double> train, eval, input_gradient;
  std::vector<std::vector<double>> parameter_gradients, batch_statistics;
  bool guards_intact = true;
  bool padding_zero = true;      // padding of outputs and input gradients
  std::int64_t allocations = 0;  // by our code in the runs; see counted_allocations
  bool operator==(const NodeResults&) const = default;
};

/// Values from Philox, rounded to float, in [-1, 1).
[[nodiscard]] std::vector<double> random_values(std::int64_t count, std::uint32_t stream);

/// What the gradient of a case's input is added to, in row-major order.
[[nodiscard]] std::vector<double> added_to(const NodeCase& node);

/// Runs every pass that the op has, in T. Runs of one case use the same values for any T, layouts
/// and factory. A value of `poison` other than 0 is written to the input at element 3.
template <class T>
[[nodiscard]] NodeResults run_node(const ExecutorFactory& factory, const NodeCase& node,
                                   double poison = 0);

/// The results of a second run, checked: those of the first, within the guards, padding zeroed,
/// nothing allocated.
template <class T>
[[nodiscard]] NodeResults repeated_run(const ExecutorFactory& factory, const NodeCase& node);

/// True if the forward passes with a ReLU as part of them are those without one, bit for bit, cut
/// at 0, where a NaN remains one.
[[nodiscard]] bool relu_cuts_alone(const ExecutorFactory& factory, const NodeCase& node);

/// Allowed for a sum of `terms` products. Values and factors are in [-1, 1), so it has a rounding
/// error of about n * 2^-24 / 3 whatever its order (n roundings of partial sums of size sqrt(n) /
/// 3, which add up like a random walk); bn divides by a deviation of at least 0.3, at most twice.
[[nodiscard]] double tolerance(std::int64_t terms);

/// Calls of operator new so far outside of oneDNN, whose calls copy their argument lists.
[[nodiscard]] std::int64_t counted_allocations();

/// Largest absolute difference; infinite if sizes differ or a value is NaN.
[[nodiscard]] double largest_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace trainyard::test
