// Products of the stand-in are bit-identical to the reference device's dense layers.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/philox.h"
#include "compute/executor.h"
#include "compute/matmul/cublaslt/matmul.h"
#include "ops/dense.h"
#include "runtime/control.h"
#include "runtime/test_streams.h"
#include "tensor/dtype.h"

using namespace trainyard;
using standin::test::TestMemory;
using standin::test::TestStream;
using trainyard::cudnn::Matmul;
using trainyard::cudnn::MatmulLibrary;
using trainyard::cudnn::MatmulShape;

namespace {

// Before any GPU is queried.
[[maybe_unused]] const int kGpus = setenv("STANDIN_GPUS", "2", 1);
[[maybe_unused]] const int kVisible = unsetenv("CUDA_VISIBLE_DEVICES");

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16};
constexpr std::size_t kRoom = 1 << 20;

const MatmulLibrary& stand_in() {
  static const MatmulLibrary opened{std::filesystem::path(TY_STANDIN_CUBLASLT)};
  return opened;
}

using Floats = std::vector<float>;

/// Uniform in [-1, 1).
Floats random_values(std::int64_t count, std::uint32_t kind) {
  Floats values;
  for (std::int64_t i = 0; i < count; ++i) {
    const Random4 random = random4(kind, RandomStream::synthetic, 0, 0, i);
    values.push_back(static_cast<float>(uniform01(random.word[0]) * 2 - 1));
  }
  return values;
}

/// Rounded to elements of a type.
std::vector<std::byte> stored(const Floats& values, DType type) {
  std::vector<std::byte> bytes(values.size() * size_of(type));
  with_float_type(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, double>) return;
    auto* const to = reinterpret_cast<T*>(bytes.data());
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = T(values[i]);
  });
  return bytes;
}

/// Device memory with these bytes.
struct OnDevice : TestMemory {
  explicit OnDevice(const std::vector<std::byte>& bytes) : TestMemory(bytes.size()) {
    REQUIRE(cudaMemcpy(data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice) == cudaSuccess);
  }
  [[nodiscard]] std::vector<std::byte> bytes(std::size_t count) const {
    std::vector<std::byte> held(count);
    REQUIRE(cudaMemcpy(held.data(), data, count, cudaMemcpyDeviceToHost) == cudaSuccess);
    return held;
  }
};

/// A dense layer: x [samples, features], w [units, features], y [samples, units].
struct Layer {
  std::int64_t samples = 3, features = 21, units = 6;
};

/// One pass on the stand-in: the result's bytes.
std::vector<std::byte> multiply(const MatmulShape& shape, const Floats& a, const Floats& b,
                                const Floats& bias, std::size_t room) {
  Matmul product(stand_in(), shape, room);
  // What is there: numbers to add to, else NaN, which nothing may read.
  const auto elements = static_cast<std::size_t>(shape.rows * shape.columns);
  const Floats held = shape.adds ? Floats(elements, 0.75f) : Floats(elements, std::nanf(""));
  const OnDevice left(stored(a, shape.factors)), right(stored(b, shape.factors));
  const OnDevice start(stored(bias, DType::f32));
  const auto bytes = static_cast<std::size_t>(shape.rows * shape.columns) * size_of(shape.result);
  const OnDevice result{stored(held, shape.result)};
  const TestMemory workspace(kRoom);
  CHECK(product.workspace_bytes() <= room);
  CHECK(product.adds_bias() == (shape.bias && shape.result == DType::f32));
  if (product.adds_bias()) product.bind_bias(static_cast<const float*>(start.data));
  const TestStream stream;
  product.run(stream.handle, left.data, right.data, result.data, workspace.data);
  REQUIRE(stream.wait() == cudaSuccess);
  return result.bytes(bytes);
}

/// The passes of a layer on the reference device.
class Reference {
 public:
  Reference(const Layer& layer, DType type, bool bias, bool adds = false)
      : op_({.units = layer.units, .bias = bias}), type_(type), layer_(layer) {
    const Shape input{layer.samples, layer.features};
    step_ = {.op = &op_,
             .storage = type,
             .signature = op_.infer(std::span(&input, 1)),
             .inputs = {plain_layout(input)},
             .outputs = {plain_layout({layer.samples, layer.units})},
             .needs_input_gradient = {true},
             .form = {.adds_gradient = adds}};
  }
  /// The pass's output: `y`, `x` or the gradient of the weights.
  std::vector<std::byte> run(Pass pass, std::vector<std::byte> x, std::vector<std::byte> y,
                             Floats w, Floats bias) {
    step_.pass = pass;
    const auto executor = make_reference_executors()->make(step_);
    std::vector<std::byte> workspace(executor->workspace_bytes() + 1);
    const TensorView input{x.data(), type_, step_.inputs[0]};
    const TensorView output{y.data(), type_, step_.outputs[0]};
    const TensorView weight{w.data(), DType::f32, plain_layout({layer_.units, layer_.features})};
    const TensorView start{bias.data(), DType::f32, plain_layout({layer_.units})};
    executor->bind({.inputs = {input},
                    .outputs = {output},
                    .output_gradients = {output},
                    .input_gradients = {input},
                    .parameters = {weight, start},
                    .parameter_gradients = {weight, start},
                    .workspace = workspace.data()});
    executor->run();
    if (pass == Pass::forward_train) return y;
    return pass == Pass::backward_data ? x : stored(w, DType::f32);
  }

 private:
  DenseOp op_;
  DType type_;
  Layer layer_;
  StepDescription step_;
};

MatmulShape forward(const Layer& layer, DType type, bool bias = false) {
  return {.rows = layer.samples,
          .columns = layer.units,
          .depth = layer.features,
          .b_transposed = true,
          .factors = type,
          .result = type,
          .bias = bias};
}

}  // namespace

TEST_CASE("the three products of a dense layer are bit-identical to the reference device") {
  for (const Layer layer : {Layer{}, Layer{1, 1, 1}, Layer{5, 4, 3}}) {
    const Floats x = random_values(layer.samples * layer.features, 1);
    const Floats y = random_values(layer.samples * layer.units, 2);
    const Floats w = random_values(layer.units * layer.features, 3);
    for (const DType type : kTypes) {
      for (const std::size_t room : {std::size_t{0}, kRoom}) {
        CAPTURE(name_of(type));
        Reference reference(layer, type, false);
        const auto xs = stored(x, type), ys = stored(y, type);
        CHECK(multiply(forward(layer, type), x, w, {0}, room) ==
              reference.run(Pass::forward_train, xs, ys, w, {0}));
        const MatmulShape data{.rows = layer.samples,
                               .columns = layer.features,
                               .depth = layer.units,
                               .factors = type,
                               .result = type};
        CHECK(multiply(data, y, w, {0}, room) ==
              reference.run(Pass::backward_data, xs, ys, w, {0}));
        const MatmulShape parameters{.rows = layer.units,
                                     .columns = layer.features,
                                     .depth = layer.samples,
                                     .a_transposed = true,
                                     .factors = type,
                                     .result = DType::f32};
        CHECK(multiply(parameters, y, x, {0}, room) ==
              reference.run(Pass::backward_parameters, xs, ys, w, {0}));
      }
    }
  }
}

TEST_CASE("a product that is added to what is there is rounded once, as on the reference device") {
  const Layer layer;
  const Floats y = random_values(layer.samples * layer.units, 2);
  const Floats w = random_values(layer.units * layer.features, 3);
  const Floats held(static_cast<std::size_t>(layer.samples * layer.features), 0.75f);
  for (const DType type : kTypes) {
    CAPTURE(name_of(type));
    Reference reference(layer, type, false, true);
    const MatmulShape sum{.rows = layer.samples,
                          .columns = layer.features,
                          .depth = layer.units,
                          .factors = type,
                          .result = type,
                          .adds = true};
    CHECK(multiply(sum, y, w, {0}, kRoom) ==
          reference.run(Pass::backward_data, stored(held, type), stored(y, type), w, {0}));
  }
}

TEST_CASE("sums start with a bias in f32, as on the reference device") {
  const Layer layer;
  const Floats x = random_values(layer.samples * layer.features, 1);
  const Floats w = random_values(layer.units * layer.features, 3);
  const Floats bias = random_values(layer.units, 4);
  const Floats y(static_cast<std::size_t>(layer.samples * layer.units));
  Reference reference(layer, DType::f32, true);
  CHECK(multiply(forward(layer, DType::f32, true), x, w, bias, kRoom) ==
        reference.run(Pass::forward_train, stored(x, DType::f32), stored(y, DType::f32), w, bias));
}

TEST_CASE("a batch of products has the bits of each alone") {
  constexpr std::int64_t kRows = 3, kDepth = 5, kCount = 4, kSize = kRows * kDepth;
  const Floats a = random_values(kCount * kSize, 1);
  const OnDevice left(stored(a, DType::f32)), workspace(stored(Floats(4096), DType::f32));
  const OnDevice result(stored(Floats(kCount * kRows * kRows), DType::f32));
  MatmulShape shape{.rows = kRows, .columns = kRows, .depth = kDepth, .b_transposed = true};
  shape.alignment = 4;
  shape.batch = kCount;
  const Matmul batch(stand_in(), shape, kRoom);
  const TestStream stream;
  batch.run(stream.handle, left.data, left.data, result.data, workspace.data);
  REQUIRE(stream.wait() == cudaSuccess);
  shape.batch = 1;
  std::vector<std::byte> apart;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const Floats own(a.begin() + i * kSize, a.begin() + (i + 1) * kSize);
    const auto bytes = multiply(shape, own, own, {0}, kRoom);
    apart.insert(apart.end(), bytes.begin(), bytes.end());
  }
  CHECK(result.bytes(apart.size()) == apart);
}

TEST_CASE("TF32 rounds f32 factors and no others") {
  const Layer layer;
  const Floats x = random_values(layer.samples * layer.features, 1);
  const Floats w = random_values(layer.units * layer.features, 3);
  for (const DType type : kTypes) {
    MatmulShape shape = forward(layer, type);
    const auto exact = multiply(shape, x, w, {0}, kRoom);
    shape.tf32 = true;
    CHECK((multiply(shape, x, w, {0}, kRoom) == exact) == (type != DType::f32));
  }
}

TEST_CASE("a product of 16-bit factors to another 16-bit type has no algorithm") {
  MatmulShape shape = forward({}, DType::bf16);
  shape.result = DType::f16;
  CHECK_THROWS_WITH_AS(Matmul(stand_in(), shape, kRoom),
                       doctest::Contains("the requested functionality is not supported"), Error);
}

TEST_CASE("without its workspace, or with a misaligned address, a product is refused") {
  const Layer layer;
  const Matmul product(stand_in(), forward(layer, DType::f32), kRoom);
  REQUIRE(product.workspace_bytes() > 0);
  const TestMemory memory(kRoom);
  auto* const at = static_cast<std::byte*>(memory.data);
  const TestStream stream;
  CHECK_NOTHROW(product.run(stream.handle, at, at + 4096, at + 8192, at + 16384));
  CHECK_THROWS_WITH_AS(product.run(stream.handle, at, at + 4096, at + 8192, nullptr),
                       doctest::Contains("an unsupported value"), Error);
  CHECK_THROWS_WITH_AS(product.run(stream.handle, at + 4, at + 4096, at + 8192, at + 16384),
                       doctest::Contains("an unsupported value"), Error);
  CHECK(stream.wait() == cudaSuccess);
}

TEST_CASE("host memory in a product breaks the device, which the host sees when it waits") {
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  {
    const MatmulLibrary library{std::filesystem::path(TY_STANDIN_CUBLASLT)};
    const Matmul product(library, forward({}, DType::f32), kRoom);
    const TestMemory memory(kRoom);
    auto* const at = static_cast<std::byte*>(memory.data);
    alignas(16) static std::array<float, 64> host{};
    const TestStream stream;
    product.run(stream.handle, host.data(), at + 4096, at + 8192, at + 16384);
    CHECK(stream.wait() == cudaErrorIllegalAddress);
    CHECK_THROWS_WITH_AS(product.run(stream.handle, at, at + 4096, at + 8192, at + 16384),
                         doctest::Contains("failed to launch"), Error);
  }
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("requested failures are found by name") {
  standin::request_failures("cublasLtCreate=CUBLAS_STATUS_ALLOC_FAILED");
  CHECK_THROWS_WITH_AS(MatmulLibrary{std::filesystem::path(TY_STANDIN_CUBLASLT)},
                       doctest::Contains("the resource allocation failed"), Error);
  standin::request_failures("cublasLtMatmulAlgoGetHeuristic=CUBLAS_STATUS_ARCH_MISMATCH");
  CHECK_THROWS_WITH_AS(Matmul(stand_in(), forward({}, DType::f32), kRoom),
                       doctest::Contains("architectural feature"), Error);
  standin::request_failures("");
}
