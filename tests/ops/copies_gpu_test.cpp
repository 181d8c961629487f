// A GPU's functors other than ops, against the CPU launcher, bit-identical: copies between layouts,
// sums of gradients, weights and biases.
#include <algorithm>
#include <functional>

#include "compute/copy/weight_copies.h"
#include "compute/devices/cuda/kernels.h"
#include "compute/elementwise/bias.h"
#include "compute/elementwise/cuda/functors.h"
#include "functor_harness.h"
#include "gpu.h"
#include "gpu_array.h"
#include "launcher/columns.h"
#include "launcher/launch.h"

namespace trainyard::test {
namespace {

const Shape kShape{2, 11, 3, 5};

/// Values that no type holds exactly, and 97 in memory that the tensor does not own.
template <class T>
std::vector<T> drawn(std::int64_t count) {
  std::vector<T> list;
  for (const double value : draws(count, 40)) {
    list.push_back(std::is_integral_v<T> ? static_cast<T>(static_cast<float>(value) + 40)
                                         : static_cast<T>(static_cast<float>(value)));
  }
  return list;
}
std::int64_t span_of(const StoredLayout& stored) {
  return stored.first + span_elements(stored.layout);
}

template <class T>
TensorView view_of(T* memory, const StoredLayout& stored) {
  return {memory + stored.first, DTypeOf<T>::value, stored.layout};
}

/// All of `to`'s memory after `executor` has run from `from`.
template <class From, class To>
void run_between(Executor& executor, From* from, const StoredLayout& from_layout, To* to,
                 const StoredLayout& to_layout) {
  executor.bind({.inputs = {view_of(from, from_layout)}, .outputs = {view_of(to, to_layout)}});
  executor.run();
}

template <class From, class To>
void check_reorders(Gpu& gpu) {
  for (const StoredLayout& from : stored_layouts(kShape)) {
    for (const StoredLayout& to : stored_layouts(kShape)) {
      CAPTURE(from.name);
      CAPTURE(to.name);
      std::vector<From> x = drawn<From>(span_of(from));
      std::vector<To> y(static_cast<std::size_t>(span_of(to)), static_cast<To>(97.0F));
      const GpuArray<From> gpu_x(gpu, x);
      const GpuArray<To> gpu_y(gpu, y);
      const DType from_type = DTypeOf<From>::value, to_type = DTypeOf<To>::value;
      run_between(*make_functor_reorder(from.layout, from_type, to.layout, to_type, 1), x.data(),
                  from, y.data(), to);
      run_between(
          *cuda::make_functor_reorder(gpu.stream(), from.layout, from_type, to.layout, to_type),
          gpu_x.data(), from, gpu_y.data(), to);
      CHECK(gpu_y.read() == y);
    }
  }
}

TEST_CASE("reorders on a GPU are bit-identical to the CPU's" * doctest::skip(no_gpu())) {
  Gpu gpu;
  check_reorders<float, float>(gpu);
  check_reorders<float, BFloat16>(gpu);
  check_reorders<BFloat16, float>(gpu);
  check_reorders<float, Float16>(gpu);
  check_reorders<Float16, Float16>(gpu);
  check_reorders<std::uint8_t, float>(gpu);
  check_reorders<std::int32_t, std::int32_t>(gpu);
}

template <class T>
void check_accumulation(Gpu& gpu, const StoredLayout& stored) {
  CAPTURE(stored.name);
  std::vector<T> x = drawn<T>(span_of(stored)), y(x.rbegin(), x.rend());
  const GpuArray<T> gpu_x(gpu, x), gpu_y(gpu, y);
  const DType type = DTypeOf<T>::value;
  run_between(*make_functor_accumulate(stored.layout, stored.layout, type, 1), x.data(), stored,
              y.data(), stored);
  run_between(*cuda::make_functor_accumulate(gpu.stream(), stored.layout, type), gpu_x.data(),
              stored, gpu_y.data(), stored);
  CHECK(gpu_y.read() == y);
}

TEST_CASE("sums of gradients on a GPU are bit-identical to the CPU's" * doctest::skip(no_gpu())) {
  Gpu gpu;
  for (const StoredLayout& stored : stored_layouts(kShape)) {
    check_accumulation<float>(gpu, stored);
    check_accumulation<BFloat16>(gpu, stored);
    check_accumulation<Float16>(gpu, stored);
  }
}

/// Places of weights that lie one after the other, each at a multiple of 16 bytes.
struct WeightPlaces {
  std::vector<std::int64_t> plain, packed;  // where each begins
  std::int64_t plain_elements = 0, packed_elements = 0;
};
WeightPlaces places_of(const std::vector<WeightShape>& shapes) {
  WeightPlaces places;
  for (const WeightShape& shape : shapes) {
    places.plain.push_back(places.plain_elements);
    places.packed.push_back(places.packed_elements);
    places.plain_elements += round_up<std::int64_t>(shape.plain_elements(), 8);
    places.packed_elements += round_up<std::int64_t>(shape.packed_elements(), 8);
  }
  return places;
}

template <class From, class To>
void run_copies(Executor& copies, From* from, const std::vector<std::int64_t>& from_places, To* to,
                const std::vector<std::int64_t>& to_places) {
  StepTensors tensors;
  for (const std::int64_t place : from_places) {
    tensors.inputs.push_back({from + place, DTypeOf<From>::value, {}});
  }
  for (const std::int64_t place : to_places) {
    tensors.outputs.push_back({to + place, DTypeOf<To>::value, {}});
  }
  copies.bind(tensors);
  copies.run();
}

template <class T>
void check_weights(Gpu& gpu, const std::vector<WeightShape>& shapes) {
  const WeightPlaces places = places_of(shapes);
  std::vector<float> plain = drawn<float>(places.plain_elements);
  std::vector<T> packed(static_cast<std::size_t>(places.packed_elements), static_cast<T>(97.0F));
  std::vector<float> unpacked(plain.size(), 97.0F);
  const GpuArray<float> from(gpu, plain), back(gpu, unpacked);
  const GpuArray<T> there(gpu, packed);
  const auto host = make_cpu_device();
  const auto queue = host->make_queue();
  WeightCopies<PackWeights<T>, true, CpuLauncher> pack(shapes, CpuLauncher(1), *host, *queue);
  WeightCopies<UnpackWeights<T>, false, CpuLauncher> unpack(shapes, CpuLauncher(1), *host, *queue);
  run_copies(pack, plain.data(), places.plain, packed.data(), places.packed);
  run_copies(unpack, packed.data(), places.packed, unpacked.data(), places.plain);
  const auto packing = cudnn::make_weight_packing(*gpu.device, *gpu.queue);
  const auto gpu_pack = packing->make_pack(shapes, DTypeOf<T>::value);
  const auto gpu_unpack = packing->make_unpack(shapes, DTypeOf<T>::value);
  run_copies(*gpu_pack, from.data(), places.plain, there.data(), places.packed);
  run_copies(*gpu_unpack, there.data(), places.packed, back.data(), places.plain);
  CHECK(there.read() == packed);
  CHECK(back.read() == unpacked);
}

TEST_CASE("packing and unpacking weights on a GPU is bit-identical to the CPU" *
          doctest::skip(no_gpu())) {
  Gpu gpu;
  const std::vector<WeightShape> shapes{
      {16, 3, 3, 3, 16, 8},   {10, 5, 1, 2, 16, 8}, {}, {12, 3, 3, 3, 12, 3}, {6, 20, 1, 1, 8, 24},
      {40, 50, 1, 1, 40, 50}, {8, 64, 3, 3, 8, 64}};
  check_weights<float>(gpu, shapes);
  check_weights<BFloat16>(gpu, shapes);
  check_weights<Float16>(gpu, shapes);
}

template <class T>
void check_bias(Gpu& gpu, const StoredLayout& stored, bool relu) {
  CAPTURE(stored.name);
  CAPTURE(relu);
  const DType type = DTypeOf<T>::value;
  const ChannelRows rows(stored.layout);
  std::vector<T> y = drawn<T>(span_of(stored));
  const std::vector<float> bias = drawn<float>(rows.channels);
  std::vector<float> gradient(bias.size());
  const GpuArray<T> gpu_y(gpu, y);
  const GpuArray<float> gpu_bias(gpu, bias), gpu_gradient(gpu, gradient);
  std::vector<double> partials(static_cast<std::size_t>(bias_partials(rows)));
  const GpuArray<double> gpu_partials(gpu, partials);
  const GpuArray<std::uint32_t> finished(gpu, std::vector<std::uint32_t>(kColumnGroups));

  sum_bias_gradient<T>(CpuLauncher(1), rows, y.data() + stored.first, gradient.data(),
                       partials.data(), nullptr);
  add_bias_rows(CpuLauncher(1), rows, y.data() + stored.first, bias.data(), relu);
  cudnn::bias_gradient(gpu.stream(), type, rows, gpu_y.data() + stored.first, gpu_gradient.data(),
                       gpu_partials.data(), finished.data());
  cudnn::add_bias(gpu.stream(), type, rows, gpu_y.data() + stored.first, gpu_bias.data(), relu);
  CHECK(gpu_gradient.read() == gradient);
  CHECK(gpu_y.read() == y);
}

TEST_CASE("biases and their gradients on a GPU are bit-identical to the CPU's" *
          doctest::skip(no_gpu())) {
  Gpu gpu;
  for (const StoredLayout& stored : stored_layouts(kShape)) {
    if (stored.layout.block > 1) continue;  // no GPU plan holds them
    for (const bool relu : {false, true}) {
      check_bias<float>(gpu, stored, relu);
      check_bias<BFloat16>(gpu, stored, relu);
      check_bias<Float16>(gpu, stored, relu);
    }
  }
}

template <class T>
void check_relu_bias(Gpu& gpu, const StoredLayout& stored) {
  CAPTURE(stored.name);
  const std::vector<T> y = drawn<T>(span_of(stored));
  std::vector<T> dy = drawn<T>(span_of(stored));
  std::ranges::rotate(dy, dy.begin() + 5);
  const std::int64_t channels = ChannelRows(stored.layout).channels;
  const GpuArray<T> gpu_y(gpu, y), gpu_dy(gpu, dy);
  std::vector<float> gradient(static_cast<std::size_t>(channels));
  const GpuArray<float> gpu_gradient(gpu, gradient);
  const GpuArray<std::uint32_t> finished(gpu, std::vector<std::uint32_t>(kColumnGroups));
  const ActivationOp<Relu> op({});
  const StepDescription step{.op = &op,
                             .pass = Pass::backward_data,
                             .storage = DTypeOf<T>::value,
                             .inputs = {stored.layout},
                             .outputs = {stored.layout}};
  const auto run = [&](Executor& executor, const T* outputs, T* gradients, float* sums,
                       void* workspace) {
    const auto view = view_of(gradients, stored);
    executor.bind({.outputs = {view_of(const_cast<T*>(outputs), stored)},
                   .output_gradients = {view},
                   .input_gradients = {view},
                   .parameter_gradients = {{sums, DType::f32, plain_layout({channels})}},
                   .workspace = workspace,
                   .batch = {.finished = finished.data()}});
    executor.run();
  };
  const auto on_cpu = make_relu_bias_on(CpuLauncher(1), step);
  std::vector<double> workspace(on_cpu->workspace_bytes() / sizeof(double));
  const GpuArray<double> gpu_workspace(gpu, workspace);
  run(*cudnn::make_relu_bias(gpu.stream(), step), gpu_y.data(), gpu_dy.data(), gpu_gradient.data(),
      gpu_workspace.data());
  run(*on_cpu, y.data(), dy.data(), gradient.data(), workspace.data());
  CHECK(gpu_gradient.read() == gradient);
  CHECK(gpu_dy.read() == dy);
}

TEST_CASE("a ReLU's backward step with the sums of a bias on a GPU is bit-identical to the CPU's" *
          doctest::skip(no_gpu())) {
  Gpu gpu;
  for (const StoredLayout& stored : stored_layouts(kShape)) {
    if (stored.layout.block > 1) continue;  // no GPU plan holds them
    check_relu_bias<float>(gpu, stored);
    check_relu_bias<BFloat16>(gpu, stored);
    check_relu_bias<Float16>(gpu, stored);
  }
}

TEST_CASE("a GPU zeroes padding channels and nothing else" * doctest::skip(no_gpu())) {
  Gpu gpu;
  const StoredLayout stored{"channels last, padded", channels_last_layout(kShape, 8)};
  std::vector<float> y = drawn<float>(span_of(stored));
  const GpuArray<float> there(gpu, y);
  cudnn::zero_padding_channels(gpu.stream(), view_of(there.data(), stored));
  for (std::int64_t n = 0; n < kShape.n(); ++n)
    for (std::int64_t c = kShape.c(); c < stored.layout.padded_channels; ++c)
      for (std::int64_t h = 0; h < kShape.h(); ++h)
        for (std::int64_t w = 0; w < kShape.w(); ++w)
          y[static_cast<std::size_t>(stored.layout.offset(n, c, h, w))] = 0;
  CHECK(there.read() == y);
}

}  // namespace
}  // namespace trainyard::test
