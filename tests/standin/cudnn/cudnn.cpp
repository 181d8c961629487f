// libcudnn.so.9 as Trainyard calls it: the functions of compute/conv/cudnn/library.h.
#include <cuda_runtime_api.h>
#include <cudnn_graph.h>

#include <cstring>
#include <memory>

#include "../faults.h"
#include "../stream.h"
#include "descriptor.h"
#include "status.h"

using namespace standin;
using namespace standin::cudnn;

namespace {

Descriptor& of(cudnnBackendDescriptor_t raw) { return *static_cast<Holder*>(raw)->held; }
Handle* of(cudnnHandle_t raw) { return reinterpret_cast<Handle*>(raw); }

cudnnStatus_t null_descriptor() {
  return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "nullptr == descriptor");
}

}  // namespace

std::size_t cudnnGetVersion() {
  return requested_number<std::size_t>("cudnnGetVersion", CUDNN_VERSION);
}

const char* cudnnGetErrorString(cudnnStatus_t status) { return name_of(status); }

void cudnnGetLastErrorString(char* message, std::size_t max_size) {
  if (message == nullptr || max_size == 0) return;
  std::strncpy(message, last_reason().c_str(), max_size - 1);
  message[max_size - 1] = '\0';
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (handle == nullptr) return refuse(CUDNN_STATUS_BAD_PARAM, "handle == __null");
  const cudnnStatus_t wanted = requested_status("cudnnCreate");
  if (wanted != CUDNN_STATUS_SUCCESS) return wanted;
  int count = 0, device = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess) {
    return refuse(CUDNN_STATUS_NOT_INITIALIZED, "cudaGetDeviceCount(&count) != cudaSuccess");
  }
  *handle = reinterpret_cast<cudnnHandle_t>(new Handle{.device = device});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete of(handle);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return refuse(CUDNN_STATUS_BAD_PARAM, "handle == __null");
  if (device_of(stream) != of(handle)->device) {
    return refuse(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH, "the stream is another device's");
  }
  of(handle)->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  if (descriptor == nullptr) return null_descriptor();  // cuDNN 9.19 ends the program
  if (!is_known(type)) {
    return refuse(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
                  "CUDNN_STATUS_SUCCESS != getSizeOfDescriptor(descriptorType, size)");
  }
  *descriptor = new Holder{std::make_shared<Descriptor>(type)};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  if (descriptor == nullptr) return null_descriptor();
  delete static_cast<Holder*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  if (descriptor == nullptr) return null_descriptor();
  const cudnnStatus_t wanted = requested_status("cudnnBackendFinalize");
  return wanted != CUDNN_STATUS_SUCCESS ? wanted : finalize(of(descriptor));
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
  if (descriptor == nullptr) return null_descriptor();
  return set_attribute(of(descriptor), name, type, count, values);
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t most,
                                       std::int64_t* count, void* values) {
  if (descriptor == nullptr) return null_descriptor();
  return get_attribute(of(descriptor), name, type, most, count, values);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  if (handle == nullptr || plan == nullptr || pack == nullptr) {
    return refuse(CUDNN_STATUS_BAD_PARAM, "");
  }
  const cudnnStatus_t wanted = requested_status("cudnnBackendExecute");
  return wanted != CUDNN_STATUS_SUCCESS ? wanted : execute(*of(handle), of(plan), of(pack));
}
