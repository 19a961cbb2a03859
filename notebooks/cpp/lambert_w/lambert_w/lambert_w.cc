// LambertW solves w exp(w) = x for w, by Newton's method, on several threads.

#include <cmath>
#include <cstdint>
#include <limits>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"

namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// The interface, with two attributes of our own and their defaults.
REGISTER_OP("LambertW")
    .Attr("T: {float, double}")
    .Attr("steps: int >= 1 = 20")
    .Attr("threads: int >= 0 = 0")
    .Input("x: T")
    .Output("w: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// One number, without any TensorFlow. Newton's method comes down from log(1 +
// x), which is never below the solution.
double Solve(double x, int steps) {
  if (!(x >= -std::exp(-1.0))) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x)) return x;
  double w = std::log1p(x);
  for (int step = 0; step < steps; ++step) {
    w -= (w - x * std::exp(-w)) / (1 + w);
  }
  return w;
}

// The kernel: many numbers.
template <typename T>
class LambertWOp : public OpKernel {
 public:
  explicit LambertWOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("steps", &steps_));
    OP_REQUIRES_OK(context, context->GetAttr("threads", &threads_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));
    const T* x = input.flat<T>().data();
    T* w = output->flat<T>().data();

    auto work = [this, x, w](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        w[i] = static_cast<T>(Solve(x[i], steps_));
      }
    };
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    const int threads = threads_ ? threads_ : pool.num_threads;
    const int64_t cost = 50 * steps_;  // cycles for an element, roughly
    tensorflow::Shard(threads, pool.workers, input.NumElements(), cost, work);
  }

 private:
  int steps_, threads_;
};

#define REGISTER_KERNEL(type)                                 \
  REGISTER_KERNEL_BUILDER(Name("LambertW")                    \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<type>("T"),     \
                          LambertWOp<type>)

REGISTER_KERNEL(float);
REGISTER_KERNEL(double);

}  // namespace
