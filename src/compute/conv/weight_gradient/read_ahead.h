// What the next run of a weight gradient reads, for the kernels of a run to prefetch. Its pages are
// far apart: without that, half of the time goes to misses where a convolution has few products a
// pixel.
//
// Gains: in float32, with two vectors of filters a tile, 509 ms of weight gradients instead of 538
// for MiniGoogLeNet, 89.1 instead of 90.1 for ResNet-20; in bf16 more (paired_maps.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compute/conv/weight_gradient/weight_tile.h"
#include "tensor/layout.h"

namespace trainyard::direct {

/// A map in memory. Rows are counted over groups of `together` images in succession.
struct MapMemory {
  const void* data = nullptr;
  const Layout& layout;
  std::int64_t element_bytes = 4;
  std::int64_t together = 1;
};

/// State of one thread, in cache lines of its own.
class alignas(64) ReadAhead {
 public:
  /// Nothing, for so many calls of kernels on tiles of `rows` rows.
  void begin(std::int64_t calls, std::int64_t rows);
  /// Adds these rows and channels, channels.first of a whole block; nothing of a map whose columns
  /// have gaps.
  void add(const MapMemory& map, const Span& rows, const Span& channels);
  /// The share of the next call, as equal shares as can be; none after the last.
  std::span<const Ahead> next();

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  void reserve(std::size_t size) { all_.reserve(size); }

 private:
  std::vector<Ahead> all_;
  std::int64_t calls_ = 1, call_ = 0, rows_ = 1;
  std::size_t next_ = 0;  // the first that no call has had
};

}  // namespace trainyard::direct
