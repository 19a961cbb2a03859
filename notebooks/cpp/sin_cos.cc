// SinCos returns the sine and the cosine of each number.

#include <cmath>
#include <cstdint>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

// 1. The interface: what goes in and comes out, and in which shape.
REGISTER_OP("SinCos")
    .Input("x: double")
    .Output("sine: double")
    .Output("cosine: double")
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->input(0));
      return absl::OkStatus();
    });

// 2. The kernel: what runs at each call.
class SinCosOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* sine = nullptr;
    Tensor* cosine = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &sine));
    OP_REQUIRES_OK(context, context->allocate_output(1, x.shape(), &cosine));
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      sine->flat<double>()(i) = std::sin(x.flat<double>()(i));
      cosine->flat<double>()(i) = std::cos(x.flat<double>()(i));
    }
  }
};

// 3. The registration: this kernel runs this op on a CPU.
REGISTER_KERNEL_BUILDER(Name("SinCos").Device(DEVICE_CPU), SinCosOp);

}  // namespace tensorflow
