// Copies and sums between layouts.
#include <type_traits>

#include "base/error.h"
#include "exec/functor/functor.h"
#include "ops/elementwise.h"
#include "tensor/float_types.h"

namespace trainyard {
namespace {

/// outputs[0] = inputs[0].
template <class From, class To>
class ReorderExecutor final : public Executor {
 public:
  ReorderExecutor(const Walk& walk, int threads) : walk_(walk), launcher_(threads) {}
  void bind(const StepTensors& tensors) override {
    from_ = tensors.inputs[0];
    to_ = tensors.outputs[0];
  }
  void run() override { map<To, From>(launcher_, walk_, Copy{}, from_, to_); }

 private:
  Walk walk_;
  CpuLauncher launcher_;
  TensorView from_, to_;
};

/// outputs[0] += inputs[0].
template <class T>
class AccumulateExecutor final : public Executor {
 public:
  AccumulateExecutor(const Walk& walk, int threads) : walk_(walk), launcher_(threads) {}
  void bind(const StepTensors& tensors) override {
    from_ = tensors.inputs[0];
    to_ = tensors.outputs[0];
  }
  void run() override { map<T>(launcher_, walk_, Sum{}, to_, from_, to_); }

 private:
  Walk walk_;
  CpuLauncher launcher_;
  TensorView from_, to_;
};

template <class From>
std::unique_ptr<Executor> make_reorder_from(DType to, const Walk& walk, int threads) {
  return with_float_type(to, [&]<class To>(std::type_identity<To>) -> std::unique_ptr<Executor> {
    if constexpr (std::is_constructible_v<To, Arithmetic<From>>) {
      return std::make_unique<ReorderExecutor<From, To>>(walk, threads);
    } else {
      TY_CHECK(false, "reorders write f16 and bf16 from f32, f16 and bf16 alone");
      return nullptr;
    }
  });
}

}  // namespace

std::unique_ptr<Executor> make_functor_reorder(const Layout& from, DType from_type,
                                               const Layout& to, DType to_type, int threads) {
  const Layout layouts[] = {to, from};
  const Walk walk = plan_walk(layouts);
  if (from_type == DType::i32 && to_type == DType::i32) {
    return std::make_unique<ReorderExecutor<std::int32_t, std::int32_t>>(walk, threads);
  }
  if (from_type == DType::i32) return make_reorder_from<std::int32_t>(to_type, walk, threads);
  if (from_type == DType::u8) return make_reorder_from<std::uint8_t>(to_type, walk, threads);
  return with_float_type(from_type, [&]<class From>(std::type_identity<From>) {
    return make_reorder_from<From>(to_type, walk, threads);
  });
}

std::unique_ptr<Executor> make_functor_accumulate(const Layout& from, const Layout& to, DType type,
                                                  int threads) {
  const Layout layouts[] = {to, from};
  const Walk walk = plan_walk(layouts);
  return with_float_type(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Executor> {
    return std::make_unique<AccumulateExecutor<T>>(walk, threads);
  });
}

}  // namespace trainyard
