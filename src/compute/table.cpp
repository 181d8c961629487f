#include "compute/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "compute/elementwise/all.h"

namespace trainyard {
namespace {

/// The ops of a list of functors.
template <class... Functors>
std::vector<std::string_view> ops_of(const std::tuple<Functors...>* /*list*/) {
  std::vector<std::string_view> ops;
  (ops.insert(ops.end(), Functors::kOps.begin(), Functors::kOps.end()), ...);
  return ops;
}

/// Functors of a file, which every device runs.
template <class List>
TableRow functor_row(std::string_view file) {
  return {Computation::functors, ops_of(static_cast<const List*>(nullptr)), file, file, file};
}

std::vector<TableRow> list_rows() {
  using enum Computation;
  return {
      {convolution,
       {"conv", "conv_transpose"},
       "conv/onednn/conv.cpp, conv/winograd, conv/weight_gradient",
       "conv/reference.cpp",
       "conv/cudnn/conv.cpp, conv/narrow"},
      {product, {"dense"}, "matmul/dense.cpp", "matmul/reference.cpp", "matmul/cublaslt/dense.cpp"},
      {recurrence,
       {"lstm", "gru", "simple_rnn"},
       "recurrent/cpu.cpp",
       "recurrent/reference.cpp",
       "recurrent/cuda.cpp"},
      {batch_norm, {"bn"}, "norm/blocks.cpp", "norm/reference.cpp", "norm/bn_rows.h"},
      {pooling,
       {"max_pool", "avg_pool", "global_max_pool", "global_avg_pool"},
       "pool/blocks.cpp",
       "pool/reference.cpp",
       "pool/pool_rows.h"},
      {pooling, {"lp_pool"}, "pool/power.h", "pool/reference.cpp", "pool/power.h"},
      functor_row<SequenceList>("elementwise/sequence.h"),
      functor_row<NormList>("elementwise/norm.h"),
      functor_row<LrnList>("elementwise/lrn.h"),
      functor_row<ScaleList>("elementwise/scale.h"),
      functor_row<ShapeList>("elementwise/shapes.h"),
      functor_row<DropoutList>("elementwise/dropout.h"),
      functor_row<JoinList>("elementwise/joins.h"),
      functor_row<ActivationList>("elementwise/activation.h"),
      functor_row<LossList>("elementwise/loss.h"),
      functor_row<MetricList>("elementwise/metrics.h"),
  };
}

}  // namespace

std::span<const TableRow> compute_table() {
  static const std::vector<TableRow> rows = list_rows();
  return rows;
}

Computation computation_of(std::string_view op) {
  for (const TableRow& row : compute_table()) {
    if (std::ranges::find(row.ops, op) != row.ops.end()) return row.computation;
  }
  TY_CHECK(false, std::string(op) + " is in no row of compute/table.cpp");
  return Computation::functors;
}

std::string table_text() {
  std::string text = "| layers, losses, metrics | CPU | reference | GPU |\n|---|---|---|---|\n";
  for (const TableRow& row : compute_table()) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", fmt::join(row.ops, "`, `"), row.cpu,
                        row.reference, row.cuda);
  }
  return text;
}

ExecutorPtr DeviceExecutors::make(const StepDescription& step) const {
  switch (computation_of(step.op->type())) {
    case Computation::convolution:
      return make_convolution(step);
    case Computation::product:
      return make_product(step);
    case Computation::recurrence:
      return make_recurrence(step);
    case Computation::batch_norm:
      return make_batch_norm(step);
    case Computation::pooling:
      return make_pooling(step);
    case Computation::functors:
      break;
  }
  return make_functors(step);
}

}  // namespace trainyard
