// Times the CPU executors of three small networks' ops, layer shape by layer shape, on synthetic
// values: op_speed [threads] [batch] [channels in a block: 8 or 16] [start of the names to time].
// Built on demand only; numbers are the best of several runs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "exec/executor.h"
#include "ops/add.h"
#include "ops/bn.h"
#include "ops/concat.h"
#include "ops/conv.h"
#include "ops/dense.h"
#include "ops/pool.h"

using namespace trainyard;

namespace {

struct Case {
  std::string name;
  std::shared_ptr<const Op> op;
  Shape input;                // of the whole batch
  std::int64_t slice_of = 0;  // channels of the tensor that the output is a slice of; 0: none
  std::size_t inputs = 1;     // of the same shape
};

double milliseconds(Executor& executor) {
  double best = 1e9;
  for (int repeat = 0; repeat < 12; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    executor.run();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

/// The tensors of a case in their own memory.
class Memory {
 public:
  void* take(std::int64_t elements) {
    blocks_.push_back(std::make_unique<float[]>(static_cast<std::size_t>(elements + 16)));
    for (std::int64_t i = 0; i < elements; ++i) {
      blocks_.back()[i] = static_cast<float>((i * 37) % 101) / 50.0f - 1.0f;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(blocks_.back().get());
    return reinterpret_cast<void*>((address + 63) / 64 * 64);
  }
  TensorView tensor(const Layout& layout) {
    return {.data = take(span_elements(layout) + layout.stride[0]), .layout = layout};
  }

 private:
  std::vector<std::unique_ptr<float[]>> blocks_;
};

Layout map_layout(const Shape& shape, std::int64_t block) {
  const bool plain = shape.rank() < 4 || shape.c() < 8;
  return plain ? plain_layout(shape) : blocked_layout(shape, block);
}

void time_case(const ExecutorFactory& factory, const Case& test, int threads, std::int64_t block) {
  const std::vector<Shape> shapes(test.inputs, test.input);
  const Signature signature = test.op->infer(shapes);
  const Shape& out = signature.outputs[0];
  StepDescription step;
  step.op = test.op.get();
  step.signature = signature;
  step.threads = threads;
  step.inputs.assign(test.inputs, map_layout(test.input, block));
  step.outputs = {test.slice_of == 0
                      ? map_layout(out, block)
                      : channel_slice(map_layout(out.with(1, test.slice_of), block), 0, out.c())};
  step.needs_input_gradient.assign(test.inputs, true);
  Memory memory;
  StepTensors tensors;
  for (const Layout& layout : step.inputs) {
    tensors.inputs.push_back(memory.tensor(layout));
    tensors.input_gradients.push_back(memory.tensor(layout));
  }
  tensors.outputs = {memory.tensor(step.outputs[0])};
  tensors.output_gradients = {memory.tensor(step.outputs[0])};
  for (const ParameterSpec& spec : signature.parameters) {
    tensors.parameters.push_back(memory.tensor(plain_layout(spec.shape)));
    tensors.parameter_gradients.push_back(memory.tensor(plain_layout(spec.shape)));
  }
  for (const StatisticSpec& spec : signature.statistics) {
    tensors.batch_statistics.push_back(memory.tensor(plain_layout(spec.shape)));
  }
  std::printf("%-28s", test.name.c_str());
  for (const Pass pass : {Pass::forward_train, Pass::backward_data, Pass::backward_parameters}) {
    const bool skipped = pass == Pass::backward_parameters &&
                         (test.op->contract().synced_backward || signature.parameters.empty());
    const bool first = pass == Pass::backward_data && test.input.c() < 8 && out.rank() == 4;
    if (skipped || first) {
      std::printf(" %9s", "-");
      continue;
    }
    step.pass = pass;
    const auto executor = factory.make(step);
    tensors.workspace = memory.take(static_cast<std::int64_t>(executor->workspace_bytes() / 4) + 1);
    if (tensors.reserve == nullptr) {
      tensors.reserve = memory.take(static_cast<std::int64_t>(executor->reserve_bytes() / 4) + 1);
    }
    executor->bind(tensors);
    const double time = milliseconds(*executor);
    std::printf(" %9.3f", time);
  }
  std::printf(" ms\n");
}

Case conv(std::int64_t batch, std::int64_t c, std::int64_t size, std::int64_t filters, int kernel,
          int stride = 1, bool valid = false) {
  ConvAttributes a;
  a.filters = filters;
  a.kernel = {kernel, kernel};
  a.stride = {stride, stride};
  a.pad.kind = valid ? Padding::Kind::valid : Padding::Kind::same_upper;
  return {"conv " + std::to_string(c) + "x" + std::to_string(size) + " -> " +
              std::to_string(filters) + " k" + std::to_string(kernel) + " s" +
              std::to_string(stride),
          std::make_shared<ConvOp>(a),
          {batch, c, size, size}};
}

Case bn(std::int64_t batch, std::int64_t c, std::int64_t size, std::int64_t slice_of = 0,
        bool residual = false) {
  BnAttributes a;
  a.relu = true;
  a.residual = residual;
  return {(residual ? "bn+add+relu " : "bn+relu ") + std::to_string(c) + "x" +
              std::to_string(size) + (slice_of > 0 ? " slice of " + std::to_string(slice_of) : ""),
          std::make_shared<BnOp>(a),
          {batch, c, size, size},
          slice_of,
          residual ? 2u : 1u};
}

}  // namespace

int main(int count, char** arguments) {
  const int threads = count > 1 ? std::atoi(arguments[1]) : 1;
  const std::int64_t batch = count > 2 ? std::atoi(arguments[2]) : 128;
  const std::int64_t block = count > 3 ? std::atoi(arguments[3]) : processor_has_avx512() ? 16 : 8;
  const std::string only = count > 4 ? arguments[4] : "";
  const auto factory = make_cpu_executors();
  std::printf("%-28s %9s %9s %9s   (best, batch %lld, %d threads)\n", "", "forward", "data",
              "weights", static_cast<long long>(batch), threads);
  DenseAttributes dense;
  dense.units = 512;
  PoolAttributes pool;
  const std::vector<Case> cases{
      conv(batch, 3, 32, 16, 3),
      conv(batch, 16, 32, 16, 3),
      conv(batch, 16, 32, 32, 3, 2),
      conv(batch, 16, 32, 32, 1, 2),
      conv(batch, 32, 16, 32, 3),
      conv(batch, 32, 16, 64, 3, 2),
      conv(batch, 32, 16, 64, 1, 2),
      conv(batch, 64, 8, 64, 3),
      conv(batch, 3, 32, 32, 3),
      conv(batch, 32, 32, 32, 3, 1, true),
      conv(batch, 32, 15, 64, 3),
      conv(batch, 64, 15, 64, 3, 1, true),
      conv(batch, 3, 32, 96, 3),
      conv(batch, 96, 32, 32, 1),
      conv(batch, 96, 32, 32, 3),
      conv(batch, 80, 32, 80, 3, 2, true),
      conv(batch, 160, 15, 112, 1),
      conv(batch, 160, 15, 48, 3),
      conv(batch, 240, 7, 160, 3),
      conv(batch, 336, 7, 176, 1),
      bn(batch, 16, 32),
      bn(batch, 16, 32, 0, true),
      bn(batch, 16, 32, 32),
      bn(batch, 32, 16),
      bn(batch, 64, 8),
      bn(batch, 64, 8, 128),
      bn(batch, 96, 32),
      bn(batch, 32, 32),
      bn(batch, 32, 32, 80),
      bn(batch, 112, 15),
      bn(batch, 112, 15, 160),
      bn(batch, 176, 7),
      bn(batch, 176, 7, 336),
      {"dense 3136 -> 512", std::make_shared<DenseOp>(dense), {batch, 3136}},
      {"max_pool 32x30", std::make_shared<PoolOp>(pool), {batch, 32, 30, 30}},
      {"max_pool 96x32", std::make_shared<PoolOp>(pool), {batch, 96, 32, 32}},
      {"add+relu 16x32", std::make_shared<AddOp>(AddAttributes{true}), {batch, 16, 32, 32}, 0, 2},
      {"concat 2 x 32x32", std::make_shared<ConcatOp>(), {batch, 32, 32, 32}, 0, 2},
      {"concat 2 x 160x15", std::make_shared<ConcatOp>(), {batch, 160, 15, 15}, 0, 2},
      {"max_pool 96x32 slice", std::make_shared<PoolOp>(pool), {batch, 96, 32, 32}, 192},
  };
  for (const Case& test : cases) {
    if (test.name.starts_with(only)) time_case(*factory, test, threads, block);
  }
  return 0;
}
