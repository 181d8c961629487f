// Own matrix products: values against plain loops in double, and bits that depend neither on
// threads nor on the width of vectors.
#include "compute/matmul/product.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "compute/devices/cpu_executors.h"
#include "node_run.h"
#include "ops/convolution.h"
#include "ops/dense.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::vector<float> floats(std::int64_t count, std::uint32_t stream) {
  const std::vector<double> values = random_values(count, stream);
  return {values.begin(), values.end()};
}

/// Factors and bias of a product.
struct Given {
  ProductShape shape;
  std::vector<float> a, b, bias;
  explicit Given(const ProductShape& of)
      : shape(of),
        a(floats(of.rows * of.depth, 1)),
        b(floats(of.depth * of.columns, 2)),
        bias(floats(of.columns, 3)) {}

  [[nodiscard]] double exact(std::int64_t row, std::int64_t column) const {
    double sum = bias[column];
    for (std::int64_t k = 0; k < shape.depth; ++k) {
      const float x = a[shape.a_transposed ? k * shape.rows + row : row * shape.depth + k];
      const float y = b[shape.b_transposed ? column * shape.depth + k : k * shape.columns + column];
      sum += double{x} * y;
    }
    return sum;
  }
  [[nodiscard]] std::vector<float> run(int threads, const product::Kernels& kernels,
                                       bool relu = false) const {
    const product::Product product(shape, threads, kernels);
    GuardedMemory workspace(product.workspace_bytes());
    GuardedMemory out(static_cast<std::size_t>(shape.rows * shape.columns) * sizeof(float));
    workspace.fill_with_nan();
    out.fill_with_nan();
    auto* const d = reinterpret_cast<float*>(out.data());
    product.run(a.data(), b.data(), d, workspace.data(), {bias.data(), relu});
    CHECK(workspace.intact());
    CHECK(out.intact());
    return {d, d + shape.rows * shape.columns};
  }
};

std::vector<const product::Kernels*> kernels_here() {
  if (processor_has_avx512()) return {&product::kAvx2Kernels, &product::kAvx512Kernels};
  return {&product::kAvx2Kernels};
}

struct Extents {
  std::int64_t rows, columns, depth;
};
// Below, at and beyond vectors, slices, panels, chains and blocks.
constexpr Extents kExtents[] = {{1, 1, 1},       {3, 5, 100},    {7, 33, 19},
                                {14, 32, 16},    {128, 10, 64},  {29, 17, 33},
                                {225, 130, 257}, {64, 1000, 48}, {300, 9, 400}};

void check_values(const Given& given, const std::vector<float>& values) {
  double largest = 0;
  for (std::int64_t row = 0; row < given.shape.rows; ++row) {
    for (std::int64_t column = 0; column < given.shape.columns; ++column) {
      const double value = values[row * given.shape.columns + column];
      largest = std::max(largest, std::abs(value - given.exact(row, column)));
    }
  }
  CHECK(largest <= tolerance(given.shape.depth + 1));
}

}  // namespace

TEST_CASE("products agree with plain loops, with the same bits on any threads and vectors") {
  for (const Extents& extents : kExtents) {
    for (const int transposed : {0, 1, 2, 3}) {
      const Given given({.rows = extents.rows,
                         .columns = extents.columns,
                         .depth = extents.depth,
                         .a_transposed = (transposed & 1) != 0,
                         .b_transposed = (transposed & 2) != 0});
      CAPTURE(extents.rows);
      CAPTURE(transposed);
      const std::vector<float> first = given.run(1, product::kAvx2Kernels);
      check_values(given, first);
      for (const product::Kernels* kernels : kernels_here()) {
        for (const int threads : {1, 2, 3, 8}) CHECK(given.run(threads, *kernels) == first);
      }
    }
  }
}

TEST_CASE("a product of copied columns is that of the columns") {
  for (const bool transposed : {false, true}) {
    Given given({.rows = 30, .columns = 75, .depth = 2500, .b_transposed = transposed});
    std::ranges::fill(given.bias, 0.0F);
    for (const product::Kernels* kernels : kernels_here()) {
      const product::Product product(given.shape, 2, *kernels);
      GuardedMemory copied(product.copied_bytes()), workspace(product.workspace_bytes());
      copied.fill_with_nan();
      workspace.fill_with_nan();
      std::vector<float> d(30 * 75);
      product.copy(given.b.data(), copied.data());
      product.run_copied(given.a.data(), copied.data(), d.data(), workspace.data());
      CHECK(d == given.run(2, *kernels));
      CHECK(copied.intact());
    }
  }
}

TEST_CASE("a product ends with a ReLU that leaves NaN, in the row and column that have it") {
  Given given({.rows = 30, .columns = 40, .depth = 21});
  for (const product::Kernels* kernels : kernels_here()) {
    const std::vector<float> sums = given.run(1, *kernels);
    Given broken = given;
    broken.a[7 * 21 + 20] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> cut = broken.run(1, *kernels, true);
    for (std::int64_t i = 0; i < 30 * 40; ++i) {
      if (i / 40 == 7) {
        CHECK(std::isnan(cut[i]));
      } else {
        CHECK(cut[i] == std::max(0.0F, sums[i]));
      }
    }
  }
}

namespace {

template <class T>
void check_threads(NodeCase node) {
  const auto executors = make_cpu_executors();
  node.threads = 1;
  const NodeResults first = run_node<T>(*executors, node);
  CHECK(first.guards_intact);
  for (const int threads : {2, 3, 4, 8}) {
    CAPTURE(threads);
    node.threads = threads;
    CHECK(run_node<T>(*executors, node) == first);
  }
}

void check_threads_of(const NodeCase& node) {
  check_threads<float>(node);
  if (cpu_executors_have_bf16()) check_threads<BFloat16>(node);
}

}  // namespace

TEST_CASE("layers of products have the same bits on any number of threads") {
  NodeCase node;
  for (const std::int64_t units : {1, 10, 128, 1000}) {
    node.op = std::make_shared<DenseOp>(DenseAttributes{.units = units});
    for (const Shape& input : {Shape{128, 64}, Shape{7, 1024}, Shape{16, 32, 3, 3}}) {
      CAPTURE(units);
      node.input = input;
      check_threads_of(node);
    }
  }
  node.op = std::make_shared<DenseOp>(DenseAttributes{.units = 512});
  node.input = {64, 2304};
  check_threads_of(node);
}

TEST_CASE("convolutions have the same bits on any number of threads") {
  struct Form {
    std::int64_t channels, filters, kernel, stride, dilation, groups, pixels;
  };
  constexpr Form kForms[] = {
      {3, 16, 3, 1, 1, 1, 12},  {16, 32, 3, 2, 1, 1, 12}, {64, 64, 3, 1, 1, 1, 8},
      {64, 48, 1, 1, 1, 1, 8},  {32, 64, 1, 2, 1, 1, 9},  {16, 16, 5, 1, 1, 1, 9},
      {32, 32, 3, 1, 2, 1, 11}, {32, 32, 3, 1, 1, 32, 9}, {24, 36, 3, 1, 1, 3, 9},
      {160, 96, 3, 1, 1, 1, 5}, {32, 256, 5, 1, 1, 1, 7}, {32, 16, 7, 2, 1, 1, 7},
      {37, 100, 1, 1, 1, 1, 5}, {21, 70, 3, 2, 1, 1, 7}};
  for (const Form& form : kForms) {
    ConvAttributes conv;
    conv.filters = form.filters;
    conv.kernel = {form.kernel, form.kernel};
    conv.stride = {form.stride, form.stride};
    conv.dilation = {form.dilation, form.dilation};
    conv.groups = form.groups;
    conv.pad = {.kind = Padding::Kind::same_upper, .amount = {}};
    NodeCase node;
    node.op = std::make_shared<ConvOp>(conv);
    node.input = {6, form.channels, form.pixels, form.pixels};
    for (const std::int64_t block : {1, 8, 16}) {
      CAPTURE(form.channels);
      CAPTURE(form.filters);
      CAPTURE(block);
      node.input_block = form.channels == 3 ? 1 : block;
      node.output_block = block;
      check_threads<float>(node);
      if (block != 8 && cpu_executors_have_bf16()) check_threads<BFloat16>(node);
    }
  }
}
