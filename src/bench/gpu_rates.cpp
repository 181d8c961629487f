#include "bench/gpu_rates.h"

#include <algorithm>
#include <array>

namespace trainyard {

double GpuRates::gflops(const Target& target) const {
  if (target.storage != DType::f32) return gflops_16;
  return target.tf32 ? gflops_tf32 : gflops_f32;
}

std::span<const GpuRates> known_gpu_rates() {
  static constexpr std::array<GpuRates, 4> kRates{{
      {.name = "H200",
       .gigabytes_per_second = 4300,
       .gflops_16 = 790e3,
       .gflops_tf32 = 395e3,
       .gflops_f32 = 60e3,
       .source = "memory and 16 bits measured by copies and by products of noise; TF32 half of "
                 "that; f32 0.9 of NVIDIA's 67 TFLOP/s"},
      {.name = "H100",
       .gigabytes_per_second = 3010,
       .gflops_16 = 800e3,
       .gflops_tf32 = 414e3,
       .gflops_f32 = 51.7e3,
       .source = "80 GB HBM3, SXM: measured by copies and by products"},
      {.name = "A100",
       .gigabytes_per_second = 1835,
       .gflops_16 = 281e3,
       .gflops_tf32 = 140e3,
       .gflops_f32 = 17.5e3,
       .source = "80 GB, SXM: 0.9 of NVIDIA's 2,039 GB/s and 312, 156 and 19.5 TFLOP/s"},
      {.name = "RTX 4090",
       .gigabytes_per_second = 907,
       .gflops_16 = 149e3,
       .gflops_tf32 = 74e3,
       .gflops_f32 = 74e3,
       .source = "0.9 of NVIDIA's 1,008 GB/s and 165.2 (sums in f32), 82.6 and 82.6 TFLOP/s"},
  }};
  return kRates;
}

// Of an H100 in bf16 at batch 128, by ncu: sums of batch norm, its elementwise halves, calls of
// cuDNN beside and not, each from ResNet-20 and MiniGoogLeNet, with the 1.2 us between two nodes;
// kernels of 16 channels (11 us); all others from ResNet-20, pools from what is left of
// MiniGoogLeNet.
std::span<const NodeRate> node_rates() {
  static constexpr std::array<NodeRate, 10> kRates{{
      {"bn", "BatchMoments", false, 7.9, 0.57},
      {"bn", "GradientSums", false, 7.9, 0.57},
      {"bn", "NormaliseRows", false, 3.0, 0.59},
      {"bn", "InputGradientRows", false, 3.0, 0.59},
      {"convolution", "NarrowConv", false, 9.1, 1},
      {"convolution", "", false, 10.4, 1.13},
      {"convolution", "", true, 23.2, 1.07},
      {"max_pool", "", false, 5.0, 0.12},
      {"avg_pool", "", false, 5.0, 0.12},
      {"", "", false, 5.0, 1},
  }};
  return kRates;
}

const NodeRate& rate_of(const counted::Launch& launch) {
  const std::span<const NodeRate> rates = node_rates();
  const auto own = std::ranges::find_if(rates, [&](const NodeRate& rate) {
    return rate.kind == launch.kind && rate.beside == launch.beside &&
           (rate.functor.empty() || rate.functor == launch.functor);
  });
  return own == rates.end() ? rates.back() : *own;
}

double predicted_milliseconds(const std::vector<counted::Launch>& launches, const Target& target,
                              const GpuRates& gpu) {
  double main = 0, beside = 0;
  for (const counted::Launch& launch : launches) {
    const double memory =
        1e-3 * static_cast<double>(launch.bytes.value_or(0)) / gpu.gigabytes_per_second;
    const double arithmetic = 1e-3 * launch.flop / gpu.gflops(target);
    const NodeRate& rate = rate_of(launch);
    (launch.beside ? beside : main) +=
        rate.microseconds + std::max(memory, arithmetic) / rate.share;
  }
  return 1e-3 * std::max(main, beside);
}

}  // namespace trainyard
