// RoiPool takes the maximum over a grid of bins in each box of an image.
// RoiPoolGrad sends the gradient back to the pixels that were the maxima.

#include <algorithm>
#include <cmath>

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
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// The interface of the forward pass.
REGISTER_OP("RoiPool")
    .Attr("T: {float, double}")
    .Attr("pooled_height: int >= 1")
    .Attr("pooled_width: int >= 1")
    .Input("data: T")
    .Input("rois: T")
    .Output("pooled: T")
    .Output("argmax: int32")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle data, rois;
      DimensionHandle five;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &data));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &rois));
      TF_RETURN_IF_ERROR(c->WithValue(c->Dim(rois, 1), 5, &five));
      int height, width;
      TF_RETURN_IF_ERROR(c->GetAttr("pooled_height", &height));
      TF_RETURN_IF_ERROR(c->GetAttr("pooled_width", &width));
      ShapeHandle pooled = c->MakeShape({c->Dim(rois, 0), c->MakeDim(height),
                                         c->MakeDim(width), c->Dim(data, 3)});
      c->set_output(0, pooled);
      c->set_output(1, pooled);
      return absl::OkStatus();
    });

// The interface of the backward pass.
REGISTER_OP("RoiPoolGrad")
    .Attr("T: {float, double}")
    .Attr("pooled_height: int >= 1")
    .Attr("pooled_width: int >= 1")
    .Input("data: T")
    .Input("rois: T")
    .Input("argmax: int32")
    .Input("dy: T")
    .Output("data_grad: T")
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->input(0));
      return absl::OkStatus();
    });

// Checks what both kernels need. Every box must name an image of the batch.
template <typename T>
absl::Status CheckInputs(const Tensor& data, const Tensor& rois) {
  if (data.dims() != 4) {
    return absl::InvalidArgumentError(absl::StrCat(
        "data must be [batch, height, width, channels], found shape ",
        data.shape().DebugString()));
  }
  if (rois.dims() != 2 || rois.dim_size(1) != 5) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rois must be [boxes, 5], found shape ", rois.shape().DebugString()));
  }
  if (data.dim_size(1) * data.dim_size(2) * data.dim_size(3) > INT32_MAX) {
    return absl::InvalidArgumentError("an image of data is too large");
  }
  const auto boxes = rois.matrix<T>();
  for (int r = 0; r < boxes.dimension(0); ++r) {
    const T image = boxes(r, 0);
    if (!(image >= 0 && image < data.dim_size(0)) ||
        image != std::floor(image)) {
      return absl::InvalidArgumentError(
          absl::StrCat("rois[", r, "] names image ", image, ", the batch has ",
                       data.dim_size(0), " images"));
    }
    for (int k = 1; k < 5; ++k) {
      if (!(std::abs(boxes(r, k)) < T(1 << 24))) {  // NaN is caught as well
        return absl::InvalidArgumentError(
            absl::StrCat("rois[", r, "] has the coordinate ", boxes(r, k),
                         ", which is no place on an image"));
      }
    }
  }
  return absl::OkStatus();
}

template <typename T>
class RoiPoolOp : public OpKernel {
 public:
  explicit RoiPoolOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("pooled_height", &pooled_height_));
    OP_REQUIRES_OK(context, context->GetAttr("pooled_width", &pooled_width_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& data = context->input(0);
    const Tensor& rois = context->input(1);
    OP_REQUIRES_OK(context, CheckInputs<T>(data, rois));

    const TensorShape shape(
        {rois.dim_size(0), pooled_height_, pooled_width_, data.dim_size(3)});
    Tensor* pooled = nullptr;
    Tensor* argmax = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &pooled));
    OP_REQUIRES_OK(context, context->allocate_output(1, shape, &argmax));

    const int height = data.dim_size(1);
    const int width = data.dim_size(2);
    const int channels = data.dim_size(3);
    const auto boxes = rois.matrix<T>();

    // The boxes from `begin` up to, not including, `end`. Threads can share
    // them out, because every box has a part of the outputs to itself.
    auto work = [&](int64_t begin, int64_t end) {
      const int64_t bins = int64_t{pooled_height_} * pooled_width_;
      T* best = pooled->flat<T>().data() + begin * bins * channels;
      int* where = argmax->flat<int>().data() + begin * bins * channels;
      for (int64_t r = begin; r < end; ++r) {
        const T* image = data.flat<T>().data() +
                         int64_t(boxes(r, 0)) * height * width * channels;
        const int64_t left = Pixel(boxes(r, 1)), top = Pixel(boxes(r, 2));
        // The last row and column belong to the box. It has at least one pixel.
        const int64_t box_width =
            std::max<int64_t>(Pixel(boxes(r, 3)) - left + 1, 1);
        const int64_t box_height =
            std::max<int64_t>(Pixel(boxes(r, 4)) - top + 1, 1);
        for (int i = 0; i < pooled_height_; ++i) {
          const Range rows = Bin(i, pooled_height_, top, box_height, height);
          for (int j = 0; j < pooled_width_; ++j) {
            const Range columns = Bin(j, pooled_width_, left, box_width, width);
            PoolBin(image, width, channels, rows, columns, best, where);
            best += channels;
            where += channels;
          }
        }
      }
    };
    // A box has at most as many values as an image, and each takes a few
    // cycles.
    const auto& threads = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(threads.num_threads, threads.workers, boxes.dimension(0),
                      int64_t{height} * width * channels, work);
  }

 private:
  struct Range {
    int start, stop;
  };

  static int64_t Pixel(T coordinate) {
    return static_cast<int64_t>(std::floor(coordinate + T(0.5)));
  }

  // Bin i of n in a box that begins at `low` and has `length` pixels: from
  // floor(i length / n) up to, not including, ceil((i + 1) length / n), as far
  // as that lies in the image.
  static Range Bin(int i, int n, int64_t low, int64_t length, int size) {
    const int64_t start = low + i * length / n;
    const int64_t stop = low + ((i + 1) * length + n - 1) / n;
    return {static_cast<int>(std::clamp<int64_t>(start, 0, size)),
            static_cast<int>(std::clamp<int64_t>(stop, 0, size))};
  }

  // The first of the largest pixels wins; nan counts as larger than any number.
  static void PoolBin(const T* __restrict image, int width, int channels,
                      Range rows, Range columns, T* __restrict best,
                      int* __restrict where) {
    if (rows.start >= rows.stop || columns.start >= columns.stop) {
      std::fill_n(best, channels, T(0));  // nothing of the image in this bin
      std::fill_n(where, channels, -1);
      return;
    }
    const int first = (rows.start * width + columns.start) * channels;
    for (int c = 0; c < channels; ++c) {
      best[c] = image[first + c];
      where[c] = first + c;
    }
    for (int y = rows.start; y < rows.stop; ++y) {
      for (int x = columns.start; x < columns.stop; ++x) {
        const int pixel = (y * width + x) * channels;
        for (int c = 0; c < channels; ++c) {
          const T value = image[pixel + c];
          const bool wins =
              value > best[c] || (std::isnan(value) && !std::isnan(best[c]));
          best[c] = wins ? value : best[c];
          where[c] = wins ? pixel + c : where[c];
        }
      }
    }
  }

  int pooled_height_;
  int pooled_width_;
};

template <typename T>
class RoiPoolGradOp : public OpKernel {
 public:
  explicit RoiPoolGradOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("pooled_height", &pooled_height_));
    OP_REQUIRES_OK(context, context->GetAttr("pooled_width", &pooled_width_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& data = context->input(0);
    const Tensor& rois = context->input(1);
    const Tensor& argmax = context->input(2);
    const Tensor& dy = context->input(3);
    OP_REQUIRES_OK(context, CheckInputs<T>(data, rois));
    const TensorShape shape(
        {rois.dim_size(0), pooled_height_, pooled_width_, data.dim_size(3)});
    OP_REQUIRES(context, argmax.shape() == shape && dy.shape() == shape,
                absl::InvalidArgumentError(absl::StrCat(
                    "argmax and dy must have the shape ", shape.DebugString(),
                    ", found ", argmax.shape().DebugString(), " and ",
                    dy.shape().DebugString())));

    Tensor* data_grad = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, data.shape(), &data_grad));

    // The scatter-add. It stays on one thread, because boxes may share pixels.
    const int64_t count = rois.dim_size(0);
    const int64_t image_size =
        data.dim_size(1) * data.dim_size(2) * data.dim_size(3);
    const int64_t box_size =
        int64_t{pooled_height_} * pooled_width_ * data.dim_size(3);
    const auto boxes = rois.matrix<T>();
    const auto where = argmax.shaped<int, 2>({count, box_size});
    const auto dys = dy.shaped<T, 2>({count, box_size});
    auto dx = data_grad->shaped<T, 2>({data.dim_size(0), image_size});
    dx.setZero();
    for (int64_t r = 0; r < count; ++r) {
      const int64_t image = static_cast<int64_t>(boxes(r, 0));
      for (int64_t k = 0; k < box_size; ++k) {
        const int winner = where(r, k);
        if (winner == -1) continue;  // an empty bin took nothing from the image
        OP_REQUIRES(context, winner >= 0 && winner < image_size,
                    absl::InvalidArgumentError(
                        absl::StrCat("argmax holds ", winner, ", an image has ",
                                     image_size, " values")));
        dx(image, winner) += dys(r, k);
      }
    }
  }

 private:
  int pooled_height_;
  int pooled_width_;
};

#define REGISTER_KERNELS(type)                                \
  REGISTER_KERNEL_BUILDER(Name("RoiPool")                     \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<type>("T"),     \
                          RoiPoolOp<type>);                   \
  REGISTER_KERNEL_BUILDER(Name("RoiPoolGrad")                 \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<type>("T"),     \
                          RoiPoolGradOp<type>)

REGISTER_KERNELS(float);
REGISTER_KERNELS(double);

}  // namespace
