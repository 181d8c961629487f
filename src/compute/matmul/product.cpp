#include "compute/matmul/product.h"

#include <algorithm>

#include "base/offset_allocator.h"
#include "base/parallel.h"

namespace trainyard::product {
namespace {

/// Size of a block: 256 KB of the L2 cache.
constexpr std::int64_t kBlockFloats = 1 << 16;
constexpr std::int64_t kBlockRows = 256;
/// Multiplications that are worth another thread: some microseconds.
constexpr std::int64_t kThreadWork = std::int64_t{1} << 18;
/// Copies that are.
constexpr std::int64_t kThreadFloats = 8192;
constexpr std::int64_t kLineFloats = 16;  // floats of a cache line

std::int64_t ceiling(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

const Kernels& best_kernels() { return processor_has_avx512() ? kAvx512Kernels : kAvx2Kernels; }

Product::Product(const ProductShape& shape, int threads, const Kernels& kernels)
    : shape_(shape),
      kernels_(&kernels),
      panel_columns_(std::int64_t{2} * kernels.lanes),
      panels_(ceiling(shape.columns, panel_columns_)),
      block_rows_(std::min(shape.rows, kBlockRows)),
      block_depth_(std::min(kBlockFloats / block_rows_ / kChain * kChain,
                            round_up(shape.depth, std::int64_t{kernels.lanes}))) {
  const std::int64_t work = shape.rows * shape.columns * shape.depth / kThreadWork;
  threads_ = static_cast<int>(std::clamp<std::int64_t>(work, 1, threads));
}

std::int64_t Product::padded(std::int64_t depths) const {
  return round_up(depths, std::int64_t{kernels_->lanes});
}

std::int64_t Product::block_floats() const {
  return round_up(block_rows_ * block_depth_, kLineFloats);
}

/// A part of a panel, and the sums of a slice.
std::int64_t Product::thread_floats() const {
  return (block_depth_ + kernels_->rows) * panel_columns_;
}

std::size_t Product::workspace_bytes() const {
  return static_cast<std::size_t>(block_floats() + threads_ * thread_floats()) * sizeof(float);
}

std::size_t Product::copied_bytes() const {
  return static_cast<std::size_t>(panels_ * padded(shape_.depth) * panel_columns_) * sizeof(float);
}

std::int64_t Product::columns_of(std::int64_t panel) const {
  return std::min(panel_columns_, shape_.columns - panel * panel_columns_);
}

/// `lanes` of the depth of a slice, as Kernels::multiply reads them.
void Product::copy_lanes(const Block& block, const float* a, std::int64_t slice, std::int64_t index,
                         float* copied) const {
  const std::int64_t lanes = kernels_->lanes, k = index * lanes;
  const std::int64_t first = block.first_row(slice), rows = block.first_row(slice + 1) - first;
  const std::int64_t row = block.row + first, depth = block.depth + k;
  const std::int64_t width = std::min(lanes, block.depths - k);
  float* const to = copied + first * padded(block.depths) + k * rows;
  if (width < lanes) std::fill_n(to, rows * lanes, 0.0F);
  if (shape_.a_transposed) {
    kernels_->copy(a + depth * shape_.rows + row, shape_.rows, false, width, rows, to, rows);
  } else {
    kernels_->copy(a + row * shape_.depth + depth, shape_.depth, false, rows, width, to, lanes);
  }
}

/// In the order of the memory that is read.
void Product::copy_block(const Block& block, const float* a, float* copied) const {
  const bool transposed = shape_.a_transposed;
  const std::int64_t blocks = padded(block.depths) / kernels_->lanes;
  const std::int64_t outer = transposed ? blocks : block.slices;
  const std::int64_t inner = transposed ? block.slices : blocks;
  const std::int64_t floats = block.rows * padded(block.depths);
  const std::int64_t grain = ceiling(kThreadFloats * outer, floats);
  parallel_ranges(threads_, outer, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t j = 0; j < inner; ++j) {
        transposed ? copy_lanes(block, a, j, i, copied) : copy_lanes(block, a, i, j, copied);
      }
    }
  });
}

/// A part of the depth of a panel.
void Product::copy_panel(const float* b, std::int64_t index, std::int64_t depth,
                         std::int64_t depths, float* panel) const {
  const std::int64_t width = std::int64_t{vectors_of(index)} * kernels_->lanes;
  const std::int64_t columns = columns_of(index), column = index * panel_columns_;
  float* const padding = columns < width ? panel : panel + depths * width;
  std::fill(padding, panel + padded(depths) * width, 0.0F);
  const bool transposed = shape_.b_transposed;
  const std::int64_t stride = transposed ? shape_.depth : shape_.columns;
  const float* const from = b + (transposed ? column * stride + depth : depth * stride + column);
  kernels_->copy(from, stride, transposed, depths, columns, panel, width);
}

void Product::copy(const float* b, void* copied) const {
  auto* const to = static_cast<float*>(copied);
  const std::int64_t floats = padded(shape_.depth) * panel_columns_;
  parallel_ranges(threads_, panels_, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) copy_panel(b, i, 0, shape_.depth, to + i * floats);
  });
}

/// A slice with a panel; by way of `sums` if the panel is padded.
void Product::multiply(const float* a, std::int64_t blocks, std::int64_t rows, const float* b,
                       std::int64_t panel, float* d, float* sums, bool adds) const {
  const int vectors = vectors_of(panel);
  const std::int64_t columns = columns_of(panel), width = std::int64_t{vectors} * kernels_->lanes;
  const std::int64_t stride = shape_.columns;
  const bool padded = columns < width;
  if (padded && adds) kernels_->copy(d, stride, false, rows, columns, sums, width);
  kernels_->multiply(a, shape_.a_transposed, blocks, rows, b, vectors, padded ? sums : d,
                     padded ? width : stride, adds);
  if (padded) kernels_->copy(sums, width, false, rows, columns, d, stride);
}

/// A thread's part of all slices of all panels, a panel's slices one after the other.
void Product::run_part(std::int64_t part, const Block& block, const float* a, const Columns& b,
                       float* d, float* scratch, const Ending& ending) const {
  const std::int64_t lanes = kernels_->lanes, depths = padded(block.depths);
  const std::int64_t panel_floats = padded(shape_.depth) * panel_columns_;
  float* const sums = scratch + depths * panel_columns_;
  std::int64_t copied = -1;
  const std::int64_t all = panels_ * block.slices, end = all * (part + 1) / threads_;
  for (std::int64_t i = all * part / threads_; i < end; ++i) {
    const std::int64_t panel = i / block.slices, column = panel * panel_columns_;
    const int vectors = vectors_of(panel);
    const float* factors = scratch;
    if (b.copied != nullptr) {
      factors = b.copied + panel * panel_floats + block.depth * vectors * lanes;
    } else if (copied != panel) {
      copy_panel(b.given, panel, block.depth, block.depths, scratch);
      copied = panel;
    }
    const std::int64_t first = block.first_row(i % block.slices);
    const std::int64_t rows = block.first_row(i % block.slices + 1) - first;
    float* const to = d + (block.row + first) * shape_.columns + column;
    multiply(a + first * depths, depths / lanes, rows, factors, panel, to, sums, block.depth > 0);
    if (ending.bias == nullptr && !ending.relu) continue;
    kernels_->end(to, shape_.columns, rows, columns_of(panel),
                  {ending.bias == nullptr ? nullptr : ending.bias + column, ending.relu});
  }
}

void Product::run_block(const Block& block, const float* a, const Columns& b, float* d,
                        float* workspace, const Ending& ending) const {
  float* const scratch = workspace + block_floats();
  copy_block(block, a, workspace);
  parallel_ranges(threads_, threads_, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      run_part(part, block, workspace, b, d, scratch + part * thread_floats(), ending);
    }
  });
}

void Product::run(const float* a, const Columns& b, float* d, void* workspace,
                  const Ending& ending) const {
  for (std::int64_t row = 0; row < shape_.rows; row += block_rows_) {
    const std::int64_t rows = std::min(block_rows_, shape_.rows - row);
    for (std::int64_t depth = 0; depth < shape_.depth; depth += block_depth_) {
      const bool last = depth + block_depth_ >= shape_.depth;
      const Block block{.row = row,
                        .rows = rows,
                        .depth = depth,
                        .depths = std::min(block_depth_, shape_.depth - depth),
                        .slices = ceiling(rows, kernels_->rows)};
      run_block(block, a, b, d, static_cast<float*>(workspace), last ? ending : Ending{});
    }
  }
}

}  // namespace trainyard::product
