"""Answers to the exercises of lesson 07: wrong ones with a word of the hint, right ones
of another form. To compile and try one of exercise 2 takes some ten seconds."""

CELLS = [0, 1]

HEAD = """extremes = '''
REGISTER_OP("Extremes")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("smallest: T")
    .Output("largest: T")
"""
REFUSED = """
    OP_REQUIRES(context, x.dims() == 1 && x.NumElements() > 0,
                absl::InvalidArgumentError("Extremes expects a vector"));
"""
ALLOCATED = """
    Tensor* smallest = nullptr;
    Tensor* largest = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &smallest));
    OP_REQUIRES_OK(context, context->allocate_output(1, {}, &largest));
"""
FILLED = """
    const auto numbers = x.vec<T>();
    T low = numbers(0), high = numbers(0);
    for (int i = 1; i < numbers.size(); ++i) {
      if (numbers(i) < low) low = numbers(i);
      if (numbers(i) > high) high = numbers(i);
    }
    smallest->scalar<T>()() = low;
    largest->scalar<T>()() = high;
"""
SCALARS = """
      ShapeHandle vector;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &vector));
      c->set_output(0, c->Scalar());
      c->set_output(1, c->Scalar());
"""


def op(shapes=SCALARS, compute=REFUSED + ALLOCATED + FILLED, before=""):
    return f"""{HEAD}
    .SetShapeFn([](InferenceContext* c) {{
{shapes}
      return absl::OkStatus();
    }});
{before}
template <typename T>
class ExtremesOp : public OpKernel {{
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {{
    const Tensor& x = context->input(0);
{compute}
  }}
}};
'''
"""


def grad(*lines):
    return "\n    ".join(
        ["def extremes_grad(op, dsmallest, dlargest):", "x = op.inputs[0]", *lines]
    )


WRONG = {
    1: [
        (
            "x = (5, 1, 5, 1)",
            grad(
                "low = tf.where(x == op.outputs[0], dsmallest, 0)",
                "return low + tf.where(x == op.outputs[1], dlargest, 0)",
            ),
        ),
        (
            "along how many paths",
            grad(
                "k = tf.range(tf.size(x), dtype=tf.int64)",
                "low = tf.where(k == tf.argmin(x), dsmallest, 0)",
                "return tf.where(k == tf.argmax(x), dlargest, low)",
            ),
        ),
        (
            "x = (4, 1, 3)",
            grad("return dlargest * tf.one_hot(tf.argmax(x), tf.size(x), dtype=x.dtype)"),
        ),
        (
            "x = (4, 1, 3)",
            grad(
                "a = tf.one_hot(tf.argmin(x), tf.size(x), dtype=x.dtype)",
                "return a + tf.one_hot(tf.argmax(x), tf.size(x), dtype=x.dtype)",
            ),
        ),
        (
            "x = (4, 1, 3)",
            grad(
                "a = dlargest * tf.one_hot(tf.argmin(x), tf.size(x), dtype=x.dtype)",
                "b = tf.one_hot(tf.argmax(x), tf.size(x), dtype=x.dtype)",
                "return a + dsmallest * b",
            ),
        ),
        (
            "float32",
            grad(
                "a = dsmallest * tf.one_hot(tf.argmin(x), tf.size(x), dtype=tf.float64)",
                "b = tf.one_hot(tf.argmax(x), tf.size(x), dtype=tf.float64)",
                "return a + dlargest * b",
            ),
        ),
        (
            "float32",
            grad(
                "a = dsmallest * tf.one_hot(tf.argmin(x), 3, dtype=x.dtype)",
                "return a + dlargest * tf.one_hot(tf.argmax(x), 3, dtype=x.dtype)",
            ),
        ),
        ("x = (4, 1, 3)", grad("return dsmallest * x, dlargest * x")),
    ],
    2: [
        (
            "x of shape (3,), smallest has the shape (3,)",
            op(shapes="      c->set_output(0, c->input(0));\n      c->set_output(1, c->input(0));"),
        ),
        (
            "the shape function takes",
            op(shapes="      c->set_output(0, c->Scalar());\n      c->set_output(1, c->Scalar());"),
        ),
        ("ends the process", op(compute=ALLOCATED + FILLED)),
        (
            "2.0 instead of 3.0",
            op(compute=REFUSED + ALLOCATED + FILLED.replace("high = numbers(0)", "high = 0")),
        ),
    ],
}
RIGHT = {
    1: [
        grad(
            "low = tf.one_hot(tf.argmin(x), tf.size(x), on_value=dsmallest, "
            "off_value=tf.zeros_like(dsmallest))",
            "return low + tf.one_hot(tf.argmax(x), tf.size(x), on_value=dlargest, "
            "off_value=tf.zeros_like(dlargest))",
        ),
        grad(
            "places = tf.stack([tf.argmin(x), tf.argmax(x)])",
            "dys = tf.stack([dsmallest, dlargest])",
            "return tf.scatter_nd(places[:, None], dys, tf.shape(x, tf.int64))",
        ),
        grad(
            "k = tf.range(tf.size(x), dtype=tf.int64)",
            "low = tf.where(k == tf.argmin(x), dsmallest, 0)",
            "return [low + tf.where(k == tf.argmax(x), dlargest, 0)]",
        ),
    ],
    2: [
        op(
            shapes="""
      tensorflow::shape_inference::ShapeHandle unused;
      auto status = c->WithRank(c->input(0), 1, &unused);
      if (!status.ok()) return status;
      for (int i : {0, 1}) c->set_output(i, c->MakeShape({}));
""",
            compute=REFUSED
            + """
    std::vector<tensorflow::int64> order(x.dim_size(0));
    std::iota(order.begin(), order.end(), 0);
    const T* numbers = x.flat<T>().data();
    auto less = [&](tensorflow::int64 a, tensorflow::int64 b) {
      return numbers[a] < numbers[b];
    };
    auto [a, b] = std::minmax_element(order.begin(), order.end(), less);
    Tensor *y = nullptr, *z = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output("smallest", {}, &y));
    OP_REQUIRES_OK(context, context->allocate_output("largest", TensorShape(), &z));
    *y->flat<T>().data() = numbers[*a];
    z->flat<T>()(0) = numbers[*b];
""",
        ),
        op(
            before="#include <array>",
            compute="""
    if (!tensorflow::TensorShapeUtils::IsVector(x.shape()) || !x.dim_size(0)) {
      context->CtxFailure(absl::InvalidArgumentError("a vector, please"));
      return;
    }
"""
            + ALLOCATED
            + """
    smallest->scalar<T>().setConstant(x.vec<T>()(0));
    largest->scalar<T>() = smallest->scalar<T>().constant(x.vec<T>()(0));
    smallest->scalar<T>() = x.flat<T>().minimum();
    largest->scalar<T>() = x.flat<T>().maximum();
""",
        ),
    ],
}
