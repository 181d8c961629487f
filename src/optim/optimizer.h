// Optimizers: how a step changes the flat parameter block.
//
// The folder optim holds optimizers and schedules: a rule per file, lists in rules.h, optimizer.cpp
// and schedule.cpp. They know no rank, no file and no trainer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/fields.h"
#include "ops/op.h"
#include "optim/rules.h"

namespace trainyard {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// "sgd".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Base learning rate; the schedule starts from it.
  [[nodiscard]] virtual double rate() const = 0;
  /// Weight decay of a parameter group.
  [[nodiscard]] virtual double decay(ParameterGroup group) const = 0;
  /// Names of the state blocks ("momentum").
  [[nodiscard]] virtual std::vector<std::string> slots() const = 0;
  /// The arithmetic of a step.
  [[nodiscard]] virtual UpdateRule rule() const = 0;
  /// Keras's decay: the learning rate is divided by 1 + time_decay * finished steps.
  [[nodiscard]] virtual double time_decay() const = 0;
};

[[nodiscard]] std::span<const config::Kind<Optimizer>> optimizer_kinds();

}  // namespace trainyard
