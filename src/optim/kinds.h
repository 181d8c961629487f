// Readers of the optimizers and schedules, one per member; the lists are in optimizer.cpp and
// schedule.cpp.
#pragma once

#include <memory>
#include <span>

#include "config/fields.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace trainyard {

[[nodiscard]] std::unique_ptr<Optimizer> read_sgd(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_adam(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_adamw(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_adamax(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_nadam(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_rmsprop(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_adagrad(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_adadelta(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_lars(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_lamb(config::Fields& fields);

[[nodiscard]] std::unique_ptr<Schedule> read_constant(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_poly(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_step(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_multistep(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_exponential(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_inverse(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_cosine(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_sigmoid(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_inverse_sqrt(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_linear_ramp(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_cosine_restarts(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_one_cycle(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_wsd(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_expression(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_chain(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_piecewise(config::Fields& fields);

/// The schedules that a chain may contain: all but chains.
[[nodiscard]] std::span<const config::Kind<Schedule>> chain_part_kinds();

}  // namespace trainyard
