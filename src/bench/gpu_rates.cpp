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

double predicted_milliseconds(const std::vector<counted::Launch>& launches, const Target& target,
                              const GpuRates& gpu) {
  double microseconds = 0;
  for (const counted::Launch& launch : launches) {
    const double memory =
        1e-3 * static_cast<double>(launch.bytes.value_or(0)) / gpu.gigabytes_per_second;
    const double arithmetic = 1e-3 * launch.flop / gpu.gflops(target);
    microseconds += kNodeMicroseconds + std::max(memory, arithmetic);
  }
  return 1e-3 * microseconds;
}

}  // namespace trainyard
