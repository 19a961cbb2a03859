// ZeroOut keeps the first element of a vector and sets all others to zero.
// Its second output holds the index of each element.

#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace {

using tensorflow::AttrSlice;
using tensorflow::FunctionDef;
using tensorflow::FunctionDefHelper;
using tensorflow::OpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// The interface: what a caller sees, in a graph before any number is known.
REGISTER_OP("ZeroOut")
    .Attr("T: {float, double}")
    .Attr("out_idx: {int32, double} = DT_INT32")
    .Input("x: T")
    .Output("y: T")
    .Output("indices: out_idx")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle vector;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &vector));
      c->set_output(0, vector);
      c->set_output(1, vector);
      return absl::OkStatus();
    });

// The kernel: what runs at each call.
template <typename T, typename Index>
class ZeroOutOp : public OpKernel {
 public:
  using OpKernel::OpKernel;  // inherits its constructors

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES(context, x.dims() == 1 && x.NumElements() > 0,
                absl::InvalidArgumentError("ZeroOut needs a non-empty vector"));

    Tensor* y = nullptr;
    Tensor* indices = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    OP_REQUIRES_OK(context, context->allocate_output(1, x.shape(), &indices));

    y->vec<T>().setZero();
    y->vec<T>()(0) = x.vec<T>()(0);
    auto index_values = indices->vec<Index>();
    for (int i = 0; i < x.NumElements(); ++i) index_values(i) = i;
  }
};

// The registration: which class computes for which dtypes, here on a CPU.
#define REGISTER_KERNEL(type, index)                             \
  REGISTER_KERNEL_BUILDER(Name("ZeroOut")                        \
                              .Device(tensorflow::DEVICE_CPU)    \
                              .TypeConstraint<type>("T")         \
                              .TypeConstraint<index>("out_idx"), \
                          ZeroOutOp<type, index>)

REGISTER_KERNEL(float, int32_t);
REGISTER_KERNEL(double, int32_t);
REGISTER_KERNEL(float, double);
REGISTER_KERNEL(double, double);

// A gradient in C++, as a graph of one node: dx is ZeroOut of dy. The op
// SymbolicGradient asks for it, a tape does not, and to load a second copy ends
// the process: leave it out of your own ops.
absl::Status ZeroOutGradient(const AttrSlice& /* of the op */,
                             FunctionDef* graph) {
  *graph = FunctionDefHelper::Define(
      {"x: T", "dy: T", "dindices: int32"},  // the inputs, one dy each output
      {"dx: T"},                             // one gradient for each input
      {"T: {float, double}"},
      {{{"dx", "ignored"}, "ZeroOut", {"dy"}, {{"T", "$T"}}}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("ZeroOut", ZeroOutGradient);

}  // namespace
