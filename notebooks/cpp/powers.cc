// Powers gives the square and the cube of each element. Its gradient is
// registered in Python, in lesson 13.

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;

REGISTER_OP("Powers")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("square: T")
    .Output("cube: T")
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->input(0));
      return absl::OkStatus();
    });

template <typename T>
class PowersOp : public OpKernel {
 public:
  explicit PowersOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* square = nullptr;
    Tensor* cube = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &square));
    OP_REQUIRES_OK(context, context->allocate_output(1, input.shape(), &cube));

    const T* x = input.flat<T>().data();
    T* y = square->flat<T>().data();
    T* z = cube->flat<T>().data();
    const int64_t n = input.NumElements();
    for (int64_t i = 0; i < n; ++i) {
      y[i] = x[i] * x[i];
      z[i] = y[i] * x[i];
    }
  }
};

#define REGISTER_KERNEL(type)                                                  \
  REGISTER_KERNEL_BUILDER(                                                     \
      Name("Powers").Device(tensorflow::DEVICE_CPU).TypeConstraint<type>("T"), \
      PowersOp<type>)

REGISTER_KERNEL(float);
REGISTER_KERNEL(double);

}  // namespace
