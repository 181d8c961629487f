// The executors of layers that are matrix products, on the CPU.
#pragma once

#include <memory>

#include "compute/executor.h"

namespace trainyard::product {

/// A step of a dense layer, stored in f32 or bf16, with the ReLU behind it where that is absorbed.
[[nodiscard]] std::unique_ptr<Executor> make_dense(const StepDescription& step);
/// A step of lstm, gru or simple_rnn, stored in f32 or bf16.
[[nodiscard]] std::unique_ptr<Executor> make_recurrent(const StepDescription& step);

}  // namespace trainyard::product
