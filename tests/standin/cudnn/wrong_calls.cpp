#include <array>

#include "wrong_parts.h"

namespace standin_tests {
namespace {

constexpr cudnnStatus_t kWrongType = CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
constexpr cudnnStatus_t kNull = CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
constexpr std::array<std::int64_t, 4> kFour{2, 8, 6, 6};

TensorParts map() { return TensorParts::map(1, {2, 8, 6, 6}); }

using Function = std::function<void(Maker&)>;

/// Sets an attribute of a new descriptor to numbers.
Function sets(cudnnBackendDescriptorType_t of, cudnnBackendAttributeName_t name,
              cudnnBackendAttributeType_t type, std::int64_t count,
              const void* values = kFour.data()) {
  return [=](Maker& maker) { maker.set(maker.make(of), name, type, count, values); };
}
Function sets_tensor(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                     std::int64_t count, const void* values = kFour.data()) {
  return sets(CUDNN_BACKEND_TENSOR_DESCRIPTOR, name, type, count, values);
}
Function sets_convolution(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) {
  return sets(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, name, type, 1);
}

/// Reads an attribute of a tensor.
Function gets(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t most,
              bool finalized = true) {
  return [=](Maker& maker) {
    TensorParts parts = map();
    parts.finalized = finalized;
    std::int64_t count = 0;
    std::array<std::int64_t, 16> values{};
    maker.note(maker.call().get_attribute(make_tensor(maker, parts), name, type, most, &count,
                                          values.data()),
               "get");
  };
}

std::vector<WrongParts> of_objects() {
  return {
      {"create: type 63", CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
       [](Maker& maker) { maker.make(static_cast<cudnnBackendDescriptorType_t>(63)); }},
      {"destroy: null", kNull,
       [](Maker& maker) { maker.note(maker.call().destroy_descriptor(nullptr), "destroy"); }},
      {"finalize: null", kNull, [](Maker& maker) { maker.finalize(nullptr); }},
      {"finalize: twice", kBad, [](Maker& maker) { maker.finalize(make_tensor(maker, map())); }},
      {"finalize: a graph of nothing", kBad,
       [](Maker& maker) { maker.finalize(maker.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)); }},
      {"set: null", kNull,
       [](Maker& maker) {
         maker.set(nullptr, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, kFour.data());
       }},
      {"set: after finalize", kBad,
       [](Maker& maker) {
         maker.set(make_tensor(maker, map()), CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1,
                   kFour.data());
       }},
      {"set: input is null", kBad,
       [](Maker& maker) {
         const Raw none = nullptr;
         maker.set(maker.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR),
                   CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                   &none);
       }},
      {"handle: nowhere", kBad,
       [](Maker& maker) { maker.note(maker.call().create(nullptr), "create"); }},
      {"handle: destroy null", kSuccess,
       [](Maker& maker) { maker.note(maker.call().destroy(nullptr), "destroy"); }},
      {"handle: stream of null", kBad,
       [](Maker& maker) { maker.note(maker.call().set_stream(nullptr, nullptr), "stream"); }},
      {"execute: nothing", kBad,
       [](Maker& maker) { maker.note(maker.call().execute(nullptr, nullptr, nullptr), "run"); }},
  };
}

std::vector<WrongParts> of_setting() {
  return {
      {"set: id", kSuccess, sets_tensor(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1)},
      {"set: attribute of a convolution", kBad,
       sets_tensor(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1)},
      {"set: attribute 4095", kBad,
       sets_tensor(static_cast<cudnnBackendAttributeName_t>(4095), CUDNN_TYPE_INT64, 1)},
      {"set: id as int32", kWrongType,
       sets_tensor(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT32, 1)},
      {"set: extents as float", kWrongType,
       sets_tensor(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_FLOAT, 4)},
      {"set: type as int64", kWrongType,
       sets_tensor(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_INT64, 1)},
      {"set: id from nowhere", kBad,
       sets_tensor(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, nullptr)},
      {"set: no id", kBad, sets_tensor(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 0)},
      {"set: two ids", kBad, sets_tensor(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 2)},
      {"set: -1 ids", kBad, sets_tensor(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, -1)},
      {"set: two types", kBad, sets_tensor(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 2)},
      {"set: two alignments", kBad,
       sets_tensor(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 2)},
      {"set: no extents", kBad, sets_tensor(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 0)},
      {"set: -1 extents", kBad, sets_tensor(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, -1)},
      {"set: extents from nowhere", kBad,
       sets_tensor(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, nullptr)},
      {"set: type of sums as int64", kWrongType,
       sets_convolution(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_INT64)},
      {"set: axes as int32", kBad,
       sets_convolution(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT32)},
      {"set: mode as int64", kWrongType,
       sets_convolution(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_INT64)},
      {"set: mode of a sum as int64", kBad,
       sets(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_INT64, 1)},
      {"set: factor of an output as int64", kBad,
       sets(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_INT64, 1)},
      {"set: factor of an input gradient as int64", CUDNN_STATUS_NOT_SUPPORTED,
       sets(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_INT64, 1)},
      {"set: device as int64", kWrongType,
       sets(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT64,
            1)},
  };
}

std::vector<WrongParts> of_getting() {
  return {
      {"get: extents", kSuccess, gets(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4)},
      {"get: open", CUDNN_STATUS_NOT_INITIALIZED,
       gets(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, false)},
      {"get: as float", kWrongType, gets(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_FLOAT, 4)},
      {"get: attribute of a convolution", kBad,
       gets(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 4)},
      {"get: room for two", kSuccess, gets(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 2)},
      {"get: room for nine", kSuccess, gets(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 9)},
      {"get: id, room for none", kBad, gets(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 0)},
      {"get: id, room for two", kBad, gets(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 2)},
  };
}

}  // namespace

std::vector<WrongParts> wrong_calls() {
  std::vector<WrongParts> all = of_objects();
  for (const auto& list : {of_setting(), of_getting()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace standin_tests
