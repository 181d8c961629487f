// The one list of what computes each op on each device: ops by computation (table.cpp). The
// factories of all devices read it, a test refuses holes in it, and docs/architecture.md has it as
// text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/executor.h"
#include "compute/matmul/matrix_products.h"

namespace trainyard {

/// Arithmetic that a device computes in one place. Functors are those of compute/elementwise: one
/// source for all devices.
enum class Computation { convolution, product, recurrence, batch_norm, pooling, functors };

/// Ops that are computed in the same files of src/compute.
struct TableRow {
  Computation computation;
  std::vector<std::string_view> ops;      // their names, those of losses and metrics too
  std::string_view cpu, reference, cuda;  // the file of each device
};

/// Every op once.
[[nodiscard]] std::span<const TableRow> compute_table();
/// How an op is computed. Its name must be in the table (Error{bug}).
[[nodiscard]] Computation computation_of(std::string_view op);
/// The table in Markdown, one row for each row.
[[nodiscard]] std::string table_text();

/// The executors of a device: a maker for each computation, of which the table says whose an op is.
/// A device that lacks one does not compile.
class DeviceExecutors : public ExecutorFactory, public MatrixProducts {
 public:
  [[nodiscard]] ExecutorPtr make(const StepDescription& step) const override;

 protected:
  [[nodiscard]] virtual ExecutorPtr make_convolution(const StepDescription& step) const = 0;
  [[nodiscard]] virtual ExecutorPtr make_product(const StepDescription& step) const = 0;
  [[nodiscard]] virtual ExecutorPtr make_recurrence(const StepDescription& step) const = 0;
  [[nodiscard]] virtual ExecutorPtr make_batch_norm(const StepDescription& step) const = 0;
  [[nodiscard]] virtual ExecutorPtr make_pooling(const StepDescription& step) const = 0;
  [[nodiscard]] virtual ExecutorPtr make_functors(const StepDescription& step) const = 0;
};

}  // namespace trainyard
