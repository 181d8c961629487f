// What the program asks of the driver itself: the newest CUDA that it supports.
#include "runtime/kinds.h"

// As the driver's interface has it (cuda.h), whose header is of no other use here.
extern "C" int cuDriverGetVersion(int* version) {
  if (version == nullptr) return 1;  // CUDA_ERROR_INVALID_VALUE
  *version = standin::driver_version();
  return 0;
}
