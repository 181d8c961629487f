// Backend descriptors of cuDNN as plain data, from which tests make valid and invalid ones.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/conv/cudnn/library.h"
#include "convolution_names.h"

namespace standin_tests {

using Raw = cudnnBackendDescriptor_t;
using Integers = std::vector<std::int64_t>;

/// Makes descriptors through the functions of one library, and stores the first failure.
class Maker {
 public:
  explicit Maker(const trainyard::cudnn::Functions& call) : call_(call) {}
  ~Maker();
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;

  [[nodiscard]] const trainyard::cudnn::Functions& call() const { return call_; }
  /// Of the first call that failed, and its text; after it nothing more is done.
  [[nodiscard]] cudnnStatus_t status() const { return status_; }
  [[nodiscard]] const std::string& where() const { return where_; }

  Raw make(cudnnBackendDescriptorType_t type);
  void set(Raw to, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           std::int64_t count, const void* values);
  template <class T>
  void set(Raw to, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           const std::optional<T>& value) {
    if (value) set(to, name, type, 1, &*value);
  }
  /// Does nothing if the list is empty.
  void set(Raw to, cudnnBackendAttributeName_t name, const Integers& values);
  /// Does nothing if it is null.
  void set(Raw to, cudnnBackendAttributeName_t name, Raw value);
  Raw finalize(Raw descriptor);
  void note(cudnnStatus_t status, const std::string& doing);

 private:
  const trainyard::cudnn::Functions& call_;
  cudnnStatus_t status_ = CUDNN_STATUS_SUCCESS;
  std::string where_;
  std::vector<Raw> made_;
};

struct TensorParts {
  std::optional<std::int64_t> id = 1, alignment = 16;
  std::optional<cudnnDataType_t> type = CUDNN_DATA_FLOAT;
  Integers extents, strides;
  std::optional<bool> is_virtual = {};
  bool finalized = true;

  /// n, c, h, w with the channels last.
  static TensorParts map(std::int64_t id, Integers extents);
};
Raw make_tensor(Maker& maker, const TensorParts& parts);

struct ConvolutionParts {
  std::optional<std::int64_t> axes = 2;
  std::optional<cudnnDataType_t> type = CUDNN_DATA_FLOAT;
  std::optional<cudnnConvolutionMode_t> mode = CUDNN_CROSS_CORRELATION;
  Integers before{1, 1}, after{1, 1}, dilation{1, 1}, stride{1, 1};
  bool finalized = true;
};
Raw make_convolution(Maker& maker, const ConvolutionParts& parts);

/// One of the three convolutions: input [2, 8, 6, 6], weight [4, 8, 3, 3], output [2, 4, 6, 6].
struct OperationParts {
  standin::cudnn::Computes computes = standin::cudnn::Computes::output;
  std::optional<ConvolutionParts> convolution = ConvolutionParts{};
  std::optional<TensorParts> input = TensorParts::map(1, {2, 8, 6, 6});
  std::optional<TensorParts> weight = TensorParts::map(2, {4, 8, 3, 3});
  std::optional<TensorParts> output = TensorParts::map(3, {2, 4, 6, 6});
  std::optional<float> alpha = 1.0f, beta = 0.0f;
  bool finalized = true;
};
Raw make_operation(Maker& maker, const OperationParts& parts);

/// product + bias = output; the product is tensor 5 and the bias tensor 4.
struct BiasParts {
  std::optional<cudnnPointwiseMode_t> mode = CUDNN_POINTWISE_ADD;
  std::optional<cudnnDataType_t> precision = CUDNN_DATA_FLOAT;
  bool described = true;
  std::optional<TensorParts> product;
  std::optional<TensorParts> bias = TensorParts::map(4, {1, 4, 1, 1});
  std::optional<TensorParts> output = TensorParts::map(3, {2, 4, 6, 6});

  BiasParts();
};
Raw make_bias(Maker& maker, const BiasParts& parts);

/// The graph of one convolution, optionally followed by a bias.
struct GraphParts {
  OperationParts operation;
  std::optional<BiasParts> bias = {};

  static GraphParts with_bias();
};
Raw make_graph(Maker& maker, const GraphParts& parts);

/// An H200 that need not be present.
Raw make_device(Maker& maker);

}  // namespace standin_tests
