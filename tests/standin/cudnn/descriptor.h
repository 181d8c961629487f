// Backend descriptors as maps from attributes to values, the attributes of each, and how they are
// set and read.
#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "convolution.h"

namespace standin::cudnn {

struct Engine;
struct Descriptor;
using DescriptorPtr = std::shared_ptr<Descriptor>;

/// An attribute of one type of descriptor.
struct Attribute {
  cudnnBackendDescriptorType_t of;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  enum class Holds { one, list } holds;
  enum class Set { by_caller, by_library } set = Set::by_caller;
  /// The status of cuDNN 9.19 for a value of another type.
  cudnnStatus_t wrong_type = CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
};
/// Null if descriptors of the type lack it.
[[nodiscard]] const Attribute* find_attribute(cudnnBackendDescriptorType_t of,
                                              cudnnBackendAttributeName_t name);
/// Whether descriptors of this type are supported here.
[[nodiscard]] bool is_known(cudnnBackendDescriptorType_t type);

/// Values of one attribute: numbers as bytes, or descriptors.
struct Values {
  std::int64_t count = 0;
  std::vector<std::byte> bytes = {};
  std::vector<DescriptorPtr> descriptors = {};
};

/// Descriptors refer to one another and live as long as they are referred to.
struct Descriptor {
  explicit Descriptor(cudnnBackendDescriptorType_t made_as) : type(made_as) {}

  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::map<cudnnBackendAttributeName_t, Values> values = {};
  /// Computed from the values by finalize.
  std::optional<Convolution> convolution = {};  // for a graph or engine
  const Engine* engine = nullptr;               // for an engine
  bool serves = false;                          // for an engine: it supports its graph

  [[nodiscard]] bool has(cudnnBackendAttributeName_t name) const { return values.contains(name); }
  [[nodiscard]] std::vector<std::byte> bytes_of(cudnnBackendAttributeName_t name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::vector<std::byte>{} : found->second.bytes;
  }
  template <class T>
  [[nodiscard]] std::vector<T> list(cudnnBackendAttributeName_t name) const {
    const auto found = values.find(name);
    if (found == values.end()) return {};
    std::vector<T> out(static_cast<std::size_t>(found->second.count));
    const std::byte* from = found->second.bytes.data();
    for (T& value : out) {
      std::memcpy(&value, from, sizeof value);
      from += sizeof value;
    }
    return out;
  }
  template <class T>
  [[nodiscard]] T one(cudnnBackendAttributeName_t name, T otherwise) const {
    const auto found = list<T>(name);
    return found.empty() ? otherwise : found.front();
  }
  template <class T>
  void put(cudnnBackendAttributeName_t name, const std::vector<T>& list) {
    const auto* const from = reinterpret_cast<const std::byte*>(list.data());
    values[name] = {.count = static_cast<std::int64_t>(list.size()),
                    .bytes = std::vector(from, from + list.size() * sizeof(T))};
  }
  void put(cudnnBackendAttributeName_t name, std::vector<DescriptorPtr> list);
  /// Null if it is not set.
  [[nodiscard]] DescriptorPtr child(cudnnBackendAttributeName_t name) const;
  [[nodiscard]] std::vector<DescriptorPtr> children(cudnnBackendAttributeName_t name) const;
};

/// The object behind a cudnnBackendDescriptor_t.
struct Holder {
  DescriptorPtr held;
};

[[nodiscard]] cudnnStatus_t set_attribute(Descriptor& to, cudnnBackendAttributeName_t name,
                                          cudnnBackendAttributeType_t type, std::int64_t count,
                                          const void* values);
[[nodiscard]] cudnnStatus_t get_attribute(const Descriptor& from, cudnnBackendAttributeName_t name,
                                          cudnnBackendAttributeType_t type, std::int64_t most,
                                          std::int64_t* count, void* values);

}  // namespace standin::cudnn
