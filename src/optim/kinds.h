// Readers of the optimizers and schedules, one per member; the lists are in optimizer.cpp and
// schedule.cpp.
#pragma once

#include <memory>

#include "config/fields.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace trainyard {

[[nodiscard]] std::unique_ptr<Optimizer> read_sgd(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_adam(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_rmsprop(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Optimizer> read_adagrad(config::Fields& fields);

[[nodiscard]] std::unique_ptr<Schedule> read_constant(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_poly(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_step(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_multistep(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_exponential(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_inverse(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_cosine(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Schedule> read_piecewise(config::Fields& fields);

}  // namespace trainyard
