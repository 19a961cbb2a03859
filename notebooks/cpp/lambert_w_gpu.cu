// What lesson 12's op would need for a GPU: a skeleton, neither compiled nor
// run here.
//
// nvcc compiles this file, the C++ compiler the rest. The inputs lie in the
// GPU's memory, so no code of the CPU may read them: one thread of the GPU
// computes one number, on the stream that TensorFlow gives.

#include "tensorflow/core/framework/op_kernel.h"

template <typename T>
__device__ T Solve(T x, int steps);  // as in lambert_w.cc

template <typename T>
__global__ void LambertW(int64_t n, const T* x, T* w, int steps) {
  int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) w[i] = Solve(x[i], steps);
}

// In lambert_w.cc: the same REGISTER_OP, and one more kernel for it. Its
// Compute asks for the output as that of the CPU does, and starts the threads,
// 256 in a block:
//
//   auto& device = context->eigen_device<Eigen::GpuDevice>();
//   LambertW<T><<<(n + 255) / 256, 256, 0, device.stream()>>>(n, x, w, steps_);
//
// REGISTER_KERNEL_BUILDER(Name("LambertW").Device(DEVICE_GPU).TypeConstraint<T>("T"),
//                         LambertWOnGpu<T>);
