#include "train/matrix_batches.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace trainyard {

MatrixBatches::MatrixBatches(const Model& model, const Muon& rule, const ChunkSpans& spans) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<MatrixPlace>> by_shape;
  for (const SegmentSpans& own : spans.segments) {
    const BlockEntry& entry = model.blocks().parameters[static_cast<std::size_t>(own.segment)];
    const std::int64_t rows = entry.shape[0];
    by_shape[{rows, entry.shape.elements() / rows}].push_back({entry.offset, own.segment});
  }
  const Compute& compute = model.compute();
  for (const auto& [shape, places] : by_shape) {
    const auto [rows, columns] = shape;
    places_.emplace_back(compute.device, compute.queue, places);
    batches_.push_back({.places = places_.back().data(),
                        .count = static_cast<std::int64_t>(places.size()),
                        .rows = std::min(rows, columns),
                        .columns = std::max(rows, columns),
                        .transposed = rows > columns,
                        .scale = rule.scale(rows, columns)});
    add_products(model, batches_.back());
  }
  share_memory(model);
}

void MatrixBatches::add_products(const Model& model, MatrixBatch& batch) {
  const DType type = model.memory().type();
  const std::size_t row = static_cast<std::size_t>(batch.rows) * size_of(type);
  ProductShape square{batch.rows, batch.rows, batch.rows};
  square.batch = batch.count;
  square.alignment = std::gcd(std::gcd(std::size_t{16}, row * static_cast<std::size_t>(batch.rows)),
                              row * static_cast<std::size_t>(batch.columns));
  ProductShape outer = square, apply = square;
  outer.depth = apply.columns = batch.columns;
  outer.b_transposed = true;
  const MatrixProducts& products = matrix_products_of(model.compute().executors);
  const auto make = [&](const ProductShape& shape) {
    products_.push_back(products.make_matrix_product(shape, type, model.threads()));
    return products_.back().get();
  };
  batch.outer = make(outer);
  batch.square = make(square);
  batch.apply = make(apply);
}

void MatrixBatches::share_memory(const Model& model) {
  std::size_t matrices = 0, squares = 0, workspace = 0;
  for (const MatrixBatch& batch : batches_) {
    matrices = std::max(matrices, static_cast<std::size_t>(batch.elements()));
    squares = std::max(squares, static_cast<std::size_t>(batch.count * batch.rows * batch.rows));
  }
  for (const auto& product : products_) {
    workspace = std::max(workspace, product->workspace_bytes());
  }
  const std::size_t element = size_of(model.memory().type());
  for (const std::size_t bytes : {matrices * element, matrices * element, squares * element,
                                  squares * element, std::max(workspace, element)}) {
    memory_.push_back(model.compute().device.allocate(bytes));
  }
  for (MatrixBatch& batch : batches_) {
    void** const parts[] = {&batch.matrices, &batch.next, &batch.gram, &batch.polynomial,
                            &batch.workspace};
    for (std::size_t i = 0; i < memory_.size(); ++i) *parts[i] = memory_[i]->data();
  }
}

}  // namespace trainyard
