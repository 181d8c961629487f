#include "plan_run.h"

#include <cstdlib>
#include <cstring>

namespace standin_tests {

using namespace trainyard;
using namespace trainyard::cudnn;

namespace {

// Before any GPU is queried.
[[maybe_unused]] const int kGpus = setenv("STANDIN_GPUS", "3", 1);
[[maybe_unused]] const int kVisible = unsetenv("CUDA_VISIBLE_DEVICES");

/// The batch, or the filters, are outermost.
std::vector<std::byte> ones(const GraphTensor& tensor) {
  // Including the padding after the last pixel.
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.extents[0] * tensor.strides[0]) *
                               size_of(tensor.type));
  const float f32 = 1;
  const auto f16 = Float16(1.0f);
  const auto bf16 = BFloat16(1.0f);
  const void* const one = tensor.type == DType::f32   ? static_cast<const void*>(&f32)
                          : tensor.type == DType::f16 ? static_cast<const void*>(&f16)
                                                      : static_cast<const void*>(&bf16);
  for (std::size_t at = 0; at < bytes.size(); at += size_of(tensor.type)) {
    std::memcpy(bytes.data() + at, one, size_of(tensor.type));
  }
  return bytes;
}

}  // namespace

const Library& stand_in() {
  static const Library opened(TY_STANDIN_CUDNN);
  return opened;
}

HostTensors tensors_of(const ConvGraph& graph) {
  const GraphTensor bias{
      graph.output.type, {1, graph.output.extents[1], 1, 1}, {graph.output.extents[1], 1, 1, 1}};
  return {ones(graph.input), ones(graph.weight), ones(graph.output), ones(bias)};
}

Bench::Bench(const HostTensors& tensors, std::size_t workspace_bytes) : sizes_(tensors) {
  const auto place = [this](const std::vector<std::byte>& from) {
    memory_.push_back(std::make_unique<standin::test::TestMemory>(from.size()));
    void* const to = memory_.back()->data;
    REQUIRE(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice) == cudaSuccess);
    return to;
  };
  addresses_ = {.input = place(tensors.input),
                .weight = place(tensors.weight),
                .output = place(tensors.output),
                .bias = place(tensors.bias)};
  if (workspace_bytes > 0) {
    memory_.push_back(std::make_unique<standin::test::TestMemory>(workspace_bytes));
    addresses_.workspace = memory_.back()->data;
  }
  REQUIRE(stand_in().call().create(&handle_) == CUDNN_STATUS_SUCCESS);
  REQUIRE(stand_in().call().set_stream(handle_, stream_.handle) == CUDNN_STATUS_SUCCESS);
}

Bench::~Bench() { stand_in().call().destroy(handle_); }

cudnnStatus_t Bench::execute(const EnginePlan& plan) const {
  const DescriptorPtr pack = make_variant_pack(stand_in(), addresses_);
  return stand_in().call().execute(handle_, plan.plan->raw(), pack->raw());
}

HostTensors Bench::tensors() const {
  HostTensors held = sizes_;
  REQUIRE(stream_.wait() == cudaSuccess);
  const auto fetch = [](std::vector<std::byte>& to, const void* from) {
    REQUIRE(cudaMemcpy(to.data(), from, to.size(), cudaMemcpyDeviceToHost) == cudaSuccess);
  };
  fetch(held.input, addresses_.input);
  fetch(held.weight, addresses_.weight);
  fetch(held.output, addresses_.output);
  return held;
}

DescriptorPtr device_properties() { return make_device_properties(stand_in(), 0); }

EnginePlan plan_of(const ConvGraph& graph, std::int64_t engine, std::vector<Knob> knobs) {
  return remake_plan(make_operation_graph(stand_in(), graph), device_properties(),
                     {.engine = engine, .knobs = std::move(knobs), .adds_bias = graph.adds_bias});
}

HostTensors run_plan(const EnginePlan& plan, const HostTensors& tensors) {
  const Bench bench(tensors, static_cast<std::size_t>(plan.workspace_bytes));
  REQUIRE(bench.execute(plan) == CUDNN_STATUS_SUCCESS);
  return bench.tensors();
}

}  // namespace standin_tests
