// RoundSquare gives the square of each rounded element. Its gradient is
// registered in Python, in lesson 13.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

REGISTER_OP("RoundSquare")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

class RoundSquareOp : public OpKernel {
 public:
  explicit RoundSquareOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    // rint rounds halves to even, as NumPy does.
    output->flat<float>() = input.flat<float>().rint().square();
  }
};

REGISTER_KERNEL_BUILDER(Name("RoundSquare").Device(tensorflow::DEVICE_CPU),
                        RoundSquareOp);

}  // namespace
