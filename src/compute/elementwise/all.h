// The functors of all ops that need no executor of their own, in four lists, each of which is
// compiled separately.
#pragma once

#include <tuple>
#include <utility>

#include "compute/elementwise/activation.h"
#include "compute/elementwise/dropout.h"
#include "compute/elementwise/joins.h"
#include "compute/elementwise/loss.h"
#include "compute/elementwise/lrn.h"
#include "compute/elementwise/metrics.h"
#include "compute/elementwise/norm.h"
#include "compute/elementwise/scale.h"
#include "compute/elementwise/sequence.h"
#include "compute/elementwise/shapes.h"

namespace trainyard {

template <class... Lists>
using JoinedLists = decltype(std::tuple_cat(std::declval<Lists>()...));

/// Functors that use the positions of their elements (element_index.h).
using PlaceList = JoinedLists<ScaleList, NormList, LrnList, ShapeList>;
using OtherList = JoinedLists<JoinList, DropoutList, SequenceList, MetricList>;

}  // namespace trainyard
