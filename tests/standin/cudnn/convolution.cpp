#include "convolution.h"

namespace standin::cudnn {

std::int64_t Tensor::span() const {
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) last += (extents[axis] - 1) * strides[axis];
  return last + 1;
}

std::vector<Tensor> Convolution::tensors() const {
  std::vector<Tensor> all{input, weight, output};
  if (bias) all.push_back(*bias);
  return all;
}

std::int64_t size_of(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_FLOAT:
      return 4;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 2;
    default:
      return 0;
  }
}

}  // namespace standin::cudnn
