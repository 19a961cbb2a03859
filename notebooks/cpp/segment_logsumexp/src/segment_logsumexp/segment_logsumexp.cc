// SegmentLogsumexp: for each segment s, the log of the sum of exp(x[i]) over
// all i with ids[i] == s. An empty segment gives -inf.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/work_sharder.h"

namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// 1. The interface.
REGISTER_OP("SegmentLogsumexp")
    .Attr("T: {float, double}")
    .Attr("segments: int >= 1")
    .Input("x: T")
    .Input("ids: int32")
    .Output("y: T")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle x, ids, same;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &x));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &ids));
      TF_RETURN_IF_ERROR(c->Merge(x, ids, &same));
      int segments;
      TF_RETURN_IF_ERROR(c->GetAttr("segments", &segments));
      c->set_output(0, c->MakeShape({c->MakeDim(segments)}));
      return absl::OkStatus();
    });

// 2. The kernel.
template <typename T>
class SegmentLogsumexpOp : public OpKernel {
 public:
  explicit SegmentLogsumexpOp(OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("segments", &segments_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x_tensor = context->input(0);
    const Tensor& ids_tensor = context->input(1);
    OP_REQUIRES(context,
                x_tensor.dims() == 1 && x_tensor.shape() == ids_tensor.shape(),
                absl::InvalidArgumentError(absl::StrCat(
                    "x and ids must be vectors of one length, found shapes ",
                    x_tensor.shape().DebugString(), " and ",
                    ids_tensor.shape().DebugString())));
    const auto x = x_tensor.vec<T>();
    const auto ids = ids_tensor.vec<int32_t>();
    const int64_t count = ids.size();

    // Check every id, because each is an index into `members` below: one
    // outside of it could give a wrong number, or end the process. The shape
    // function does not see the numbers. Within `work`, it would be too late,
    // and OP_REQUIRES would return from `work` only.
    for (int64_t i = 0; i < count; ++i) {
      OP_REQUIRES(
          context, ids(i) >= 0 && ids(i) < segments_,
          absl::InvalidArgumentError(absl::StrCat(
              "ids[", i, "] is ", ids(i), ", not in 0 to ", segments_ - 1)));
    }

    // For each segment, list the places of its numbers in x.
    std::vector<std::vector<int64_t>> members(segments_);
    for (int64_t i = 0; i < count; ++i) members[ids(i)].push_back(i);

    Tensor* y_tensor = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, TensorShape({segments_}), &y_tensor));
    auto y = y_tensor->vec<T>();

    // The work for the outputs from `begin` up to, not including, `end`. Each
    // output is written by one thread only. exp(x - largest) can't overflow.
    auto work = [&](int64_t begin, int64_t end) {
      for (int64_t s = begin; s < end; ++s) {
        T largest = -std::numeric_limits<T>::infinity();
        for (int64_t i : members[s]) largest = std::max(largest, x(i));
        const T shift = std::isfinite(largest) ? largest : T(0);
        T sum = 0;
        for (int64_t i : members[s]) sum += std::exp(x(i) - shift);
        y(s) = std::log(sum) + shift;
      }
    };
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    // Shard lets TensorFlow's threads call `work`, each for a range of outputs.
    // The fewer cycles an output costs (a rough guess), the longer the ranges.
    const int64_t cycles = 50 * (count / segments_ + 1);
    tensorflow::Shard(pool.num_threads, pool.workers, segments_, cycles, work);
  }

 private:
  int segments_;
};

// 3. The registration, for each type.
#define REGISTER_KERNEL(type)                                 \
  REGISTER_KERNEL_BUILDER(Name("SegmentLogsumexp")            \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<type>("T"),     \
                          SegmentLogsumexpOp<type>)

REGISTER_KERNEL(float);
REGISTER_KERNEL(double);

}  // namespace
