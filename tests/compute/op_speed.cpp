// Times the CPU executors of three small networks' ops, layer shape by layer shape, on synthetic
// values: op_speed [threads] [batch] [channels in a block: 8 or 16] [start of the names to time]
// [fp32 or bf16]. Built on demand only; numbers are the best of several runs.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compute/executor.h"
#include "ops/bn.h"
#include "ops/convolution.h"
#include "ops/dense.h"
#include "ops/joins.h"
#include "ops/pool.h"
#include "tensor/dtype.h"

using namespace trainyard;

namespace {

struct Case {
  std::string name;
  std::shared_ptr<const Op> op;
  Shape input;                // shape of the whole batch
  std::int64_t slice_of = 0;  // channels of the tensor that the output is a slice of; 0: none
  std::size_t inputs = 1;     // inputs of the same shape
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

/// Values in [-1, 1].
template <class T>
void fill(void* to, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) {
    static_cast<T*>(to)[i] = static_cast<T>(static_cast<float>((i * 37) % 101) / 50.0f - 1.0f);
  }
}

/// The tensors of a case in their own memory.
class Memory {
 public:
  void* take(std::size_t bytes) {
    blocks_.push_back(std::make_unique<std::byte[]>(bytes + 64));
    const auto address = reinterpret_cast<std::uintptr_t>(blocks_.back().get());
    return reinterpret_cast<void*>((address + 63) / 64 * 64);
  }
  TensorView tensor(const Layout& layout, DType type) {
    const std::int64_t elements = span_elements(layout) + layout.stride[0];
    void* const data = take(static_cast<std::size_t>(elements) * size_of(type));
    type == DType::bf16 ? fill<BFloat16>(data, elements) : fill<float>(data, elements);
    return {.data = data, .type = type, .layout = layout};
  }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

Layout map_layout(const Shape& shape, std::int64_t block) {
  const bool plain = shape.rank() < 4 || shape.c() < 8;
  return plain ? plain_layout(shape) : blocked_layout(shape, block);
}

/// What the cases are run with.
struct Setting {
  int threads;
  std::int64_t block;
  DType storage;
};

StepDescription describe(const Case& test, const Setting& setting) {
  const std::vector<Shape> shapes(test.inputs, test.input);
  StepDescription step;
  step.op = test.op.get();
  step.storage = setting.storage;
  step.signature = test.op->infer(shapes);
  step.threads = setting.threads;
  step.inputs.assign(test.inputs, map_layout(test.input, setting.block));
  const Shape& out = step.signature.outputs[0];
  step.outputs = {map_layout(out, setting.block)};
  if (test.slice_of != 0) {
    const Layout whole = map_layout(out.with(1, test.slice_of), setting.block);
    step.outputs = {channel_slice(whole, 0, out.c())};
  }
  step.needs_input_gradient.assign(test.inputs, true);
  return step;
}

StepTensors tensors_of(const StepDescription& step, Memory& memory) {
  StepTensors tensors;
  for (const Layout& layout : step.inputs) {
    tensors.inputs.push_back(memory.tensor(layout, step.storage));
    tensors.input_gradients.push_back(memory.tensor(layout, step.storage));
  }
  tensors.outputs = {memory.tensor(step.outputs[0], step.storage)};
  tensors.output_gradients = {memory.tensor(step.outputs[0], step.storage)};
  for (const ParameterSpec& spec : step.signature.parameters) {
    tensors.parameters.push_back(memory.tensor(plain_layout(spec.shape), DType::f32));
    tensors.parameter_gradients.push_back(memory.tensor(plain_layout(spec.shape), DType::f32));
  }
  for (const StatisticSpec& spec : step.signature.statistics) {
    tensors.batch_statistics.push_back(memory.tensor(plain_layout(spec.shape), DType::f32));
  }
  return tensors;
}

/// True for passes that a network does not have: gradients of images, and of no parameters.
bool is_absent(Pass pass, const Case& test, const StepDescription& step) {
  if (pass == Pass::backward_data) {
    return test.input.c() < 8 && step.signature.outputs[0].rank() == 4;
  }
  return pass == Pass::backward_parameters &&
         (test.op->contract().synced_backward || step.signature.parameters.empty());
}

void time_case(const ExecutorFactory& factory, const Case& test, const Setting& setting) {
  StepDescription step = describe(test, setting);
  Memory memory;
  StepTensors tensors = tensors_of(step, memory);
  std::printf("%-28s", test.name.c_str());
  for (const Pass pass : {Pass::forward_train, Pass::backward_data, Pass::backward_parameters}) {
    if (is_absent(pass, test, step)) {
      std::printf(" %9s", "-");
      continue;
    }
    step.pass = pass;
    const auto executor = factory.make(step);
    tensors.workspace = memory.take(executor->workspace_bytes());
    if (tensors.reserve == nullptr) tensors.reserve = memory.take(executor->reserve_bytes());
    executor->bind(tensors);
    std::printf(" %9.3f", milliseconds(*executor));
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

Case pool(const char* name, const Shape& input, const PoolAttributes& a,
          std::int64_t slice_of = 0) {
  return {name, std::make_shared<PoolOp>(a), input, slice_of};
}

std::vector<Case> convolutions(std::int64_t batch) {
  return {
      conv(batch, 3, 32, 16, 3),     conv(batch, 16, 32, 16, 3),
      conv(batch, 16, 32, 32, 3, 2), conv(batch, 16, 32, 32, 1, 2),
      conv(batch, 32, 16, 32, 3),    conv(batch, 32, 16, 64, 3, 2),
      conv(batch, 32, 16, 64, 1, 2), conv(batch, 64, 8, 64, 3),
      conv(batch, 3, 32, 32, 3),     conv(batch, 32, 32, 32, 3, 1, true),
      conv(batch, 32, 15, 64, 3),    conv(batch, 64, 15, 64, 3, 1, true),
      conv(batch, 3, 32, 96, 3),     conv(batch, 96, 32, 32, 1),
      conv(batch, 96, 32, 32, 3),    conv(batch, 80, 32, 80, 3, 2, true),
      conv(batch, 160, 15, 112, 1),  conv(batch, 160, 15, 48, 3),
      conv(batch, 240, 7, 160, 3),   conv(batch, 336, 7, 176, 1),
  };
}

std::vector<Case> norms(std::int64_t batch) {
  return {
      bn(batch, 16, 32),      bn(batch, 16, 32, 0, true), bn(batch, 16, 32, 32),
      bn(batch, 32, 16),      bn(batch, 64, 8),           bn(batch, 64, 8, 128),
      bn(batch, 96, 32),      bn(batch, 32, 32),          bn(batch, 32, 32, 80),
      bn(batch, 112, 15),     bn(batch, 112, 15, 160),    bn(batch, 176, 7),
      bn(batch, 176, 7, 336),
  };
}

std::vector<Case> pools(std::int64_t batch) {
  using enum PoolAttributes::Kind;
  const PoolAttributes overlapping{.size = {3, 3}, .stride = {2, 2}};
  const PoolAttributes same_mean{
      .kind = average, .size = {3, 3}, .stride = {1, 1}, .pad = {Padding::Kind::same_upper}};
  return {
      pool("max_pool 32x30", {batch, 32, 30, 30}, {}),
      pool("max_pool 96x32", {batch, 96, 32, 32}, {}),
      pool("max_pool 96x32 slice", {batch, 96, 32, 32}, {}, 192),
      pool("max_pool 80x32 k3 s2", {batch, 80, 32, 32}, overlapping),
      pool("avg_pool 96x32", {batch, 96, 32, 32}, {.kind = average}),
      pool("avg_pool 96x15 k3 s1", {batch, 96, 15, 15}, same_mean),
      pool("avg_pool 336x7 k7", {batch, 336, 7, 7}, {.kind = average, .size = {7, 7}}),
      pool("global_avg_pool 64x8", {batch, 64, 8, 8}, {.kind = average, .global = true}),
      pool("global_max_pool 64x8", {batch, 64, 8, 8}, {.global = true}),
  };
}

std::vector<Case> others(std::int64_t batch) {
  DenseAttributes dense;
  dense.units = 512;
  return {
      {"dense 3136 -> 512", std::make_shared<DenseOp>(dense), {batch, 3136}},
      {"add+relu 16x32", std::make_shared<AddOp>(AddAttributes{true}), {batch, 16, 32, 32}, 0, 2},
      {"concat 2 x 32x32", std::make_shared<ConcatOp>(), {batch, 32, 32, 32}, 0, 2},
      {"concat 2 x 160x15", std::make_shared<ConcatOp>(), {batch, 160, 15, 15}, 0, 2},
  };
}

}  // namespace

int main(int count, char** arguments) {
  const std::int64_t batch = count > 2 ? std::atoi(arguments[2]) : 128;
  const std::int64_t widest = processor_has_avx512() ? 16 : 8;
  const std::string only = count > 4 ? arguments[4] : "";
  const bool bf16 = count > 5 && std::string_view(arguments[5]) == "bf16";
  const Setting setting{.threads = count > 1 ? std::atoi(arguments[1]) : 1,
                        .block = count > 3 ? std::atoi(arguments[3]) : widest,
                        .storage = bf16 ? DType::bf16 : DType::f32};
  const auto factory = make_cpu_executors();
  std::printf("%-28s %9s %9s %9s   (best, batch %lld, %d threads, %s)\n", "", "forward", "data",
              "weights", static_cast<long long>(batch), setting.threads, bf16 ? "bf16" : "fp32");
  for (const auto cases : {&convolutions, &norms, &pools, &others}) {
    for (const Case& test : cases(batch)) {
      if (test.name.starts_with(only)) time_case(*factory, test, setting);
    }
  }
  return 0;
}
