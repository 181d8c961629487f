// A run's optimizer, and what the run changes about the training of single parameters.
//
// The folder optim holds optimizers and schedules: one in a header, lists in rules.h and
// schedule.cpp. They know no rank, no file and no trainer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "config/fields.h"
#include "optim/rules.h"
#include "optim/settings.h"

namespace trainyard {

struct Optimizer : OptimizerSettings {
  UpdateRule rule;
  std::shared_ptr<const Optimizer> rest = {};  // of parameters that are no matrices, if it is not
  Position where = {};                         // in the file, of a rule of matrices
};

/// Every optimizer, as `optimizer` of a run file names them.
[[nodiscard]] std::span<const config::Kind<Optimizer>> optimizer_kinds();

/// Changes of one parameter. What is not given is as without them.
struct ParameterOverride {
  std::shared_ptr<const Optimizer> optimizer;
  std::optional<double> rate_multiplier;
  std::optional<double> weight_decay;
  /// It is trained in the steps [first_step, end_step) of the run.
  std::optional<std::int64_t> first_step;
  std::optional<std::int64_t> end_step;
};

/// By the parameter's full name, "stage1.conv1.weight".
using ParameterOverrides = std::map<std::string, ParameterOverride, std::less<>>;

/// The optimizer of a parameter: its override's, else `usual`.
[[nodiscard]] const Optimizer& optimizer_of(const std::string& name, const Optimizer& usual,
                                            const ParameterOverrides& overrides);

}  // namespace trainyard
