// Engines chosen by timing on a stand-in GPU: failing engines are left out, the choice is saved,
// and a GPU that fails meanwhile is not an engine's fault.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "../../base/error_of.h"
#include "base/error.h"
#include "compute/conv/cudnn/engines.h"
#include "compute/devices/cuda/cuda_executors.h"
#include "device/cuda/cuda_device.h"
#include "ops/convolution.h"
#include "plan/target.h"
#include "runtime/control.h"

using namespace trainyard;

namespace {

/// What was asked of the executors, and their messages.
struct Heard {
  int ticks = 0;  // engines made or timed
  std::vector<std::string> warnings = {};
};

struct Gpu {
  explicit Gpu(int number = 0) : ordinal(number) { REQUIRE(cudaSetDevice(number) == cudaSuccess); }

  [[nodiscard]] std::unique_ptr<ExecutorFactory> executors(CudaExecutorSettings settings = {}) {
    settings.device = device.get();
    settings.queue = queue.get();
    settings.ordinal = ordinal;
    settings.gpu = "under test";
    settings.cudnn = TY_CUDNN_LIBRARY;
    settings.cublaslt = TY_CUBLASLT_LIBRARY;
    settings.tick = [this] { ++heard.ticks; };
    settings.warn = [this](const std::string& text) { heard.warnings.push_back(text); };
    return make_cuda_executors(std::move(settings));
  }

  int ordinal;
  std::unique_ptr<Device> device = cuda::make_cuda_device(ordinal);
  std::unique_ptr<Queue> queue = device->make_queue();
  Heard heard;
};

/// A convolution 3 by 3 of 8 channels to 8, as in a GPU's plan.
struct Conv {
  Conv(DType type, bool bias) {
    ConvAttributes attributes{.filters = 8, .kernel = {3, 3}, .bias = bias};
    attributes.pad.kind = Padding::Kind::same_upper;
    op = std::make_unique<ConvOp>(attributes);
    const Shape shape{3, 8, 5, 5};
    const Layout layout = channels_last_layout(shape, 8);
    step = {.op = op.get(),
            .storage = type,
            .signature = op->infer(std::span(&shape, 1)),
            .inputs = {layout},
            .outputs = {layout}};
  }
  std::unique_ptr<ConvOp> op;
  StepDescription step;
};

/// The engine of the only convolution.
cudnn::EngineChoice chosen(const ExecutorFactory& executors) {
  const Json all = Json::parse(executors.choices());
  REQUIRE(all.size() == 1);
  return cudnn::choice_of(all.begin().value(), "choices");
}

/// Whole numbers on the GPU, so that sums have no rounding.
std::unique_ptr<DeviceBuffer> whole_numbers(Gpu& gpu, std::size_t count, std::size_t period) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % period) - 2;
  auto buffer = gpu.device->allocate(count * sizeof(float));
  gpu.queue->copy_from_host(buffer->data(), values.data(), buffer->bytes());
  gpu.queue->wait();
  return buffer;
}

/// A gradient to which a step has added its own, and the engine that did.
struct GradientSum {
  cudnn::EngineChoice engine;
  std::vector<float> sum;
};

/// The engine is one that is left with these failures.
GradientSum gradient_sum(const Conv& conv, const std::string& failures) {
  Gpu gpu;
  const auto executors = gpu.executors();
  standin::request_failures(failures);
  const ExecutorPtr step = executors->make(conv.step);
  standin::request_failures("");
  const Layout& map = conv.step.inputs[0];
  GradientSum added{chosen(*executors),
                    std::vector<float>(static_cast<std::size_t>(span_elements(map)))};
  const auto gradient = whole_numbers(gpu, added.sum.size(), 5);
  const auto sum = whole_numbers(gpu, added.sum.size(), 7);
  const auto weight = whole_numbers(gpu, 8 * 8 * 3 * 3, 4);
  const auto workspace = gpu.device->allocate(step->workspace_bytes());
  StepTensors tensors;
  tensors.parameters = {{weight->data(), DType::f32, plain_layout({8, 8, 3, 3})}};
  tensors.output_gradients = {{gradient->data(), DType::f32, map}};
  tensors.input_gradients = {{sum->data(), DType::f32, map}};
  tensors.workspace = workspace->data();
  step->bind(tensors);
  step->run();
  gpu.queue->copy_to_host(added.sum.data(), sum->data(), sum->bytes());
  gpu.queue->wait();
  return added;
}

/// An empty folder, removed with the object.
struct Folder {
  Folder() { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path = std::filesystem::path(TY_BINARY_DIR) / "standin_engines";
};

}  // namespace

TEST_CASE("engines that fail in capture, at once or without a plan are never chosen") {
  Gpu gpu;
  for (const bool bias : {false, true}) {
    for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
      CAPTURE(name_of(type));
      const Conv conv(type, bias);
      const auto executors = gpu.executors();
      static_cast<void>(executors->make(conv.step));
      std::set<std::int64_t> sound{0, 1};
      if (type != DType::f32) sound.insert(3);
      if (bias) sound.insert(8);
      CAPTURE(executors->choices());
      CHECK(sound.contains(chosen(*executors).engine));
      CHECK(cudaGetLastError() == cudaSuccess);
    }
  }
  CHECK(gpu.heard.warnings.empty());
}

TEST_CASE("an engine that runs, but not in a capture, is not chosen even if it is the only one") {
  const Conv conv(DType::f32, false);
  Gpu gpu;
  const auto executors = gpu.executors();
  standin::request_failures("conv plain=cudaErrorUnknown;conv unfolded=cudaErrorUnknown");
  const std::string message =
      testing::error_of(ErrorKind::device, [&] { static_cast<void>(executors->make(conv.step)); });
  standin::request_failures("");
  CHECK(message.find("no cuDNN engine is left") != std::string::npos);
  CHECK(message.find("CUDNN_STATUS_EXECUTION_FAILED_CUDART (cudaStreamSynchronize") !=
        std::string::npos);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("an engine whose results differ from run to run is not chosen, whatever its notes say") {
  Conv conv(DType::f32, false);
  conv.step.pass = Pass::backward_parameters;
  Gpu gpu;
  standin::request_failures("cudnnTurns=conv plain;conv unfolded=cudaErrorUnknown");
  const auto executors = gpu.executors();
  const std::string message =
      testing::error_of(ErrorKind::device, [&] { static_cast<void>(executors->make(conv.step)); });
  standin::request_failures("cudnnTurns=conv plain");
  static_cast<void>(executors->make(conv.step));
  standin::request_failures("");
  CHECK(message.find("its results differ from run to run") != std::string::npos);
  CHECK(chosen(*executors).engine == 1);

  standin::request_failures("cudnnTurns=conv plain;conv unfolded=cudaErrorUnknown");
  const auto undemanding = gpu.executors({.deterministic = false});
  CHECK_NOTHROW(static_cast<void>(undemanding->make(conv.step)));
  standin::request_failures("");
}

TEST_CASE("an engine that adds the bias is used if only it runs, in each type") {
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    const Conv conv(type, true);
    Gpu gpu;
    const auto executors = gpu.executors();
    standin::request_failures(
        "conv plain=cudaErrorUnknown;conv unfolded=cudaErrorUnknown;"
        "conv on tensor cores=cudaErrorUnknown");
    static_cast<void>(executors->make(conv.step));
    standin::request_failures("");
    CHECK(chosen(*executors) == cudnn::EngineChoice{.engine = 8, .adds_bias = true});
  }
}

TEST_CASE("a result that no engine adds has a place of its own beside the engine's workspace") {
  Conv conv(DType::f32, false);
  conv.step.pass = Pass::backward_data;
  conv.step.form.adds_gradient = true;
  const GradientSum at_once = gradient_sum(conv, "");
  const GradientSum apart = gradient_sum(conv, "cudnnAdding=none;conv plain=cudaErrorUnknown");
  CHECK(at_once.engine.adds_result);
  CHECK_FALSE(apart.engine.adds_result);
  CHECK(apart.engine.engine == 1);  // it has a workspace
  CHECK(apart.sum == at_once.sum);
  CHECK(std::ranges::count(apart.sum, 0.0F) < 100);  // of 600
}

TEST_CASE("an engine is offered the workspace that the step's own needs leave") {
  for (const bool bias : {false, true}) {  // whose gradient has partial sums there
    Conv conv(DType::f32, bias);
    conv.step.pass = Pass::backward_parameters;
    Gpu gpu;
    const auto executors = gpu.executors({.workspace_cap = 29 * 256});  // 7200 are needed
    const auto make = [&] { static_cast<void>(executors->make(conv.step)); };
    standin::request_failures("conv plain=cudaErrorUnknown");
    const std::string message = bias ? testing::error_of(ErrorKind::device, make) : (make(), "");
    standin::request_failures("");
    CHECK((message.find("needs more workspace than the plan has") != std::string::npos) == bias);
  }
}

TEST_CASE("timings are saved in the run's record and in the machine's folder") {
  const Folder folder;
  const Conv conv(DType::f32, false);
  Gpu first;
  const auto timed = first.executors({.engine_folder = folder.path});
  static_cast<void>(timed->make(conv.step));
  CHECK(first.heard.ticks > 5);
  Gpu resumed;
  const auto by_record = resumed.executors({.engines = timed->choices()});
  static_cast<void>(by_record->make(conv.step));
  CHECK(resumed.heard.ticks == 1);
  CHECK(by_record->choices() == timed->choices());
  Gpu other;
  const auto by_folder = other.executors({.engine_folder = folder.path});
  static_cast<void>(by_folder->make(conv.step));
  CHECK(other.heard.ticks == 1);
  CHECK(by_folder->choices() == timed->choices());
}

TEST_CASE("a record of an engine that cuDNN no longer has is replaced, with a warning") {
  const Conv conv(DType::f32, false);
  Gpu gpu;
  const auto timed = gpu.executors();
  static_cast<void>(timed->make(conv.step));
  Json record = Json::parse(timed->choices());
  record.begin().value()["engine"] = 99;
  const auto again = gpu.executors({.engines = record.dump()});
  static_cast<void>(again->make(conv.step));
  CHECK(chosen(*again).engine != 99);
  REQUIRE(gpu.heard.warnings.size() == 1);
  CHECK(gpu.heard.warnings[0].find("CUDNN_STATUS_NOT_SUPPORTED") != std::string::npos);
}

TEST_CASE("if every engine fails, the convolution and the reasons are named") {
  const Conv conv(DType::f32, false);
  Gpu gpu;
  const auto executors = gpu.executors();
  standin::request_failures("cudnnBackendExecute=CUDNN_STATUS_INTERNAL_ERROR");
  const std::string message =
      testing::error_of(ErrorKind::device, [&] { static_cast<void>(executors->make(conv.step)); });
  standin::request_failures("");
  CHECK(message.find("no cuDNN engine is left for conv output") != std::string::npos);
  CHECK(message.find("CUDNN_STATUS_INTERNAL_ERROR") != std::string::npos);
}

TEST_CASE("a GPU that fails while engines are tried ends with its own error") {
  const Conv conv(DType::f32, false);
  Gpu gpu(1);
  const auto executors = gpu.executors();
  standin::request_failures("execute@1:9=cudaErrorECCUncorrectable");
  const std::string message =
      testing::error_of(ErrorKind::device, [&] { static_cast<void>(executors->make(conv.step)); });
  standin::request_failures("");
  CHECK(message.find("cudaErrorECCUncorrectable") != std::string::npos);
  CHECK(message.find("no engine") == std::string::npos);
}
