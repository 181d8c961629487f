#include "parts.h"

#include <algorithm>
#include <array>

#include "../../exec/device_profiles.h"

namespace standin_tests {

Maker::~Maker() {
  for (const Raw raw : made_) call_.destroy_descriptor(raw);
}

void Maker::note(cudnnStatus_t status, const std::string& doing) {
  if (status_ != CUDNN_STATUS_SUCCESS || status == CUDNN_STATUS_SUCCESS) return;
  status_ = status;
  std::array<char, 2048> text{};
  call_.last_error_string(text.data(), text.size());
  where_ = doing + ": " + call_.error_string(status) + ": " + text.data();
}

Raw Maker::make(cudnnBackendDescriptorType_t type) {
  if (status_ != CUDNN_STATUS_SUCCESS) return nullptr;
  Raw raw = nullptr;
  note(call_.create_descriptor(type, &raw), "create");
  if (raw != nullptr) made_.push_back(raw);
  return raw;
}

void Maker::set(Raw to, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                std::int64_t count, const void* values) {
  if (status_ != CUDNN_STATUS_SUCCESS) return;
  note(call_.set_attribute(to, name, type, count, values), "set " + std::to_string(name));
}

void Maker::set(Raw to, cudnnBackendAttributeName_t name, const Integers& values) {
  if (values.empty()) return;
  set(to, name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}

void Maker::set(Raw to, cudnnBackendAttributeName_t name, Raw value) {
  if (value != nullptr) set(to, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

Raw Maker::finalize(Raw descriptor) {
  if (status_ == CUDNN_STATUS_SUCCESS) note(call_.finalize(descriptor), "finalize");
  return descriptor;
}

TensorParts TensorParts::map(std::int64_t id, Integers extents) {
  TensorParts parts{.id = id, .extents = std::move(extents)};
  const Integers& n = parts.extents;
  parts.strides = {n[1] * n[2] * n[3], 1, n[3] * n[1], n[1]};
  return parts;
}

Raw make_tensor(Maker& maker, const TensorParts& parts) {
  const Raw raw = maker.make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, parts.id);
  maker.set(raw, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, parts.type);
  maker.set(raw, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, parts.alignment);
  maker.set(raw, CUDNN_ATTR_TENSOR_DIMENSIONS, parts.extents);
  maker.set(raw, CUDNN_ATTR_TENSOR_STRIDES, parts.strides);
  maker.set(raw, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, parts.is_virtual);
  return parts.finalized ? maker.finalize(raw) : raw;
}

Raw make_convolution(Maker& maker, const ConvolutionParts& parts) {
  const Raw raw = maker.make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, parts.axes);
  maker.set(raw, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, parts.type);
  maker.set(raw, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, parts.mode);
  maker.set(raw, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, parts.before);
  maker.set(raw, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, parts.after);
  maker.set(raw, CUDNN_ATTR_CONVOLUTION_DILATIONS, parts.dilation);
  maker.set(raw, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, parts.stride);
  return parts.finalized ? maker.finalize(raw) : raw;
}

namespace {

Raw tensor_or_null(Maker& maker, const std::optional<TensorParts>& parts) {
  return parts ? make_tensor(maker, *parts) : nullptr;
}

}  // namespace

Raw make_operation(Maker& maker, const OperationParts& parts) {
  const standin::cudnn::ConvolutionNames names = *std::ranges::find(
      standin::cudnn::kConvolutions, parts.computes, &standin::cudnn::ConvolutionNames::computes);
  const Raw convolution = parts.convolution ? make_convolution(maker, *parts.convolution) : nullptr;
  const Raw input = tensor_or_null(maker, parts.input);
  const Raw weight = tensor_or_null(maker, parts.weight);
  const Raw output = tensor_or_null(maker, parts.output);
  const Raw raw = maker.make(names.type);
  maker.set(raw, names.convolution, convolution);
  maker.set(raw, names.input, input);
  maker.set(raw, names.weight, weight);
  maker.set(raw, names.output, output);
  maker.set(raw, names.alpha, CUDNN_TYPE_FLOAT, parts.alpha);
  maker.set(raw, names.beta, CUDNN_TYPE_FLOAT, parts.beta);
  return parts.finalized ? maker.finalize(raw) : raw;
}

BiasParts::BiasParts() : product(TensorParts::map(5, {2, 4, 6, 6})) { product->is_virtual = true; }

Raw make_bias(Maker& maker, const BiasParts& parts) {
  Raw sum = nullptr;
  if (parts.described) {
    sum = maker.make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    maker.set(sum, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, parts.mode);
    maker.set(sum, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, parts.precision);
    maker.finalize(sum);
  }
  const Raw product = tensor_or_null(maker, parts.product);
  const Raw bias = tensor_or_null(maker, parts.bias);
  const Raw output = tensor_or_null(maker, parts.output);
  const Raw raw = maker.make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, sum);
  maker.set(raw, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, product);
  maker.set(raw, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, bias);
  maker.set(raw, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, output);
  return maker.finalize(raw);
}

GraphParts GraphParts::with_bias() {
  GraphParts parts{.bias = BiasParts{}};
  parts.operation.output = parts.bias->product;
  return parts;
}

Raw make_graph(Maker& maker, const GraphParts& parts) {
  std::vector<Raw> operations{make_operation(maker, parts.operation)};
  if (parts.bias) operations.push_back(make_bias(maker, *parts.bias));
  const Raw raw = maker.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            static_cast<std::int64_t>(operations.size()), operations.data());
  return maker.finalize(raw);
}

Raw make_device(Maker& maker) {
  const std::string json = trainyard::testing::json_of(trainyard::testing::kDeviceProfiles[0]);
  const Raw raw = maker.make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
            static_cast<std::int64_t>(json.size()) + 1, json.c_str());
  return maker.finalize(raw);
}

}  // namespace standin_tests
