// The entry of the plugin, its only exported symbol, and the backend behind it.
#include <cuda_runtime_api.h>

#include <utility>

#include "backend/backend.h"
#include "backend/cuda/launches.h"
#include "backend/cuda/libraries.h"
#include "backend/cuda/timed_recording.h"
#include "compute/devices/cuda/cuda_executors.h"
#include "device/cuda/check.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/survey.h"

namespace trainyard {
namespace {

class CudaBackend final : public Backend {
 public:
  [[nodiscard]] GpuSurvey survey() const override { return cuda::survey(); }
  [[nodiscard]] std::vector<LibraryFinding> open_libraries(
      std::span<const std::filesystem::path> folders) override {
    int driver = 0;
    TY_CUDA(cudaDriverGetVersion(&driver));
    return cuda::open_libraries(folders, driver / 1000);
  }
  [[nodiscard]] std::unique_ptr<Device> make_device(int ordinal, bool overlap) const override {
    TY_CUDA(cudaSetDevice(ordinal));
    return cuda::make_cuda_device(ordinal, overlap ? cuda::Overlap::allowed : cuda::Overlap::none);
  }
  [[nodiscard]] std::unique_ptr<ExecutorFactory> make_executors(
      CudaExecutorSettings settings) const override {
    return make_cuda_executors(std::move(settings));
  }
  [[nodiscard]] std::unique_ptr<UpdateLaunches> make_update_launches(
      const Queue& queue) const override {
    return cuda::make_update_launches(cuda::stream_of(queue));
  }
  [[nodiscard]] std::unique_ptr<BatchLaunches> make_batch_launches(
      const Queue& queue) const override {
    return cuda::make_batch_launches(cuda::stream_of(queue));
  }
  [[nodiscard]] std::unique_ptr<TimedRecording> record_timed(
      Device& device, Queue& queue, const std::function<void()>& work) const override {
    return cuda::record_timed(device, queue, work);
  }
  [[nodiscard]] std::unique_ptr<Communicator> make_nccl_ranks(
      const NcclSettings& settings) const override {
    return trainyard::make_nccl_ranks(settings);
  }
};

Backend* make_backend() { return std::make_unique<CudaBackend>().release(); }

}  // namespace
}  // namespace trainyard

extern "C" {
extern const trainyard::PluginEntry trainyard_plugin;
const trainyard::PluginEntry trainyard_plugin{TRAINYARD_INTERFACE, &trainyard::make_backend};
}
