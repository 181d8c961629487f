#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/copy/copy_executors.h"
#include "compute/copy/weight_copies.h"
#include "compute/elementwise/all.h"
#include "compute/elementwise/functor_executor.h"
#include "compute/matmul/matrix_products.h"
#include "compute/norm/channels.h"
#include "compute/recurrent/recurrent.h"
#include "compute/table.h"
#include "compute/weight_packing.h"
#include "counted/counted_gpu.h"
#include "counted/counting_launcher.h"
#include "data/feed/batch_launches_on.h"
#include "optim/update_launches_on.h"

namespace trainyard::counted {
namespace {

/// Bytes of the elements with their padding, without those of other slices in between.
std::size_t stored_bytes(const TensorView& view) {
  const Layout& layout = view.layout;
  const std::int64_t elements =
      layout.extent[0] * layout.padded_channels * layout.extent[2] * layout.extent[3];
  return static_cast<std::size_t>(elements) * size_of(view.type);
}

/// Bytes of the tensors present; one that appears several times counts once.
class TensorBytes {
 public:
  void add(const std::vector<TensorView>& views) {
    for (const TensorView& view : views) {
      if (view.data == nullptr || std::ranges::find(seen_, view.data) != seen_.end()) continue;
      seen_.push_back(view.data);
      bytes_ += stored_bytes(view);
    }
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::vector<const void*> seen_;
  std::size_t bytes_ = 0;
};

/// What a step reads and writes, once each: its tensors, parameters or their gradients, and what it
/// keeps for backward.
std::size_t step_bytes(const StepTensors& tensors, Pass pass, std::size_t reserve) {
  const bool backward = pass == Pass::backward_data || pass == Pass::backward_parameters;
  TensorBytes read, written;
  for (const auto* views : {&tensors.inputs, &tensors.parameters}) read.add(*views);
  if (backward) {
    for (const auto* views : {&tensors.outputs, &tensors.output_gradients}) read.add(*views);
    for (const auto* views : {&tensors.input_gradients, &tensors.parameter_gradients}) {
      written.add(*views);
    }
  } else {
    written.add(tensors.outputs);
  }
  return read.bytes() + written.bytes() + reserve;
}

/// An executor of functors on the counting launcher.
class Counted final : public Executor {
 public:
  enum class Reads { inputs, inputs_and_outputs };

  Counted(LaunchLog& log, std::string_view kind, ExecutorPtr executor, Pass pass,
          Reads reads = Reads::inputs, bool on_side_queue = false)
      : log_(log),
        kind_(kind),
        executor_(std::move(executor)),
        pass_(pass),
        reads_(reads),
        on_side_queue_(on_side_queue) {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return executor_->workspace_bytes();
  }
  [[nodiscard]] std::size_t reserve_bytes() const override { return executor_->reserve_bytes(); }
  void bind(const StepTensors& tensors) override {
    executor_->bind(tensors);
    bytes_ = step_bytes(tensors, pass_, reserve_bytes());
    if (reads_ == Reads::inputs_and_outputs) bytes_ += stored_bytes(tensors.outputs[0]);
  }
  void run() override {
    const std::size_t first = log_.size();
    log_.set_kind(kind_);
    executor_->run();
    std::size_t bytes = bytes_;
    for (const Counted* sibling : siblings_) bytes += sibling->bytes_;
    log_.end_step(first, bytes, on_side_queue_);
  }
  [[nodiscard]] bool add_sibling(const Executor& next) override {
    const auto* const sibling = dynamic_cast<const Counted*>(&next);
    if (sibling == nullptr || !executor_->add_sibling(*sibling->executor_)) return false;
    siblings_.push_back(sibling);
    return true;
  }

 private:
  LaunchLog& log_;
  std::string kind_;
  ExecutorPtr executor_;
  Pass pass_;
  Reads reads_;
  bool on_side_queue_;
  std::size_t bytes_ = 0;
  std::vector<const Counted*> siblings_;
};

class CountedExecutors final : public DeviceExecutors, public WeightPacking {
 public:
  CountedExecutors(LaunchLog& log, Device& device, Queue& queue)
      : log_(log), queues_{device, queue, queue} {}
  [[nodiscard]] ExecutorPtr make_reorder(const Layout& from, DType from_type, const Layout& to,
                                         DType to_type, int /*threads*/) const override {
    return std::make_unique<Counted>(
        log_, "reorder", make_reorder_on(CountingLauncher(log_), from, from_type, to, to_type),
        Pass::forward_eval);
  }
  [[nodiscard]] ExecutorPtr make_accumulate(const Layout& layout, DType type,
                                            int /*threads*/) const override {
    return std::make_unique<Counted>(
        log_, "accumulate", make_accumulate_on(CountingLauncher(log_), layout, layout, type),
        Pass::forward_eval, Counted::Reads::inputs_and_outputs);
  }
  [[nodiscard]] ExecutorPtr make_pack(const std::vector<WeightShape>& shapes,
                                      DType storage) const override {
    return make_copies<PackWeights, true>("packing", shapes, storage);
  }
  [[nodiscard]] ExecutorPtr make_unpack(const std::vector<WeightShape>& shapes,
                                        DType storage) const override {
    return make_copies<UnpackWeights, false>("unpacking", shapes, storage);
  }
  [[nodiscard]] std::unique_ptr<MatrixProduct> make_matrix_product(const ProductShape& shape,
                                                                   DType /*f32*/,
                                                                   int /*threads*/) const override {
    return make_counted_product(log_, shape);
  }
  [[nodiscard]] const StepQueues* queues() const override { return &queues_; }
  [[nodiscard]] std::string libraries() const override { return ""; }

 protected:
  [[nodiscard]] ExecutorPtr make_convolution(const StepDescription& step) const override {
    return make_counted_conv(log_, step);
  }
  [[nodiscard]] ExecutorPtr make_product(const StepDescription& step) const override {
    return make_counted_dense(log_, step);
  }
  [[nodiscard]] ExecutorPtr make_recurrence(const StepDescription& step) const override {
    return counted(step, make_counted_recurrent(log_, step));
  }
  [[nodiscard]] ExecutorPtr make_batch_norm(const StepDescription& step) const override {
    return counted(step, make_counted_channels(log_, step));
  }
  [[nodiscard]] ExecutorPtr make_pooling(const StepDescription& step) const override {
    return counted(step, make_counted_channels(log_, step));
  }
  [[nodiscard]] ExecutorPtr make_functors(const StepDescription& step) const override {
    return counted(step, step.form.sums_layer_bias() ? make_counted_relu_bias(log_, step)
                                                     : make_counted_functor(log_, step));
  }

 private:
  [[nodiscard]] ExecutorPtr counted(const StepDescription& step, ExecutorPtr executor) const {
    return std::make_unique<Counted>(log_, step.op->type(), std::move(executor), step.pass,
                                     Counted::Reads::inputs, step.form.on_side_queue());
  }
  template <template <class> class Functor, bool kPacks>
  [[nodiscard]] ExecutorPtr make_copies(std::string_view kind,
                                        const std::vector<WeightShape>& shapes,
                                        DType storage) const {
    auto copies = GpuFloats{}(storage, [&]<class T>(std::type_identity<T>) -> ExecutorPtr {
      return std::make_unique<WeightCopies<Functor<T>, kPacks, CountingLauncher>>(
          shapes, CountingLauncher(log_), queues_.device, queues_.main);
    });
    return std::make_unique<Counted>(log_, kind, std::move(copies), Pass::forward_eval);
  }

  LaunchLog& log_;
  StepQueues queues_;  // one is enough to count
};

/// A product, or a batch of them: one call of cuBLASLt.
template <class T>
struct CountedProduct {
  LaunchLog* log;
  ProductShape shape;
  [[nodiscard]] std::size_t workspace_bytes() const { return 0; }
  void run(const T*, const T*, float*, void*) const {
    const std::int64_t factors = shape.batch * (shape.rows + shape.columns) * shape.depth;
    const std::int64_t products = shape.batch * shape.rows * shape.columns;
    log->add_call("product",
                  static_cast<std::size_t>(factors) * sizeof(T) +
                      static_cast<std::size_t>(products) * sizeof(float),
                  2.0 * static_cast<double>(products * shape.depth));
  }
};

template <class T>
struct CountedProducts {
  using Factor = T;
  LaunchLog* log;
  [[nodiscard]] CountedProduct<T> make(const ProductShape& shape, std::size_t) const {
    return {log, shape};
  }
};

}  // namespace

std::unique_ptr<ExecutorFactory> make_counted_executors(LaunchLog& log, Device& device,
                                                        Queue& queue) {
  return std::make_unique<CountedExecutors>(log, device, queue);
}

ExecutorPtr make_counted_functor(LaunchLog& log, const StepDescription& step) {
  return make_functor_executor_on<GpuFloats>(step, CountingLauncher(log));
}

ExecutorPtr make_counted_channels(LaunchLog& log, const StepDescription& step) {
  return GpuFloats{}(step.storage, [&]<class T>(std::type_identity<T>) {
    return make_channels_as<T>(step, CountingLauncher(log));
  });
}

ExecutorPtr make_counted_recurrent(LaunchLog& log, const StepDescription& step) {
  return GpuFloats{}(step.storage, [&]<class T>(std::type_identity<T>) {
    return make_recurrent_on<T>(step, CountingLauncher(log), CountedProducts<T>{&log});
  });
}

std::unique_ptr<MatrixProduct> make_counted_product(LaunchLog& log, const ProductShape& shape) {
  ProductShape once = shape;
  once.batch = 1;
  return std::make_unique<ProductsInTurn<float, CountedProduct<float>>>(
      CountedProduct<float>{&log, shape}, once);
}

std::unique_ptr<UpdateLaunches> make_counted_updates(LaunchLog& log) {
  return std::make_unique<UpdateLaunchesOn<CountingLauncher>>(CountingLauncher(log));
}

std::unique_ptr<BatchLaunches> make_counted_batches(LaunchLog& log) {
  return std::make_unique<BatchLaunchesOn<CountingLauncher>>(CountingLauncher(log, "batch"));
}

}  // namespace trainyard::counted
