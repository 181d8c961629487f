#include "compute/conv/cudnn/engine_trial.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/handle.h"
#include "base/offset_allocator.h"
#include "base/philox.h"
#include "compute/devices/cuda/context.h"
#include "compute/devices/cuda/kernels.h"
#include "device/cuda/check.h"
#include "device/cuda/cuda_device.h"

namespace trainyard::cudnn {
namespace {

// The work in a replay takes about this long, within these bounds.
constexpr double kMilliseconds = 1.0;
constexpr double kMostRuns = 20;
constexpr int kReplays = 3;
// Work whose first replay takes this many times the best time is not replayed again, if it takes so
// long that the launch of a graph, which a first replay includes, does not count.
constexpr double kHopeless = 3.0;
constexpr double kJudgedMilliseconds = 0.02;

/// A replay that loads the graph, then one that is timed.
double second_replay(const QueueTimer& time, Recording& recording) {
  recording.replay();
  return time([&] { recording.replay(); });
}

/// Uniform in [-1, 1), as `type`: zeros would flatter engines, since clocks depend on power drawn.
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

/// Memory for the tensors of a graph, filled with random values if it is timed, for a bias in f32
/// and in the graph's type, a workspace, and, if it is timed, for another result.
class TrialMemory {
 public:
  TrialMemory(Context& context, const TrialSubject& subject) : queue_(*context.settings().queue) {
    const ConvGraph& graph = subject.graph;
    const std::size_t bias_bytes =
        static_cast<std::size_t>(graph.output.extents[1]) * sizeof(float);
    OffsetAllocator allocator;
    const std::size_t input = allocator.take(graph.input.bytes());
    const std::size_t weight = allocator.take(graph.weight.bytes());
    const std::size_t output = allocator.take(graph.output.bytes());
    const std::size_t bias = allocator.take(bias_bytes);
    const std::size_t rounded_bias = allocator.take(bias_bytes);
    const std::size_t workspace = allocator.take(subject.workspace_bytes);
    const std::size_t earlier = allocator.take(subject.timed ? graph.result().bytes() : 0);
    const std::size_t differ = allocator.take(sizeof(std::uint32_t));
    buffer_ = context.settings().device->allocate(allocator.used());
    const auto at = [this](std::size_t offset) { return address_at(buffer_->data(), offset); };
    addresses_ = {.input = at(input),
                  .weight = at(weight),
                  .output = at(output),
                  .bias = at(rounded_bias),
                  .workspace = at(workspace)};
    bias_ = static_cast<float*>(at(bias));
    earlier_ = at(earlier);
    differ_ = static_cast<std::uint32_t*>(at(differ));
    // The bias of a graph in f32 is read directly.
    if (graph.output.type == DType::f32) addresses_.bias = bias_;
    if (!subject.timed) return;
    fill(static_cast<std::byte*>(at(0)), bias, graph.input.type);
    fill(static_cast<std::byte*>(at(bias)), bias_bytes, DType::f32);
    fill(static_cast<std::byte*>(at(rounded_bias)), bias_bytes, graph.output.type);
  }
  [[nodiscard]] const GraphAddresses& addresses() const { return addresses_; }
  [[nodiscard]] const float* bias() const { return bias_; }
  [[nodiscard]] void* result(const ConvGraph& graph) const {
    return graph.computes == ConvGraph::Computes::output           ? addresses_.output
           : graph.computes == ConvGraph::Computes::input_gradient ? addresses_.input
                                                                   : addresses_.weight;
  }
  /// The result of an earlier run.
  [[nodiscard]] void* earlier() const { return earlier_; }
  [[nodiscard]] std::uint32_t* differ() const { return differ_; }

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
  float* bias_ = nullptr;
  void* earlier_ = nullptr;
  std::uint32_t* differ_ = nullptr;
};

/// Milliseconds between two points of a stream.
class StopWatch {
 public:
  explicit StopWatch(cudaStream_t stream) : stream_(stream), begin_(make()), end_(make()) {}
  [[nodiscard]] double time(const std::function<void()>& work) const {
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

class CudaTrial final : public EngineTrial {
 public:
  CudaTrial(Context& context, const TrialSubject& subject)
      : context_(context),
        graph_(subject.graph),
        bias_(subject.bias),
        memory_(context, subject),
        watch_(context.stream()) {}

  [[nodiscard]] TrialResult run(const EnginePlan& plan, double best) override {
    TrialResult result;
    result.refusal = attempt(plan, [&](const std::function<void()>& put) {
      const CudaExecutorSettings& settings = context_.settings();
      result.milliseconds = replay_milliseconds(
          *settings.device, *settings.queue,
          [this](const std::function<void()>& work) { return watch_.time(work); }, put, best);
      const bool judged = settings.deterministic && result.milliseconds < best;
      if (!judged || repeats_result(put)) return;
      throw device_error("its results differ from run to run");
    });
    return result;
  }
  [[nodiscard]] std::string refusal_of(const EnginePlan& plan) override {
    return attempt(plan, [&](const std::function<void()>& put) {
      const CudaExecutorSettings& settings = context_.settings();
      replay_once(*settings.device, *settings.queue, put);
    });
  }

 private:
  /// Runs twice, each time over the same values: a result that is added to needs finite ones.
  [[nodiscard]] bool repeats_result(const std::function<void()>& put) const {
    constexpr std::byte kNaN{0xff}, kSmall{0x3c};
    Queue& queue = *context_.settings().queue;
    void* const result = memory_.result(graph_);
    const std::size_t bytes = graph_.result().bytes();
    const auto run = [&] {
      queue.fill(result, graph_.adds_result ? kSmall : kNaN, bytes);
      put();
    };
    run();
    queue.copy(memory_.earlier(), result, bytes);
    queue.fill(memory_.differ(), std::byte{0}, sizeof(std::uint32_t));
    run();
    note_difference(context_.stream(), memory_.earlier(), result, bytes, memory_.differ());
    std::uint32_t differ = 0;
    queue.copy_to_host(&differ, memory_.differ(), sizeof differ);
    queue.wait();
    return differ == 0;
  }
  /// Passes `work` a function that enqueues one run of the plan. Returns why that failed, or "".
  template <class Work>
  [[nodiscard]] std::string attempt(const EnginePlan& plan, const Work& work) {
    // A plan or run that failed may have left CUDA's last error, which must not be taken for this
    // one's.
    cuda::ignore(cudaGetLastError());
    try {
      GraphAddresses addresses = memory_.addresses();
      if (!plan.choice.adds_bias) addresses.bias = nullptr;
      const DescriptorPtr pack = make_variant_pack(context_.library(), addresses);
      work([&] { put_run(plan, *pack); });
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::device) throw;
      context_.settings().queue->wait();  // if the GPU still works, the plan is the cause
      return error.what();
    }
    return "";
  }
  /// Enqueues one run on the stream.
  void put_run(const EnginePlan& plan, const Descriptor& pack) const {
    const Library& library = context_.library();
    library.check(library.call().execute(context_.handle(), plan.plan->raw(), pack.raw()),
                  "running a convolution");
    if (bias_ > 0 && !plan.choice.adds_bias) {
      add_bias(context_.stream(), graph_.output.type, bias_rows(), memory_.addresses().output,
               memory_.bias(), false);
    }
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
  ConvGraph graph_;
  std::int64_t bias_;
  TrialMemory memory_;
  StopWatch watch_;
};

}  // namespace

double replay_milliseconds(Device& device, Queue& queue, const QueueTimer& time,
                           const std::function<void()>& run, double best) {
  run();  // loads modules, which a recording may not
  queue.wait();
  const double first = second_replay(time, *device.record(queue, run));
  if (first > std::max(kHopeless * best, kJudgedMilliseconds))
    return std::numeric_limits<double>::infinity();
  const int runs = first * kMostRuns <= kMilliseconds
                       ? static_cast<int>(kMostRuns)
                       : std::max(1, static_cast<int>(kMilliseconds / first));
  const std::unique_ptr<Recording> many = device.record(queue, [&run, runs] {
    for (int i = 0; i < runs; ++i) run();
  });
  double least = second_replay(time, *many);
  for (int i = 1; i < kReplays; ++i) least = std::min(least, time([&] { many->replay(); }));
  return least / runs;
}

void replay_once(Device& device, Queue& queue, const std::function<void()>& run) {
  run();  // loads modules, which a recording may not
  queue.wait();
  const std::unique_ptr<Recording> once = device.record(queue, run);
  once->replay();
  queue.wait();
}

std::unique_ptr<EngineTrial> make_engine_trial(Context& context, const TrialSubject& subject) {
  return std::make_unique<CudaTrial>(context, subject);
}

}  // namespace trainyard::cudnn
