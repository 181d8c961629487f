#include "launches.h"
#include "measurements.h"

namespace trainyard::probe {
namespace {

/// Megabytes that are read and written together: those that the L2 cache holds, and one that it
/// does not.
constexpr int kInCache[] = {1, 4, 16}, kBeyond = 64;

Spread time_copy(Gpu& gpu, int megabytes) {
  const std::size_t bytes = (static_cast<std::size_t>(megabytes) << 20) / 2;
  const Memory<std::uint8_t> one(gpu, bytes), other(gpu, bytes);
  return gpu.copies(100, [&](int i) {
    const bool back = i % 2 != 0;
    launch_copy(gpu.stream(), back ? one.data() : other.data(), back ? other.data() : one.data(),
                bytes);
  });
}

double terabytes_per_second(double megabytes, double microseconds) {
  return megabytes * (1 << 20) / microseconds * 1e-6;
}

Reading read_copy(Gpu& gpu, int megabytes) {
  const Spread spread = time_copy(gpu, megabytes);
  return {.spread = spread,
          .more = {{"megabytes", megabytes},
                   {"tb_per_s", terabytes_per_second(megabytes, spread.median)}}};
}

/// The line through the times in the cache that has the least squares.
Reading read_fit(Gpu& gpu) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const int megabytes : kInCache) {
    const double time = time_copy(gpu, megabytes).median;
    n += 1;
    x += megabytes;
    y += time;
    xx += megabytes * megabytes;
    xy += megabytes * time;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  const double latency = (y - slope * x) / n;
  return {.spread = Spread{latency, latency, latency},
          .more = {{"tb_per_s", terabytes_per_second(1, slope)}}};
}

}  // namespace

std::vector<Measurement> copy_measurements(Gpu& gpu) {
  const std::string model = "a and b of the cost model; how much the L2 cache holds";
  const auto copy = [&](int megabytes, const char* predicted) {
    return Measurement{"M2.copy." + std::to_string(megabytes),
                       "a kernel that copies, of so many MB read and written together", predicted,
                       model, [&gpu, megabytes] { return read_copy(gpu, megabytes); }};
  };
  return {copy(kInCache[0], "1.4 us"),
          copy(kInCache[1], "1.9 us"),
          copy(kInCache[2], "4.0 us"),
          copy(kBeyond, "16 us (it leaves the cache)"),
          {"M2.fit", "a of a + bytes / b, through 1, 4 and 16 MB", "1.2 to 1.3 us; b 5 to 6.5 TB/s",
           model, [&gpu] { return read_fit(gpu); }}};
}

}  // namespace trainyard::probe
