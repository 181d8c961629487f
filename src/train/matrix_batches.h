// The parameters of an optimizer of matrices (Muon), in batches of equal shape.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compute/matmul/matrix_products.h"
#include "device/device.h"
#include "model/model.h"
#include "optim/chunk_spans.h"
#include "optim/muon.h"

namespace trainyard {

/// Products of the batches, and memory that these share: they are computed one after the other.
class MatrixBatches {
 public:
  /// Batches of the parameters of `spans`, each with two axes or more. The model must outlive it.
  MatrixBatches(const Model& model, const Muon& rule, const ChunkSpans& spans);
  [[nodiscard]] std::span<const MatrixBatch> view() const { return batches_; }

 private:
  void add_products(const Model& model, MatrixBatch& batch);
  void share_memory(const Model& model);

  std::vector<DeviceArray<MatrixPlace>> places_;
  std::vector<std::unique_ptr<MatrixProduct>> products_;
  std::vector<std::unique_ptr<DeviceBuffer>> memory_;
  std::vector<MatrixBatch> batches_;
};

}  // namespace trainyard
