// Copies and sums between layouts.
#include <vector>

#include "base/error.h"
#include "exec/functor/functor.h"
#include "ops/elementwise.h"

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

template <class To>
std::unique_ptr<Executor> make_reorder_to(DType from, const Walk& walk, int threads) {
  switch (from) {
    case DType::f32:
      return std::make_unique<ReorderExecutor<float, To>>(walk, threads);
    case DType::f64:
      return std::make_unique<ReorderExecutor<double, To>>(walk, threads);
    case DType::i32:
      return std::make_unique<ReorderExecutor<std::int32_t, To>>(walk, threads);
    case DType::u8:
      return std::make_unique<ReorderExecutor<std::uint8_t, To>>(walk, threads);
    default:
      TY_CHECK(false, "reorders read f32, f64, i32 or u8");
      return nullptr;
  }
}

}  // namespace

std::unique_ptr<Executor> make_functor_reorder(const Layout& from, DType from_type,
                                               const Layout& to, DType to_type, int threads) {
  const Layout layouts[] = {to, from};
  const Walk walk = plan_walk(layouts);
  switch (to_type) {
    case DType::f32:
      return make_reorder_to<float>(from_type, walk, threads);
    case DType::f64:
      return make_reorder_to<double>(from_type, walk, threads);
    case DType::i32:
      TY_CHECK(from_type == DType::i32, "labels stay i32");
      return std::make_unique<ReorderExecutor<std::int32_t, std::int32_t>>(walk, threads);
    default:
      TY_CHECK(false, "reorders write f32, f64 or i32");
      return nullptr;
  }
}

std::unique_ptr<Executor> make_functor_accumulate(const Layout& from, const Layout& to, DType type,
                                                  int threads) {
  const Layout layouts[] = {to, from};
  const Walk walk = plan_walk(layouts);
  if (type == DType::f64) return std::make_unique<AccumulateExecutor<double>>(walk, threads);
  TY_CHECK(type == DType::f32, "gradients are f32 or f64");
  return std::make_unique<AccumulateExecutor<float>>(walk, threads);
}

}  // namespace trainyard
