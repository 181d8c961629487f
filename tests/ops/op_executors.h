// A factory of ops' executors alone, as the cases of ops need them.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "compute/executor.h"

namespace trainyard::op_tests {

/// Derived classes make executors of ops; a case has neither reorders nor sums of gradients.
class OpExecutors : public ExecutorFactory {
 public:
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout&, DType, const Layout&, DType,
                                                       int) const override {
    TY_CHECK(false, "a case has no reorders");
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout&, DType,
                                                          int) const override {
    TY_CHECK(false, "a case has no sums of gradients");
    return nullptr;
  }
  [[nodiscard]] std::string libraries() const override { return ""; }
};

}  // namespace trainyard::op_tests
