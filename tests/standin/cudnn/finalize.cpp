#include "status.h"

namespace standin::cudnn {
namespace {

cudnnStatus_t check(Descriptor& descriptor) {
  switch (descriptor.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return finalize_tensor(descriptor);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return finalize_convolution(descriptor);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return finalize_pointwise_operation(descriptor);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return finalize_graph(descriptor);
    case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
      return finalize_device(descriptor);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return finalize_heuristic(descriptor);
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      return finalize_engine(descriptor);
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
      return finalize_configuration(descriptor);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return finalize_plan(descriptor);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return finalize_pack(descriptor);
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
    case CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR:
      return CUDNN_STATUS_SUCCESS;  // engines and configurations check their contents
    default:
      return finalize_convolution_operation(descriptor);
  }
}

}  // namespace

cudnnStatus_t finalize(Descriptor& descriptor) {
  if (descriptor.finalized) return refuse(CUDNN_STATUS_BAD_PARAM, "ptrDesc->finalize()");
  const cudnnStatus_t status = check(descriptor);
  descriptor.finalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}

}  // namespace standin::cudnn
