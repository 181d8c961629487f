// The functor ops: the generic executor runs each of them on every device.
#pragma once

#include <tuple>

#include "ops/activation.h"
#include "ops/add.h"
#include "ops/average.h"
#include "ops/class_metrics.h"
#include "ops/concat.h"
#include "ops/dropout.h"
#include "ops/flatten.h"
#include "ops/loss.h"
#include "ops/multiply.h"
#include "ops/softmax.h"
#include "ops/top_k.h"

namespace trainyard {

template <class Functions>
struct ActivationOpsOf;
template <class... Functions>
struct ActivationOpsOf<std::tuple<Functions...>> {
  using Types = std::tuple<ActivationOp<Functions>...>;
};

/// Every functor op except the activations.
using OtherFunctorOps = std::tuple<AddOp, AverageOp, ConcatOp, FlattenOp, MultiplyOp, SoftmaxOp,
                                   DropoutOp, CrossEntropyOp, BinaryCrossEntropyOp,
                                   MeanSquaredErrorOp, TopKOp, PrecisionOp, RecallOp, F1Op>;

/// Every functor op: activations, then the others.
using FunctorOps = decltype(std::tuple_cat(std::declval<ActivationOpsOf<Activations>::Types>(),
                                           std::declval<OtherFunctorOps>()));

}  // namespace trainyard
