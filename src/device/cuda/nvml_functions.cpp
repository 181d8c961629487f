#include "device/cuda/nvml_functions.h"

#include "base/required_library.h"

namespace trainyard::cuda::nvml {

Functions functions_of(const SharedLibrary& library) {
  Functions all;
  find_functions(library, {{"nvmlInit_v2", all.init},
                           {"nvmlShutdown", all.shutdown},
                           {"nvmlDeviceGetHandleByPciBusId_v2", all.find},
                           {"nvmlSystemGetDriverVersion", all.driver},
                           {"nvmlDeviceGetMemoryInfo", all.memory},
                           {"nvmlDeviceGetUtilizationRates", all.utilization},
                           {"nvmlDeviceGetMigMode", all.mig},
                           {"nvmlDeviceGetEccMode", all.ecc},
                           {"nvmlDeviceGetRemappedRows", all.remapped_rows},
                           {"nvmlDeviceGetGpuFabricInfo", all.fabric},
                           {"nvmlDeviceGetClockInfo", all.clock},
                           {"nvmlDeviceGetMaxClockInfo", all.most_clock},
                           {"nvmlDeviceGetCurrentClocksThrottleReasons", all.slowed_by},
                           {"nvmlDeviceGetPowerManagementLimit", all.power_limit},
                           {"nvmlDeviceGetP2PStatus", all.peer}});
  return all;
}

}  // namespace trainyard::cuda::nvml
