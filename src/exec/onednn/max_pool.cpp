// Maximum pooling over blocks of channels, also from or to a channel slice of a wider tensor.
#include <type_traits>

#include "exec/onednn/executors.h"
#include "exec/onednn/max_planes.h"
#include "kernels/launch.h"
#include "ops/pool.h"

namespace trainyard::onednn {
namespace {

MaxPlanes planes_of(const StepDescription& step) {
  const Layout &input = step.inputs[0], &output = step.outputs[0];
  return {pool_axes(static_cast<const PoolOp&>(*step.op), shape_of(input)), input, output,
          input.padded_channels / input.block};
}

/// Both passes. The taps are stored in the reserve.
template <class T>
class MaxPool final : public Executor {
 public:
  explicit MaxPool(const StepDescription& step)
      : launcher_(step.threads), pass_(step.pass), maps_(planes_of(step)) {}
  [[nodiscard]] std::size_t reserve_bytes() const override {
    const auto taps = static_cast<std::size_t>(maps_.taps(planes(), 0));
    return pass_ == Pass::forward_eval ? 0 : taps * sizeof(std::uint64_t);
  }
  void bind(const StepTensors& tensors) override {
    const bool backward = pass_ == Pass::backward_data;
    input_ = (backward ? tensors.input_gradients : tensors.inputs)[0].template as<T>();
    output_ = (backward ? tensors.output_gradients : tensors.outputs)[0].template as<T>();
    taps_ = pass_ == Pass::forward_eval ? nullptr : static_cast<std::uint64_t*>(tensors.reserve);
  }
  void run() override {
    const auto both = [&](std::int64_t size) {
      return maps_.h.size == size && maps_.w.size == size;
    };
    both(2) ? pool<2>() : both(3) ? pool<3>() : pool<0>();
  }

 private:
  template <int kSize>
  void pool() const {
    if (pass_ != Pass::backward_data) {
      launcher_.rows(planes() * maps_.h.output,
                     MaxPoolRow<T, kSize>{maps_, input_, output_, taps_});
    } else if constexpr (std::is_same_v<T, float>) {
      launcher_.rows(planes(), MaxPoolGradient<kSize>{maps_, output_, taps_, input_});
    } else {
      launcher_.rows(planes() * maps_.h.input,
                     MaxPoolRowGradient<T>{maps_, output_, taps_, input_});
    }
  }
  [[nodiscard]] std::int64_t planes() const { return maps_.input.extent[0] * maps_.blocks; }

  CpuLauncher launcher_;
  Pass pass_;
  MaxPlanes maps_;
  T* input_ = nullptr;  // or their gradients
  T* output_ = nullptr;
  std::uint64_t* taps_ = nullptr;
};

}  // namespace

std::unique_ptr<Executor> make_max_pool(const StepDescription& step) {
  const auto& op = static_cast<const PoolOp&>(*step.op);
  const Layout &input = step.inputs[0], &output = step.outputs[0];
  const config::Pair size = op.geometry(shape_of(input)).size;
  const bool maximum = op.values().kind == PoolAttributes::Kind::max && size.h * size.w <= 256;
  const bool blocks = input.block % kMaxLanes == 0 && input.block == output.block;
  if (!maximum || !blocks) return nullptr;
  if (step.storage == DType::bf16) return std::make_unique<MaxPool<BFloat16>>(step);
  return std::make_unique<MaxPool<float>>(step);
}

}  // namespace trainyard::onednn
