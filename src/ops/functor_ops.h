// The functor ops: the generic executor runs each of them on every device. Four lists, since each
// is compiled separately.
#pragma once

#include <tuple>

#include "ops/activation.h"
#include "ops/add.h"
#include "ops/average.h"
#include "ops/class_metrics.h"
#include "ops/concat.h"
#include "ops/dropout.h"
#include "ops/embedding.h"
#include "ops/flatten.h"
#include "ops/gaussian_noise.h"
#include "ops/likelihood.h"
#include "ops/loss.h"
#include "ops/loss_sum.h"
#include "ops/lrn.h"
#include "ops/maximum.h"
#include "ops/multiply.h"
#include "ops/norm.h"
#include "ops/one_hot.h"
#include "ops/permute.h"
#include "ops/pool_steps.h"
#include "ops/prelu.h"
#include "ops/reshape.h"
#include "ops/scale.h"
#include "ops/shift.h"
#include "ops/softmax.h"
#include "ops/spatial_dropout.h"
#include "ops/top_k.h"
#include "ops/upsample.h"

namespace trainyard {

template <class Functions>
struct ActivationOpsOf;
template <class... Functions>
struct ActivationOpsOf<std::tuple<Functions...>> {
  using Types = std::tuple<ActivationOp<Functions>...>;
};

/// The functor ops that know the places of their elements (places.h).
using PlaceOps =
    std::tuple<PreluOp, ScaleOp, NormOp, LrnOp, ShiftOp, PermuteOp, UpsampleOp, SpatialDropoutOp>;

/// The losses.
using LossOps = LossOpsOf<LossFunctions>::Types;

/// Every functor op except the activations, those with places and the losses.
using OtherFunctorOps =
    std::tuple<AddOp, AverageOp, ConcatOp, FlattenOp, MaximumOp, MultiplyOp, ReshapeOp, SoftmaxOp,
               EmbeddingOp, OneHotOp, PoolStepsOp, DropoutOp, GaussianNoiseOp, LossSumOp, TopKOp,
               PrecisionOp, RecallOp, F1Op, MacroPrecisionOp, MacroRecallOp, MacroF1Op,
               PerplexityOp, BitsPerCharacterOp>;

}  // namespace trainyard
