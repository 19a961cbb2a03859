"""Answers to the exercises of lesson 07: wrong ones with a word of the hint, right ones
of another form. To compile and try one of exercise 3 takes some ten seconds."""

HEAD = """extremes = '''
REGISTER_OP("Extremes")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("low: T")
    .Output("high: T")
    .Output("places: int32")
"""
REFUSED = """
    OP_REQUIRES(context, x.dims() == 1 && x.NumElements() > 0,
                absl::InvalidArgumentError("Extremes expects a vector"));
"""
ALLOCATED = """
    Tensor *low_output, *high_output, *places;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &low_output));
    OP_REQUIRES_OK(context, context->allocate_output(1, TensorShape({}), &high_output));
    OP_REQUIRES_OK(context, context->allocate_output(2, TensorShape({2}), &places));
"""
FILLED = """
    const auto numbers = x.vec<T>();
    int a = 0, b = 0;
    T low = numbers(0), high = numbers(0);
    for (int i = 1; i < numbers.size(); ++i) {
      if (numbers(i) < low) low = numbers(a = i);
      if (numbers(i) > high) high = numbers(b = i);
    }
    low_output->scalar<T>()() = low;
    high_output->scalar<T>()() = high;
    places->vec<int32_t>()(0) = a;
    places->vec<int32_t>()(1) = b;
"""
VECTORS = """
      ShapeHandle vector;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &vector));
      c->set_output(0, c->Scalar());
      c->set_output(1, c->Scalar());
      c->set_output(2, c->Vector(2));
"""


def op(shapes=VECTORS, compute=REFUSED + ALLOCATED + FILLED):
    return f"""{HEAD}
    .SetShapeFn([](InferenceContext* c) {{
{shapes}
      return absl::OkStatus();
    }});
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


def filled(*changes):
    compute = REFUSED + ALLOCATED + FILLED
    for old, new in changes:
        compute = compute.replace(old, new)
    return op(compute=compute)


def grad(*lines, arguments="op, dlow, dhigh, dplaces"):
    head = [f"def extremes_grad({arguments}):"]
    head += ["x, (low, high, places) = op.inputs[0], op.outputs"]
    return "\n    ".join([*head, *lines])


HOT = "hot = tf.one_hot(places, tf.size(x), dtype=x.dtype)"
SUM = "return dlow * hot[0] + dhigh * hot[1]"
CALL = "return tf.function(loss)(x)"
STACK = "return tf.stack([loss(rows[0]), loss(rows[1])])"


def change(none, zeros=STACK, head=""):
    return f"def none_in_eager(x):\n    {none}\n{head}def zeros_in_graph(rows):\n    {zeros}"


WRONG = {
    1: [
        ("zeros arrived", change("return tf.cond(x[0] > 0, lambda: loss(x), lambda: x[0])")),
        ("None arrived", change(CALL, STACK, head="@tf.function\n")),
        ("reach ZeroOut", change(CALL, "return tf.stack([loss(rows[0]), 2 * rows[1][0]])")),
        ("float64 zeros", change(CALL, "return tf.map_fn(float_loss, rows)")),
    ],
    2: [
        ("what is dplaces", grad(HOT, SUM + " + 0 * tf.cast(dplaces[0], x.dtype)")),
        (
            "dplaces = (3, 8)",
            grad(HOT, "if dplaces is not None: dlow += tf.cast(dplaces[0], x.dtype)", SUM),
        ),
        (
            "x = (5, 1, 5, 1)",
            grad("dx = tf.where(x == low, dlow, 0)", "return dx + tf.where(x == high, dhigh, 0)"),
        ),
        (
            "x = (7)",
            grad(
                "dx, places = tf.zeros_like(x), places[:, None]",
                "return tf.tensor_scatter_nd_update(dx, places, [dlow, dhigh])",
            ),
        ),
        ("x = (4, 1, 3)", grad(HOT, "return dhigh * hot[0] + dlow * hot[1]")),
        ("x = (5, 5, 5)", grad(HOT, f"return tf.where(low == high, dlow + dhigh, {SUM[7:]})")),
        ("2 gradients for one input", grad(HOT, SUM + ", None")),
        ("long x", grad(HOT, SUM + " + 0 * x")),
        ("long x", grad("hot = tf.one_hot(places, 16, dtype=x.dtype)[:, :tf.size(x)]", SUM)),
        ("length of x", grad("hot = tf.one_hot(places, x.shape[0], dtype=x.dtype)", SUM)),
        ("a sparse dx", grad("return tf.IndexedSlices([dlow, dhigh], places, tf.shape(x))")),
        ("float32", grad("hot = tf.one_hot(places, tf.size(x), dtype=tf.float64)", SUM)),
    ],
    3: [
        (
            "x of (3,) gives () float64 and () float64 and (3,) int32 instead of",
            op(shapes=VECTORS.replace("c->Vector(2)", "vector")),
        ),
        (
            "x of (2, 2, 2) gives () float64 and () float64 and (2,) int32 instead of an error",
            op(shapes=VECTORS.replace("TF_", "if (c->Rank(c->input(0)) < 3) TF_")),
        ),
        (
            "the kernel takes an input of shape (1, 3)",
            filled(("x.vec", "x.flat"), ("x.dims() == 1", "(x.dims() == 1 || x.dim_size(0) == 1)")),
        ),
        ("shape (0,)", filled((" && x.NumElements() > 0", ""))),
        ("int64", filled(("int32_t", "int64_t")).replace("places: int32", "places: int64")),
        ("x = [-inf, -inf]", filled(("high = numbers(0)", "high = -1e308"), ("i = 1", "i = 0"))),
        (
            "x = [-4e+30, -2e+30]",
            filled(
                *[("high = numbers(0)", "high = 0"), ("i = 1", "i = 0")],
                ("()() = high", "()() = numbers(b)"),
            ),
        ),
        ("x = [0.1, 0.3, 0.3, 0.1]", filled(("> high", ">= high"))),
        (
            "inf, 3.40",
            filled(
                ("int a = 0,", "int a = -1,"),
                ("T low = numbers(0),", "T low = std::numeric_limits<T>::max(),"),
                ("int i = 1", "int i = 0"),
                ("()() = low", "()() = numbers(a = a < 0 ? 0 : a)"),
            ),
        ),
        ("in several threads", filled(("int a = 0, b = 0;", "static int a, b; a = b = 0;"))),
    ],
}
RIGHT = {
    1: [
        change("return tf.vectorized_map(loss, x[None])[0]", STACK),
        f"@tf.function\n{change('return loss(x)')}\ngradient(none_in_eager, x)",  # traced
        "inner = tf.function(loss)\n" + change("return inner(x)"),
        change(CALL, "return tf.map_fn(tf.recompute_grad(loss), rows)"),
    ],
    2: [
        grad("return tf.scatter_nd(places[:, None], [dlow, dhigh], tf.shape(x))"),
        "@tf.function\n" + grad(HOT, SUM),
        grad(
            "k = tf.range(tf.size(x), dtype=tf.int64)",
            "dx = tf.where(k == tf.argmin(x), dlow, 0)",
            "return [dx + tf.where(k == tf.argmax(x), dhigh, 0)]",
        ),
        grad(
            "hot = tf.one_hot(places, tf.size(x), dtype=op.get_attr('T'))",
            "return tf.linalg.matvec(hot, tf.stack(dys[:2]), True)",
            arguments="op, *dys",
        ),
    ],
    3: [
        op(
            shapes="""
      tensorflow::shape_inference::ShapeHandle unused;
      auto status = c->WithRank(c->input(0), 1, &unused);
      if (!status.ok()) return status;
      for (int i : {0, 1}) c->set_output(i, c->MakeShape({}));
      c->set_output(2, c->MakeShape({2}));
""",
            compute=REFUSED
            + """
    std::vector<tensorflow::int64> order(x.dim_size(0));
    std::iota(order.begin(), order.end(), 0);
    const T* numbers = x.flat<T>().data();
    auto less = [&](tensorflow::int64 a, tensorflow::int64 b) {
      return numbers[a] < numbers[b];
    };
    auto a = std::min_element(order.begin(), order.end(), less);
    auto b = std::max_element(order.begin(), order.end(), less);
    Tensor *low = nullptr, *high = nullptr, *k = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output("low", TensorShape({}), &low));
    OP_REQUIRES_OK(context, context->allocate_output(1, TensorShape(), &high));
    OP_REQUIRES_OK(context, context->allocate_output("places", {2}, &k));
    low->flat<T>().data()[0] = numbers[*a];
    high->flat<T>()(0) = numbers[*b];
    k->flat<tensorflow::int32>()(0) = *a;
    k->vec<int>()(1) = *b;
""",
        ),
        filled(
            ("= 1; i < numbers.size(); ++i", "= numbers.size() - 1; i >= 0; --i"),
            *[("< low", "<= low"), ("> high", ">= high")],
        ),
    ],
}
