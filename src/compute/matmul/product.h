// A matrix product on the CPU whose bits are the same for any number of threads, with AVX2 and with
// AVX-512: oneDNN's has other bits on 8 threads than on 1. That is all it gains: an LSTM of batch
// 32 is as fast as with oneDNN's on one thread and a tenth slower on two
// (docs/results/log/accuracy.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/executor.h"
#include "compute/matmul/kernels.h"
#include "compute/matmul/product_shape.h"

namespace trainyard::product {

/// Kernels for this processor.
[[nodiscard]] const Kernels& best_kernels();

/// d = a * b of floats, as ProductShape says. Sums are of fused multiply-adds in chains of kChain,
/// which are added in turn.
class Product {
 public:
  /// Runs on at most `threads` threads: fewer if the product is small.
  Product(const ProductShape& shape, int threads, const Kernels& kernels = best_kernels());

  [[nodiscard]] std::size_t workspace_bytes() const;
  /// `workspace` is aligned to 64 bytes.
  void run(const float* a, const float* b, float* d, void* workspace,
           const Ending& ending = {}) const {
    run(a, {.given = b}, d, workspace, ending);
  }

  /// For several runs with one b: a copy of it, aligned to 64 bytes, as it is multiplied.
  [[nodiscard]] std::size_t copied_bytes() const;
  void copy(const float* b, void* copied) const;
  void run_copied(const float* a, const void* copied, float* d, void* workspace) const {
    run(a, {.copied = static_cast<const float*>(copied)}, d, workspace, {});
  }

 private:
  /// b, or its copy.
  struct Columns {
    const float* given = nullptr;
    const float* copied = nullptr;
  };
  /// Rows and a part of the depth whose copies stay in the L2 cache. A slice of the rows is what is
  /// multiplied with a panel of columns at a time.
  struct Block {
    std::int64_t row, rows, depth, depths;
    std::int64_t slices;
    [[nodiscard]] std::int64_t first_row(std::int64_t slice) const { return rows * slice / slices; }
  };

  void run(const float* a, const Columns& b, float* d, void* workspace, const Ending& ending) const;
  void run_block(const Block& block, const float* a, const Columns& b, float* d, float* workspace,
                 const Ending& ending) const;
  void run_part(std::int64_t part, const Block& block, const float* a, const Columns& b, float* d,
                float* scratch, const Ending& ending) const;
  void multiply(const float* a, std::int64_t blocks, std::int64_t rows, const float* b,
                std::int64_t panel, float* d, float* sums, bool adds) const;
  void copy_block(const Block& block, const float* a, float* copied) const;
  void copy_lanes(const Block& block, const float* a, std::int64_t slice, std::int64_t index,
                  float* copied) const;
  void copy_panel(const float* b, std::int64_t index, std::int64_t depth, std::int64_t depths,
                  float* panel) const;

  [[nodiscard]] std::int64_t padded(std::int64_t depths) const;
  [[nodiscard]] std::int64_t block_floats() const;
  [[nodiscard]] std::int64_t thread_floats() const;
  [[nodiscard]] std::int64_t columns_of(std::int64_t panel) const;
  [[nodiscard]] int vectors_of(std::int64_t panel) const {
    return columns_of(panel) > kernels_->lanes ? 2 : 1;
  }

  ProductShape shape_;
  const Kernels* kernels_;
  int threads_;
  std::int64_t panel_columns_;  // two vectors
  std::int64_t panels_;
  std::int64_t block_rows_, block_depth_;  // a block's, at most; whole chains, or all
};

/// A step of a dense layer, stored in f32 or bf16, with the ReLU behind it where that is absorbed.
[[nodiscard]] ExecutorPtr make_dense(const StepDescription& step);
/// A step of lstm, gru or simple_rnn, stored in f32 or bf16.
[[nodiscard]] ExecutorPtr make_recurrent(const StepDescription& step);

}  // namespace trainyard::product
