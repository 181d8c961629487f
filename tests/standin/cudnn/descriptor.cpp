#include "descriptor.h"

#include <algorithm>

#include "status.h"

namespace standin::cudnn {
namespace {

std::size_t value_size(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
      return sizeof(std::int64_t);
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return sizeof(void*);
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    default:
      return sizeof(std::int32_t);  // enumerations, float, int32
  }
}

/// Whether an attribute that holds descriptors accepts this type.
bool takes(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) {
  switch (name) {
    case CUDNN_ATTR_OPERATIONGRAPH_OPS:
      return type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR ||
             std::ranges::count(kConvolutions, type, &ConvolutionNames::type) > 0;
    case CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR:
      return type == CUDNN_BACKEND_POINTWISE_DESCRIPTOR;
    case CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH:
    case CUDNN_ATTR_ENGINE_OPERATION_GRAPH:
      return type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
    case CUDNN_ATTR_ENGINEHEUR_DEVICEPROP:
    case CUDNN_ATTR_ENGINE_DEVICEPROP:
    case CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP:
      return type == CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR;
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
    case CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG:
      return type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      return type == CUDNN_BACKEND_ENGINE_DESCRIPTOR;
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
      return type == CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR;
    default:
      break;
  }
  if (std::ranges::count(kConvolutions, name, &ConvolutionNames::convolution) > 0) {
    return type == CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR;
  }
  return type == CUDNN_BACKEND_TENSOR_DESCRIPTOR;
}

/// For attributes where cuDNN requires finalized descriptors already when they are set; for others
/// the containing descriptor checks them when it is finalized.
cudnnStatus_t refusal_of_open(cudnnBackendAttributeName_t name) {
  if (name == CUDNN_ATTR_OPERATIONGRAPH_OPS) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  if (name == CUDNN_ATTR_ENGINECFG_KNOB_CHOICES) return CUDNN_STATUS_NOT_INITIALIZED;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_descriptors(Descriptor& to, cudnnBackendAttributeName_t name, std::int64_t count,
                              const void* values) {
  const auto* const raw = static_cast<const cudnnBackendDescriptor_t*>(values);
  std::vector<DescriptorPtr> list;
  for (std::int64_t i = 0; i < count; ++i) {
    if (raw[i] == nullptr) return refuse(CUDNN_STATUS_BAD_PARAM, "nullptr == ptr");
    const DescriptorPtr child = static_cast<Holder*>(raw[i])->held;
    // cuDNN 9.19 misreads some, and others end the program.
    if (!takes(name, child->type)) {
      return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor of another type is expected");
    }
    const cudnnStatus_t open = refusal_of_open(name);
    if (open != CUDNN_STATUS_SUCCESS && !child->finalized) {
      return refuse(open, "desc->isFinalized() == false");
    }
    list.push_back(child);
  }
  to.put(name, std::move(list));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t wrong_count(const Attribute& attribute, std::int64_t count) {
  if (attribute.holds == Attribute::Holds::one) {
    return count == 1 ? CUDNN_STATUS_SUCCESS : refuse(CUDNN_STATUS_BAD_PARAM, "1 != elemCount");
  }
  // A graph may be set to no operations, and is then refused when it is finalized.
  const std::int64_t least = attribute.name == CUDNN_ATTR_OPERATIONGRAPH_OPS ? 0 : 1;
  return count >= least ? CUDNN_STATUS_SUCCESS
                        : refuse(CUDNN_STATUS_BAD_PARAM, "setArray(elemCount, elemArray)");
}

}  // namespace

void Descriptor::put(cudnnBackendAttributeName_t name, std::vector<DescriptorPtr> list) {
  Values& to = values[name];
  to.count = static_cast<std::int64_t>(list.size());
  to.descriptors = std::move(list);
}

DescriptorPtr Descriptor::child(cudnnBackendAttributeName_t name) const {
  const auto found = values.find(name);
  if (found == values.end() || found->second.descriptors.empty()) return nullptr;
  return found->second.descriptors.front();
}

std::vector<DescriptorPtr> Descriptor::children(cudnnBackendAttributeName_t name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::vector<DescriptorPtr>{} : found->second.descriptors;
}

cudnnStatus_t set_attribute(Descriptor& to, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, std::int64_t count,
                            const void* values) {
  const Attribute* const attribute = find_attribute(to.type, name);
  if (to.finalized || values == nullptr || attribute == nullptr ||
      attribute->set == Attribute::Set::by_library) {
    return refuse(CUDNN_STATUS_BAD_PARAM, "ptrDesc->set(attributeName, ...)");
  }
  // Factors of a convolution may be doubles, which are never set here.
  if (type != attribute->type) return refuse(attribute->wrong_type, "attrType is wrong");
  const cudnnStatus_t wrong = wrong_count(*attribute, count);
  if (wrong != CUDNN_STATUS_SUCCESS) return wrong;
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) return set_descriptors(to, name, count, values);
  const auto* const from = static_cast<const std::byte*>(values);
  to.values[name] = {
      .count = count,
      .bytes = std::vector(from, from + static_cast<std::size_t>(count) * value_size(type))};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get_attribute(const Descriptor& from, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, std::int64_t most,
                            std::int64_t* count, void* values) {
  const Attribute* const attribute = find_attribute(from.type, name);
  if (!from.finalized) return refuse(CUDNN_STATUS_NOT_INITIALIZED, "status");
  if (attribute == nullptr) return refuse(CUDNN_STATUS_BAD_PARAM, "status");
  if (type != attribute->type) {
    return refuse(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "attrType is wrong");
  }
  if (attribute->holds == Attribute::Holds::one && most != 1) {
    return refuse(CUDNN_STATUS_BAD_PARAM, "1 != requestedElemCount");
  }
  const auto found = from.values.find(name);
  const Values none;
  const Values& held = found == from.values.end() ? none : found->second;
  const std::int64_t taken = values == nullptr ? held.count : std::min(most, held.count);
  if (count != nullptr) *count = taken;
  if (values == nullptr || taken <= 0) return CUDNN_STATUS_SUCCESS;
  if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    std::memcpy(values, held.bytes.data(), static_cast<std::size_t>(taken) * value_size(type));
    return CUDNN_STATUS_SUCCESS;
  }
  auto* const raw = static_cast<cudnnBackendDescriptor_t*>(values);
  for (std::int64_t i = 0; i < taken; ++i) {
    if (raw[i] == nullptr || !takes(name, static_cast<Holder*>(raw[i])->held->type)) {
      return refuse(CUDNN_STATUS_BAD_PARAM, "T_DESC::DESC_TYPE != ptr->getDescriptorType()");
    }
    static_cast<Holder*>(raw[i])->held = held.descriptors[static_cast<std::size_t>(i)];
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace standin::cudnn
