// The GPU for tests whose kernels run on the host (grid.h): the CPU's memory and queues.
#include "device/cuda/cuda_device.h"

namespace trainyard::cuda {

GpuSurvey survey() { return {.gpus = {{.name = "emulated"}}}; }
std::unique_ptr<Device> make_cuda_device(int /*ordinal*/, Overlap /*overlap*/) {
  return make_cpu_device();
}
cudaStream_t stream_of(const Queue& /*queue*/) { return nullptr; }

}  // namespace trainyard::cuda
