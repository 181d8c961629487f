// The runtime's device functions.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "calls.h"

using namespace standin;

namespace {

Device& device_at(Machine& machine, int ordinal) {
  const auto count = static_cast<int>(machine.devices().size());
  require(ordinal >= 0 && ordinal < count, cudaErrorInvalidDevice);
  return machine.devices()[static_cast<std::size_t>(ordinal)];
}

void describe(const Gpu& gpu, cudaDeviceProp& to) {
  to = {};
  std::snprintf(to.name, sizeof(to.name), "%s", gpu.name);
  to.totalGlobalMem = gpu.bytes;
  to.major = gpu.major;
  to.minor = gpu.minor;
  to.multiProcessorCount = gpu.processors;
  to.warpSize = 32;
  to.maxThreadsPerBlock = 1024;
  to.maxThreadsDim[0] = to.maxThreadsDim[1] = 1024;
  to.maxThreadsDim[2] = 64;
  to.maxGridSize[0] = 0x7fffffff;
  to.maxGridSize[1] = to.maxGridSize[2] = 65535;
}

}  // namespace

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return answered(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return answered(cudaErrorInvalidValue);
  *version = driver_version();
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  return answer("cudaGetDeviceCount", Needs::driver, [&](Machine& machine, auto&) {
    require(count != nullptr, cudaErrorInvalidValue);
    *count = static_cast<int>(machine.devices().size());
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal) {
  return answer("cudaGetDeviceProperties", Needs::driver, [&](Machine& machine, auto&) {
    require(properties != nullptr, cudaErrorInvalidValue);
    describe(device_at(machine, ordinal).gpu, *properties);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int ordinal) {
  return answer("cudaDeviceGetAttribute", Needs::driver, [&](Machine& machine, auto&) {
    require(value != nullptr, cudaErrorInvalidValue);
    const Gpu& gpu = device_at(machine, ordinal).gpu;
    switch (attribute) {
      case cudaDevAttrComputeMode:
        *value = compute_mode();
        return;
      case cudaDevAttrComputeCapabilityMajor:
        *value = gpu.major;
        return;
      case cudaDevAttrComputeCapabilityMinor:
        *value = gpu.minor;
        return;
      case cudaDevAttrMultiProcessorCount:
        *value = gpu.processors;
        return;
      default:
        throw Refused(cudaErrorInvalidValue);  // attributes that are never queried
    }
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* reads, int ordinal, int other) {
  return answer("cudaDeviceCanAccessPeer", Needs::driver, [&](Machine& machine, auto&) {
    require(reads != nullptr, cudaErrorInvalidValue);
    const Gpu& one = device_at(machine, ordinal).gpu;
    const Gpu& two = device_at(machine, other).gpu;
    *reads = ordinal != other && one.peers && std::strcmp(one.word, two.word) == 0 ? 1 : 0;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int ordinal) {
  return answer("cudaDeviceGetPCIBusId", Needs::driver, [&](Machine& machine, auto&) {
    static_cast<void>(device_at(machine, ordinal));
    const std::string bus = bus_of(visible_gpus()[static_cast<std::size_t>(ordinal)]);
    require(text != nullptr && bytes > static_cast<int>(bus.size()), cudaErrorInvalidValue);
    std::copy_n(bus.c_str(), bus.size() + 1, text);
  });
}

cudaError_t cudaGetDevice(int* ordinal) {
  return answer("cudaGetDevice", Needs::driver, [&](Machine&, auto&) {
    require(ordinal != nullptr, cudaErrorInvalidValue);
    *ordinal = current_device();
  });
}

// Creates the context, since CUDA 12.
cudaError_t cudaSetDevice(int ordinal) {
  const int before = current_device();
  const cudaError_t found = answer("cudaSetDevice", Needs::driver, [&](Machine& machine, auto&) {
    static_cast<void>(device_at(machine, ordinal));
  });
  if (found != cudaSuccess) return found;
  current_device() = ordinal;
  const cudaError_t made = answer("cudaInitDevice", Needs::context, [](Machine&, auto&) {});
  if (made != cudaSuccess) current_device() = before;
  return made;
}

}  // extern "C"
