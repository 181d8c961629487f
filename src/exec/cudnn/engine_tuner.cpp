#include "exec/cudnn/engine_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/handle.h"
#include "base/philox.h"
#include "device/cuda/check.h"
#include "device/cuda/cuda_device.h"
#include "exec/cudnn/kernels.h"

namespace trainyard::cudnn {
namespace {

// Candidates to time. Graphs that add the bias run on engines that are compiled for them, up to a
// second each, so few of those.
constexpr std::size_t kMostPlain = 8;
constexpr std::size_t kMostWithBias = 3;
// A candidate is run for about this long, three times; the least counts.
constexpr double kMilliseconds = 1.0;
constexpr int kMostRuns = 20;
// A candidate whose first run takes this many times the best is not run again.
constexpr double kHopeless = 3.0;

/// A graph and the descriptor that cuDNN made of it.
struct Form {
  ConvGraph graph;
  DescriptorPtr descriptor;
};

Form make_form(Context& context, const ConvGraph& graph) {
  return {graph, make_operation_graph(context.library(), graph)};
}

std::size_t bytes_of(const GraphTensor& tensor) {
  std::int64_t last = 0;
  for (int axis = 0; axis < 4; ++axis) last += (tensor.extents[axis] - 1) * tensor.strides[axis];
  return static_cast<std::size_t>(last + 1) * size_of(tensor.type);
}

/// Uniform in [-1, 1), as `type`: zeros would flatter engines, whose clocks follow the power drawn.
std::vector<std::byte> random_block(DType type, std::size_t bytes) {
  std::vector<std::byte> block(bytes);
  for (std::size_t i = 0; i * size_of(type) < bytes; ++i) {
    const Random4 random = random4(1, RandomStream::synthetic, 0, 0, static_cast<std::int64_t>(i));
    const float value = static_cast<float>(uniform01(random.word[0]) * 2 - 1);
    std::byte* const at = block.data() + i * size_of(type);
    if (type == DType::f16) {
      *reinterpret_cast<Float16*>(at) = Float16(value);
    } else if (type == DType::bf16) {
      *reinterpret_cast<BFloat16*>(at) = BFloat16(value);
    } else {
      *reinterpret_cast<float*>(at) = value;
    }
  }
  return block;
}

/// Memory for the tensors of a graph, filled with random values, and a workspace.
class TuningMemory {
 public:
  TuningMemory(Context& context, const ConvGraph& graph, std::size_t workspace_bytes)
      : queue_(*context.settings().queue) {
    constexpr std::size_t kLine = 256;
    const std::array<std::size_t, 5> sizes{
        bytes_of(graph.input), bytes_of(graph.weight), bytes_of(graph.output),
        static_cast<std::size_t>(graph.output.extents[1]) * sizeof(float), workspace_bytes};
    std::array<std::size_t, 5> offsets{};
    std::size_t total = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      offsets[i] = total;
      total += (sizes[i] + kLine - 1) / kLine * kLine;
    }
    buffer_ = context.settings().device->allocate(total);
    std::byte* const base = static_cast<std::byte*>(buffer_->data());
    addresses_ = {base + offsets[0], base + offsets[1], base + offsets[2], base + offsets[3],
                  base + offsets[4]};
    fill(base, offsets[3], graph.input.type);
    fill(base + offsets[3], sizes[3], DType::f32);
  }
  [[nodiscard]] const GraphAddresses& addresses() const { return addresses_; }

 private:
  void fill(std::byte* to, std::size_t bytes, DType type) {
    constexpr std::size_t kBlock = 1 << 20;
    const std::vector<std::byte> block = random_block(type, std::min(bytes, kBlock));
    for (std::size_t done = 0; done < bytes; done += block.size()) {
      queue_.copy_from_host(to + done, block.data(), std::min(block.size(), bytes - done));
    }
    queue_.wait();
  }

  Queue& queue_;
  std::unique_ptr<DeviceBuffer> buffer_;
  GraphAddresses addresses_;
};

/// Milliseconds between two points of a stream.
class StopWatch {
 public:
  explicit StopWatch(cudaStream_t stream) : stream_(stream), begin_(make()), end_(make()) {}
  template <class F>
  [[nodiscard]] double time(const F& work) {
    TY_CUDA(cudaEventRecord(begin_.get(), stream_));
    work();
    TY_CUDA(cudaEventRecord(end_.get(), stream_));
    TY_CUDA(cudaEventSynchronize(end_.get()));
    float milliseconds = 0;
    TY_CUDA(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return milliseconds;
  }

 private:
  static cudaEvent_t make() {
    cudaEvent_t event = nullptr;
    TY_CUDA(cudaEventCreate(&event));
    return event;
  }
  cudaStream_t stream_;
  Handle<cudaEvent_t, cuda::DestroyEvent> begin_, end_;
};

/// Runs plans of one convolution on scratch memory.
class Trial {
 public:
  Trial(Context& context, const ConvGraph& graph, std::int64_t bias, std::size_t workspace_bytes)
      : context_(context),
        graph_(graph),
        bias_(bias),
        memory_(context, graph, workspace_bytes),
        watch_(context.stream()) {}

  /// Milliseconds of one run, the bias included; infinite where the plan does not run, or is
  /// hopelessly slower than `best`.
  [[nodiscard]] double time(const EnginePlan& plan, double best) {
    GraphAddresses addresses = memory_.addresses();
    if (!plan.choice.adds_bias) addresses.bias = nullptr;
    const DescriptorPtr pack = make_variant_pack(context_.library(), addresses);
    if (!run(plan, pack)) return kNever;
    const double first = watch_.time([&] { static_cast<void>(run(plan, pack)); });
    if (first > kHopeless * best) return kNever;
    const int runs = std::clamp(static_cast<int>(kMilliseconds / first), 1, kMostRuns);
    double least = first;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const double all = watch_.time([&] {
        for (int i = 0; i < runs; ++i) static_cast<void>(run(plan, pack));
      });
      least = std::min(least, all / runs);
    }
    return least;
  }

  static constexpr double kNever = std::numeric_limits<double>::infinity();

 private:
  [[nodiscard]] bool run(const EnginePlan& plan, const DescriptorPtr& pack) {
    const cudnnStatus_t status =
        context_.library().call().execute(context_.handle(), plan.plan->raw(), pack->raw());
    if (status != CUDNN_STATUS_SUCCESS) return false;
    if (bias_ > 0 && !plan.choice.adds_bias) {
      add_bias(context_.stream(), graph_.output.type, bias_rows(), memory_.addresses().output,
               static_cast<const float*>(memory_.addresses().bias));
    }
    return true;
  }
  [[nodiscard]] ChannelRows bias_rows() const {
    Layout layout;
    layout.rank = 4;
    std::ranges::copy(graph_.output.extents, layout.extent);
    std::ranges::copy(graph_.output.strides, layout.stride);
    layout.padded_channels = layout.extent[1];
    layout.extent[1] = bias_;
    return ChannelRows(layout);
  }

  Context& context_;
  const ConvGraph& graph_;
  std::int64_t bias_;
  TuningMemory memory_;
  StopWatch watch_;
};

[[noreturn]] void no_engine_left(const std::string& key, const RefusalCount& refused) {
  throw Error(
      ErrorKind::device,
      fmt::format("no engine of cuDNN is left for {}: {}; 'deterministic: false' or another "
                  "precision may admit one",
                  key, refused.text()));
}

EnginePlan fastest(Context& context, const ConvGraph& graph, std::int64_t bias,
                   const std::string& key, std::vector<EnginePlan> plans) {
  std::int64_t workspace = 0;
  for (const EnginePlan& plan : plans) workspace = std::max(workspace, plan.workspace_bytes);
  Trial trial(context, graph, bias, static_cast<std::size_t>(workspace));
  double best = Trial::kNever;
  std::size_t winner = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const double milliseconds = trial.time(plans[i], best);
    if (milliseconds >= best) continue;
    best = milliseconds;
    winner = i;
  }
  if (best == Trial::kNever) {
    throw Error(ErrorKind::device, "every engine that cuDNN proposes for " + key + " fails to run");
  }
  context.keep(key, plans[winner].choice, best * 1000);
  return std::move(plans[winner]);
}

}  // namespace

std::string choice_key(const ConvGraph& graph, std::int64_t bias, const EngineRules& rules) {
  const std::string sum = bias > 0 ? fmt::format(", and a bias of {}", bias) : "";
  return fmt::format("{}{}; {}", text_of(graph), sum, text_of(rules));
}

EnginePlan choose_engine(Context& context, const ConvGraph& graph, std::int64_t bias,
                         const EngineRules& rules) {
  const std::string key = choice_key(graph, bias, rules);
  if (std::optional<EnginePlan> shared = context.used(key)) return std::move(*shared);
  const Form plain = make_form(context, graph);
  const auto with_bias_form = [&] { return make_form(context, with_bias(graph)); };
  if (const auto choice = context.known(key)) {
    const Form form = choice->adds_bias ? with_bias_form() : plain;
    std::optional<EnginePlan> plan = remake_plan(form.descriptor, context.properties(), *choice);
    if (plan && plan->workspace_bytes <= rules.workspace_cap) {
      context.use(key, *plan);
      return std::move(*plan);
    }
    context.forget(key, key);
  }
  const bool tune = context.settings().tune;
  RefusalCount refused;
  std::vector<EnginePlan> plans = find_plans(plain.descriptor, context.properties(), false, rules,
                                             tune ? kMostPlain : 1, refused);
  if (tune && bias == graph.output.extents[1]) {
    for (EnginePlan& plan : find_plans(with_bias_form().descriptor, context.properties(), true,
                                       rules, kMostWithBias, refused)) {
      plans.push_back(std::move(plan));
    }
  }
  if (plans.empty()) no_engine_left(key, refused);
  EnginePlan chosen =
      tune ? fastest(context, graph, bias, key, std::move(plans)) : std::move(plans.front());
  context.use(key, chosen);
  return chosen;
}

}  // namespace trainyard::cudnn
