// A case on a device: executors of all its passes, bound to guarded memory.
#pragma once

#include <memory>
#include <vector>

#include "compute/executor.h"
#include "op_case.h"
#include "test_tensor.h"

namespace trainyard::op_tests {

/// The inputs.
struct CaseValues {
  std::vector<Values> inputs, parameters, running, output_gradients;
};
/// The results.
struct CaseResults {
  std::vector<Values> outputs, statistics, evaluated, input_gradients, parameter_gradients;
  bool operator==(const CaseResults&) const = default;
};

/// Layout of maps: 0 = plain, b = channels in blocks of b.
struct LayoutChoice {
  std::int64_t input_block = 0;
  std::int64_t output_block = 0;
  bool channels_last = false;  // both n, h, w, c with channels padded to a multiple of 8
  bool sliced = false;         // outputs are channels of a wider map, as in a concatenation
};

struct BindOptions {
  DType type = DType::f64;  // storage type of activations
  LayoutChoice layouts;
  int threads = 1;
  bool in_place = false;                    // if the op traits allow it
  std::vector<bool> needs_gradients;        // needs of the inputs; empty: all
  StatisticsSum* statistics_sum = nullptr;  // as StepDescription has it
};

class BoundCase {
 public:
  BoundCase(const OpCase& op_case, const ExecutorFactory& factory, const BindOptions& options);

  void load(const CaseValues& values);
  /// Runs one pass after overwriting its outputs and workspace with garbage. Fails the test if a
  /// guard or a read-only tensor has changed, or padding of an output is not zero.
  void forward();
  /// Repeats forward(), if the op recomputes. Fails the test unless it writes the same bits.
  void recompute();
  void evaluate();
  void backward();
  [[nodiscard]] CaseResults results() const;
  TestTensor& input(std::size_t index) { return inputs_[index]; }
  TestTensor& parameter(std::size_t index) { return parameters_[index]; }
  [[nodiscard]] const std::vector<TestTensor>& outputs() const { return outputs_; }

 private:
  struct BoundPass {
    std::unique_ptr<Executor> executor;
    GuardedBuffer workspace{0};
  };
  void make_tensors();
  [[nodiscard]] Layout layout_of(const Shape& shape, std::int64_t block) const;
  [[nodiscard]] Layout output_layout_of(const Shape& shape) const;
  [[nodiscard]] StepDescription description(Pass pass) const;
  BoundPass make_pass(const ExecutorFactory& factory, Pass pass) const;
  void bind(BoundPass& pass, StepTensors tensors);
  [[nodiscard]] StepTensors forward_tensors(std::vector<TestTensor>& outputs) const;
  [[nodiscard]] StepTensors backward_tensors() const;
  void restore_inputs();
  void run(BoundPass& pass, const std::vector<const TestTensor*>& read_alone);
  void check_guards() const;
  [[nodiscard]] std::vector<Bytes> gaps_of_outputs() const;
  void check_padding(const std::vector<TestTensor>& written) const;
  [[nodiscard]] bool needs_gradient(std::size_t input) const;
  [[nodiscard]] bool in_place_evaluation() const;
  [[nodiscard]] bool in_place_forward() const;
  [[nodiscard]] bool in_place_backward() const;

  const OpCase& case_;
  BindOptions options_;
  Contract contract_;
  CaseValues values_;
  std::vector<TestTensor> inputs_, outputs_, evaluated_, output_gradients_, input_gradients_;
  std::vector<TestTensor> parameters_, parameter_gradients_, running_, statistics_;
  std::vector<std::int64_t> sample_index_;
  StepState state_;
  GuardedBuffer reserve_{0};
  BoundPass forward_, recompute_, evaluate_, backward_data_, backward_parameters_;
};

}  // namespace trainyard::op_tests
