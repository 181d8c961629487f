// The stand-in for cuDNN, opened as the program opens cuDNN.
#pragma once

#include "compute/conv/cudnn/library.h"

namespace standin_tests {

[[nodiscard]] const trainyard::cudnn::Library& stand_in();

}  // namespace standin_tests
