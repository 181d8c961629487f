// Plans of the stand-in on a stand-in GPU: host tensors in, host tensors out.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "compute/conv/cudnn/conv_graph.h"
#include "compute/conv/cudnn/engines.h"
#include "compute/conv/cudnn/library.h"
#include "runtime/test_streams.h"

namespace standin_tests {

/// The stand-in for cuDNN.
[[nodiscard]] const trainyard::cudnn::Library& stand_in();

/// The contents of a graph's tensors, in their layouts.
struct HostTensors {
  std::vector<std::byte> input, weight, output, bias;
};
/// With the right sizes, filled with ones of the graph's type.
[[nodiscard]] HostTensors tensors_of(const trainyard::cudnn::ConvGraph& graph);

/// A graph's tensors on the current device, with a stream and a handle there.
class Bench {
 public:
  /// `workspace_bytes` of workspace; none if 0.
  Bench(const HostTensors& tensors, std::size_t workspace_bytes);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  [[nodiscard]] trainyard::cudnn::GraphAddresses& addresses() { return addresses_; }
  [[nodiscard]] const standin::test::TestStream& stream() const { return stream_; }
  [[nodiscard]] cudnnStatus_t execute(const trainyard::cudnn::EnginePlan& plan) const;
  /// The device's contents after all work on the stream.
  [[nodiscard]] HostTensors tensors() const;

 private:
  HostTensors sizes_;
  std::vector<std::unique_ptr<standin::test::TestMemory>> memory_;
  trainyard::cudnn::GraphAddresses addresses_;
  standin::test::TestStream stream_;
  cudnnHandle_t handle_ = nullptr;
};

/// The device 0 in the description that cuDNN's heuristics require.
[[nodiscard]] trainyard::cudnn::DescriptorPtr device_properties();
/// The plan of an engine by its index, with its default settings.
[[nodiscard]] trainyard::cudnn::EnginePlan plan_of(const trainyard::cudnn::ConvGraph& graph,
                                                   std::int64_t engine,
                                                   std::vector<trainyard::cudnn::Knob> knobs = {});
/// One run.
[[nodiscard]] HostTensors run_plan(const trainyard::cudnn::EnginePlan& plan,
                                   const HostTensors& tensors);

}  // namespace standin_tests
