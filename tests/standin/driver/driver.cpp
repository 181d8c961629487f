// What the program asks the driver directly: the newest supported CUDA.
#include "runtime/kinds.h"

// As in the driver's interface (cuda.h), whose header is not needed otherwise.
extern "C" int cuDriverGetVersion(int* version) {
  if (version == nullptr) return 1;  // CUDA_ERROR_INVALID_VALUE
  *version = standin::driver_version();
  return 0;
}
