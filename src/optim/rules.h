// The optimizers: how a step changes the flat parameter block.
//
// An optimizer is a header with plain data for the launchers of any device and the reading of its
// keys, and its name in the list below. Its read(fields, settings) returns its rule, or a
// std::variant of its rules. A rule has kSlots (state values per element, any number) and
// step<T>(StepScalars), which returns a functor (gradient, Element<T, kSlots>&) that changes one
// element. It may have more, each of which adds a phase to the step (update.h):
//
//   direction<T>(StepScalars)      a functor (gradient, Element<T, kSlots>&), which changes the
//                                  state and returns what takes the gradient's place. step<T> then
//                                  gets that, and an Element<T, 0>: the weight alone
//   trust_ratio(norm of a parameter's weights, norm of its gradient or direction, its decays)
//                                  what the parameter's rate is multiplied by
//   iteration, scale(rows, columns), rescaling(norm of a parameter's weights, rows)
//                                  its parameters are matrices, of which the iteration and a factor
//                                  replace the directions (newton_schulz.h), and what weights are
//                                  multiplied by before step<T>
//   advanced(number, finished steps)
//                                  the next value of a number that depends on all steps so far, 1
//                                  before the first. It is kept on the device and, being a
//                                  function of the finished steps alone, computed anew when a run
//                                  resumes
#pragma once

#include <tuple>
#include <utility>
#include <variant>

#include "base/type_list.h"
#include "optim/adabelief.h"
#include "optim/adadelta.h"
#include "optim/adagrad.h"
#include "optim/adam.h"
#include "optim/adamax.h"
#include "optim/lamb.h"
#include "optim/lars.h"
#include "optim/lion.h"
#include "optim/muon.h"
#include "optim/nadam.h"
#include "optim/rmsprop.h"
#include "optim/sgd.h"

namespace trainyard {

/// Every optimizer, in the order of the reference; Muon last, since its `rest` is one before it.
using Optimizers = std::tuple<Sgd, Rmsprop, Adam, AdamW, Adamax, Nadam, Adagrad, Adadelta, Lars,
                              Lamb, Lion, AdaBelief, Muon>;

/// What an optimizer's read() may give.
template <class Optimizer>
using RulesOf =
    decltype(Optimizer::read(std::declval<config::Fields&>(), std::declval<OptimizerSettings&>()));

/// Any of their rules.
using UpdateRule = VariantOf<RulesOf, Optimizers>;

/// Whether a rule has advanced().
template <class Rule>
concept HasRunningNumber = requires(const Rule& rule) {
  rule.advanced(1.0, std::int64_t{0});
};

/// Whether a rule has direction().
template <class Rule>
concept HasDirection = requires(const Rule& rule) {
  rule.template direction<float>(StepScalars{});
};

/// Whether a rule has trust_ratio().
template <class Rule>
concept HasTrustRatio = requires(const Rule& rule) {
  rule.trust_ratio(1.0, 1.0, WeightDecays{});
};

/// Whether a rule is of matrices.
template <class Rule>
concept OfMatrices = requires(const Rule& rule) {
  rule.rescaling(1.0, std::int64_t{1});
};

/// Whether the rule needs UpdateBlocks::norms.
[[nodiscard]] bool needs_norms(const UpdateRule& rule);

/// Whether the rule is of matrices: of parameters with two axes or more.
[[nodiscard]] bool of_matrices(const UpdateRule& rule);

/// The running number after `finished` steps; 1 for a rule without one.
[[nodiscard]] double running_number(const UpdateRule& rule, std::int64_t finished);

}  // namespace trainyard
