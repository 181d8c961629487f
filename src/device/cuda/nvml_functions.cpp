#include "device/cuda/nvml_functions.h"

namespace trainyard::cuda::nvml {

Functions functions_of(const SharedLibrary& library) {
  Functions all;
  const auto find = [&]<class Function>(const char* name, Function*& to) {
    to = library.function<Function>(name);
  };
  find("nvmlInit_v2", all.init);
  find("nvmlShutdown", all.shutdown);
  find("nvmlDeviceGetHandleByPciBusId_v2", all.find);
  find("nvmlSystemGetDriverVersion", all.driver);
  find("nvmlDeviceGetMemoryInfo", all.memory);
  find("nvmlDeviceGetUtilizationRates", all.utilization);
  find("nvmlDeviceGetMigMode", all.mig);
  find("nvmlDeviceGetEccMode", all.ecc);
  find("nvmlDeviceGetRemappedRows", all.remapped_rows);
  find("nvmlDeviceGetGpuFabricInfo", all.fabric);
  find("nvmlDeviceGetClockInfo", all.clock);
  find("nvmlDeviceGetMaxClockInfo", all.most_clock);
  find("nvmlDeviceGetCurrentClocksThrottleReasons", all.slowed_by);
  find("nvmlDeviceGetPowerManagementLimit", all.power_limit);
  find("nvmlDeviceGetP2PStatus", all.peer);
  return all;
}

}  // namespace trainyard::cuda::nvml
