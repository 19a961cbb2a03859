// MyRelu is max(x, 0), with a gradient that is registered here, in C++.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace {

using tensorflow::AttrSlice;
using tensorflow::FunctionDef;
using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;
using FDH = tensorflow::FunctionDefHelper;

REGISTER_OP("MyRelu")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

REGISTER_OP("MyReluGrad")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Input("dy: T")
    .Output("dx: T")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle both;
      TF_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &both));
      c->set_output(0, both);
      return absl::OkStatus();
    });

// The gradient of MyRelu as a small graph: one node, MyReluGrad.
absl::Status MyReluGradient(const AttrSlice& /* of the op */,
                            FunctionDef* graph) {
  *graph = FDH::Define(
      // Arguments: the inputs of MyRelu, then one dy for each output.
      {"x: T", "dy: T"},
      // Results: one gradient for each input.
      {"dx: T"},
      // Attributes.
      {"T: {float, double}"},
      // Nodes: results, op, arguments, attributes ($T is our T).
      {{{"dx"}, "MyReluGrad", {"x", "dy"}, {{"T", "$T"}}}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("MyRelu", MyReluGradient);

template <typename T>
class MyReluOp : public OpKernel {
 public:
  explicit MyReluOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    y->flat<T>() = x.flat<T>().cwiseMax(T(0));
  }
};

template <typename T>
class MyReluGradOp : public OpKernel {
 public:
  explicit MyReluGradOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& dy = context->input(1);
    OP_REQUIRES(context, x.shape() == dy.shape(),
                absl::InvalidArgumentError("x and dy differ in shape"));
    Tensor* dx = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &dx));
    auto positive = x.flat<T>() > T(0);
    dx->flat<T>() = positive.select(dy.flat<T>(), dy.flat<T>().constant(T(0)));
  }
};

#define REGISTER_KERNELS(type)                                                 \
  REGISTER_KERNEL_BUILDER(                                                     \
      Name("MyRelu").Device(tensorflow::DEVICE_CPU).TypeConstraint<type>("T"), \
      MyReluOp<type>);                                                         \
  REGISTER_KERNEL_BUILDER(Name("MyReluGrad")                                   \
                              .Device(tensorflow::DEVICE_CPU)                  \
                              .TypeConstraint<type>("T"),                      \
                          MyReluGradOp<type>)

REGISTER_KERNELS(float);
REGISTER_KERNELS(double);

}  // namespace
