#include "library_under_test.h"

#include <cstdlib>

namespace standin_tests {
namespace {

// Before any GPU is queried.
[[maybe_unused]] const int kGpus = setenv("STANDIN_GPUS", "3", 1);
[[maybe_unused]] const int kVisible = unsetenv("CUDA_VISIBLE_DEVICES");

}  // namespace

const trainyard::cudnn::Library& stand_in() {
  static const trainyard::cudnn::Library opened(TY_STANDIN_CUDNN);
  return opened;
}

}  // namespace standin_tests
