// Executors of copies and sums between layouts, for any launcher.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/error.h"
#include "compute/elementwise/map.h"
#include "compute/executor.h"

namespace trainyard {

/// outputs[0] = inputs[0].
template <class From, class To, class Launcher>
class ReorderExecutor final : public Executor {
 public:
  ReorderExecutor(const Walk& walk, const Launcher& launcher) : walk_(walk), launcher_(launcher) {}
  void bind(const StepTensors& tensors) override {
    from_ = tensors.inputs[0];
    to_ = tensors.outputs[0];
  }
  void run() override { map<To, From>(launcher_, walk_, Copy{}, from_, to_); }

 private:
  Walk walk_;
  Launcher launcher_;
  TensorView from_, to_;
};

/// outputs[0] += inputs[0].
template <class T, class Launcher>
class AccumulateExecutor final : public Executor {
 public:
  AccumulateExecutor(const Walk& walk, const Launcher& launcher)
      : walk_(walk), launcher_(launcher) {}
  void bind(const StepTensors& tensors) override {
    from_ = tensors.inputs[0];
    to_ = tensors.outputs[0];
  }
  void run() override { map<T>(launcher_, walk_, Sum{}, to_, from_, to_); }

 private:
  Walk walk_;
  Launcher launcher_;
  TensorView from_, to_;
};

/// A reorder from elements of one type.
template <class From, class Launcher>
[[nodiscard]] ExecutorPtr make_reorder_from(DType to, const Walk& walk, const Launcher& launcher) {
  return typename Launcher::Floats{}(to, [&]<class To>(std::type_identity<To>) -> ExecutorPtr {
    if constexpr (std::is_constructible_v<To, Arithmetic<From>>) {
      return std::make_unique<ReorderExecutor<From, To, Launcher>>(walk, launcher);
    } else {
      TY_CHECK(false, "reorders write f16 and bf16 from f32, f16 and bf16 alone");
      return nullptr;
    }
  });
}

/// See make_functor_reorder() of functor.h.
template <class Launcher>
[[nodiscard]] ExecutorPtr make_reorder_on(const Launcher& launcher, const Layout& from,
                                          DType from_type, const Layout& to, DType to_type) {
  const Layout layouts[] = {to, from};
  const Walk walk = plan_walk(layouts);
  if (from_type == DType::i32 && to_type == DType::i32) {
    using Labels = ReorderExecutor<std::int32_t, std::int32_t, Launcher>;
    return std::make_unique<Labels>(walk, launcher);
  }
  if (from_type == DType::i32) {
    return make_reorder_from<std::int32_t>(to_type, walk, launcher);
  }
  if (from_type == DType::u8) {
    return make_reorder_from<std::uint8_t>(to_type, walk, launcher);
  }
  return typename Launcher::Floats{}(from_type, [&]<class From>(std::type_identity<From>) {
    return make_reorder_from<From>(to_type, walk, launcher);
  });
}

/// See make_functor_accumulate() of functor.h.
template <class Launcher>
[[nodiscard]] ExecutorPtr make_accumulate_on(const Launcher& launcher, const Layout& from,
                                             const Layout& to, DType type) {
  const Layout layouts[] = {to, from};
  const Walk walk = plan_walk(layouts);
  return typename Launcher::Floats{}(type, [&]<class T>(std::type_identity<T>) -> ExecutorPtr {
    return std::make_unique<AccumulateExecutor<T, Launcher>>(walk, launcher);
  });
}

}  // namespace trainyard
