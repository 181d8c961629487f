// The functors of an op: how any launcher computes it, for all devices.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/walk.h"
#include "ops/op.h"
#include "ops/step_form.h"

namespace trainyard {

/// One pass of one node. The functors of an op derive from FunctorsOf that op and have
///   static constexpr std::array<std::string_view, n> kOps;  // the YAML names that the op may have
///   template <class T, class Launcher>
///   void run(const FunctorStep&, const StepTensors&, const Launcher&) const;
/// and, if all tensors have one shape, so that the walk is planned,
///   static constexpr bool kElementwise = true;
/// where T is the storage type of activations and their gradients; arithmetic, losses and metrics
/// are in Arithmetic<T> (float, or double in gradient checks). Their passes are the two forward
/// passes and backward_data: an op with parameters sets Contract::synced_backward. An op that needs
/// memory has
///   template <class T> std::size_t workspace_bytes(const FunctorStep&) const;  // this step's
///   template <class T> std::size_t reserve_bytes(const FunctorStep&) const;    // in training
struct FunctorStep {
  Pass pass = Pass::forward_train;
  std::uint32_t node = 0;      // keys random draws
  Walk walk;                   // over all inputs and outputs
  std::vector<Layout> inputs;  // all inputs, those without a gradient too
  StepForm form = {};

  [[nodiscard]] bool backward() const { return pass == Pass::backward_data; }
};

/// The op is copied: it is small, and the description of a step need not outlive its executor.
template <class OpType>
struct FunctorsOf {
  using Op = OpType;
  static constexpr bool kElementwise = false;
  OpType op;
};

}  // namespace trainyard
