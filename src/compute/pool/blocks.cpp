// Pooling, over windows or the whole map: own functors over channel blocks, also from or to a
// channel slice of a wider tensor. Everything else, as images in plain layout, is by the functors
// for any layout, which are slow on the CPU.
//
// Gains: a step of MiniGoogLeNet in bf16 spends 10 of 827 ms in pooling (docs/results/log/cpu.md);
// max_pool's values took 6.5 ms before rows of windows were compared apart, 4.2 now.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "compute/conv/onednn/primitives.h"
#include "compute/norm/channels.h"
#include "compute/pool/pool_planes.h"
#include "launcher/launch.h"
#include "ops/pool.h"

namespace trainyard::onednn {
namespace {

const PoolOp& op_of(const StepDescription& step) { return op_as<PoolOp>(step); }

/// True if the input has planes and the output can be addressed by them (PoolPlanes).
bool pools_planes(const StepDescription& step) {
  const Layout &input = step.inputs[0], &output = step.outputs[0];
  const bool features =
      output.block == 1 && output.stride[1] == 1 && output.extent[2] * output.extent[3] == 1;
  return op_of(step).values().kind != PoolAttributes::Kind::power &&
         input.block % kVectorLanes == 0 && (output.block == input.block || features);
}

PoolPlanes planes_of(const StepDescription& step) {
  const Layout& input = step.inputs[0];
  return {pool_axes(op_of(step), shape_of(input)), input, step.outputs[0],
          input.padded_channels / input.block};
}

/// What both kinds have in common: the tensors of a pass. Maps is PoolPlanes or MaxPlanes.
template <class T, class Maps>
class PlanePool : public Executor {
 public:
  explicit PlanePool(const StepDescription& step)
      : launcher_(step.threads), pass_(step.pass), maps_{planes_of(step)} {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(own_.threads * own_.floats) * sizeof(float);
  }
  void bind(const StepTensors& tensors) override {
    x_ = (backward() ? tensors.input_gradients : tensors.inputs)[0].template as<T>();
    y_ = (backward() ? tensors.output_gradients : tensors.outputs)[0].template as<T>();
    own_.memory = static_cast<float*>(tensors.workspace);
  }

 protected:
  [[nodiscard]] bool backward() const { return pass_ == Pass::backward_data; }
  [[nodiscard]] std::int64_t output_rows() const { return maps_.planes() * maps_.h.output; }

  CpuLauncher launcher_;
  Pass pass_;
  Maps maps_;
  T* x_ = nullptr;  // or their gradients
  T* y_ = nullptr;
  ThreadPlanes own_{nullptr, 0, launcher_.threads()};
};

template <class T>
class MeanPool final : public PlanePool<T, PoolPlanes> {
 public:
  explicit MeanPool(const StepDescription& step)
      : PlanePool<T, PoolPlanes>(step), count_pad_(op_of(step).values().count_pad) {
    if (this->backward()) this->own_.floats = this->maps_.in_output(this->maps_.h.output, 0);
  }
  void run() override {
    if (this->backward()) {
      this->launcher_.rows(this->own_.threads, MeanPoolGradient<T>{this->maps_, this->y_, this->x_,
                                                                   count_pad_, this->own_});
      return;
    }
    this->launcher_.rows(this->output_rows(),
                         MeanPoolRow<T>{this->maps_, this->x_, this->y_, count_pad_});
  }

 private:
  bool count_pad_;
};

/// The taps are stored in the reserve.
template <class T>
class MaxPool final : public PlanePool<T, MaxPlanes> {
 public:
  explicit MaxPool(const StepDescription& step) : PlanePool<T, MaxPlanes>(step) {
    const bool sums = this->backward() && !std::is_same_v<T, float>;
    if (sums) this->own_.floats = this->maps_.in_plane(this->maps_.h.input, 0);
  }
  [[nodiscard]] std::size_t reserve_bytes() const override {
    const auto taps = static_cast<std::size_t>(this->maps_.taps(this->maps_.planes(), 0));
    return evaluates() ? 0 : taps * sizeof(std::uint64_t);
  }
  void bind(const StepTensors& tensors) override {
    PlanePool<T, MaxPlanes>::bind(tensors);
    taps_ = evaluates() ? nullptr : static_cast<std::uint64_t*>(tensors.reserve);
  }
  void run() override {
    const auto both = [&](std::int64_t size) {
      return this->maps_.h.size == size && this->maps_.w.size == size;
    };
    both(2) ? pool<2>() : both(3) ? pool<3>() : pool<0>();
  }

 private:
  [[nodiscard]] bool evaluates() const { return this->pass_ == Pass::forward_eval; }
  template <int kSize>
  void pool() const {
    if (this->backward()) {
      this->launcher_.rows(
          this->own_.threads,
          MaxPoolGradient<T, kSize>{this->maps_, this->y_, taps_, this->x_, this->own_});
    } else {
      this->launcher_.rows(this->output_rows(),
                           MaxPoolRow<T, kSize>{this->maps_, this->x_, this->y_, taps_});
    }
  }

  std::uint64_t* taps_ = nullptr;
};

template <class T>
ExecutorPtr make_plane_pool(const StepDescription& step) {
  if (op_of(step).values().kind == PoolAttributes::Kind::average) {
    return std::make_unique<MeanPool<T>>(step);
  }
  const config::Pair size = op_of(step).geometry(shape_of(step.inputs[0])).size;
  if (size.h * size.w > kMostTaps) return make_channel_executor(step);
  return std::make_unique<MaxPool<T>>(step);
}

}  // namespace

ExecutorPtr make_pool(const StepDescription& step) {
  if (!pools_planes(step)) return make_channel_executor(step);
  return step.storage == DType::bf16 ? make_plane_pool<BFloat16>(step)
                                     : make_plane_pool<float>(step);
}

}  // namespace trainyard::onednn
