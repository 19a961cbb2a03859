// RacyCount counts how often each id occurs, and is WRONG: several threads
// write to the same count. Lesson 12 shows what that costs.

#include <cstdint>

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

REGISTER_OP("RacyCount")
    .Attr("segments: int >= 1")
    .Input("ids: int32")
    .Output("counts: int32")
    .SetShapeFn([](InferenceContext* c) {
      int segments;
      TF_RETURN_IF_ERROR(c->GetAttr("segments", &segments));
      c->set_output(0, c->MakeShape({c->MakeDim(segments)}));
      return absl::OkStatus();
    });

class RacyCountOp : public OpKernel {
 public:
  explicit RacyCountOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("segments", &segments_));
  }

  void Compute(OpKernelContext* context) override {
    const auto ids = context->input(0).flat<int32_t>();
    for (int64_t i = 0; i < ids.size(); ++i) {
      OP_REQUIRES(context, ids(i) >= 0 && ids(i) < segments_,
                  absl::InvalidArgumentError("an id is out of range"));
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, TensorShape({segments_}), &output));
    auto counts = output->vec<int32_t>();
    counts.setZero();

    auto work = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        counts(ids(i)) += 1;
      }
    };
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(pool.num_threads, pool.workers, ids.size(), 10, work);
  }

 private:
  int segments_;
};

REGISTER_KERNEL_BUILDER(Name("RacyCount").Device(tensorflow::DEVICE_CPU),
                        RacyCountOp);

}  // namespace
