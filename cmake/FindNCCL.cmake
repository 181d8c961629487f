# NCCL 2 (CudaPackage.cmake).
include(CudaPackage)
cuda_package(NCCL nccl 2 nccl.h NCCL_MAJOR NCCL_MINOR NCCL_PATCH)
