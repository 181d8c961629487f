# cuDNN 9 (CudaPackage.cmake).
include(CudaPackage)
cuda_package(CUDNN cudnn 9 cudnn_version.h CUDNN_MAJOR CUDNN_MINOR CUDNN_PATCHLEVEL)
