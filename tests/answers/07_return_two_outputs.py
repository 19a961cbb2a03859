"""Answers to the exercises of lesson 07: wrong ones with a word of the hint, right ones
of another form. To compile and try one of exercise 3 takes some ten seconds."""

HEAD = """extremes = '''
REGISTER_OP("Extremes")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("values: T")
    .Output("places: int32")
"""
REFUSED = """
    OP_REQUIRES(context, x.dims() == 1 && x.NumElements() > 0,
                absl::InvalidArgumentError("Extremes expects a vector"));
"""
ALLOCATED = """
    Tensor* values = nullptr;
    Tensor* places = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({2}), &values));
    OP_REQUIRES_OK(context, context->allocate_output(1, TensorShape({2}), &places));
"""
FILLED = """
    const auto numbers = x.vec<T>();
    int a = 0, b = 0;
    T low = numbers(0), high = numbers(0);
    for (int i = 1; i < numbers.size(); ++i) {
      if (numbers(i) < low) low = numbers(a = i);
      if (numbers(i) > high) high = numbers(b = i);
    }
    values->vec<T>()(0) = low;
    values->vec<T>()(1) = high;
    places->vec<int32_t>()(0) = a;
    places->vec<int32_t>()(1) = b;
"""
VECTORS = """
      ShapeHandle vector;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &vector));
      c->set_output(0, c->Vector(2));
      c->set_output(1, c->Vector(2));
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


def grad(*lines, arguments="op, dvalues, dplaces"):
    return "\n    ".join(
        [
            f"def extremes_grad({arguments}):",
            "x, (values, places) = op.inputs[0], op.outputs",
            *lines,
        ]
    )


DENSE = "dvalues = tf.convert_to_tensor(dvalues)"
ONES = "hot = tf.one_hot(places, tf.size(x), dtype=x.dtype)"
HOT = f"{DENSE}; {ONES}"
SUM = "return dvalues[0] * hot[0] + dvalues[1] * hot[1]"
CASES = ["cond, eager", "cond, graph", "call, eager", "recomputed, graph"]


def table(words):
    return f"arrives = dict(zip({CASES}, {words}))"


WRONG = {
    1: [
        ("2 of 4 right", table("['zeros'] * 4")),
        ("3 of 4 right", table("'zeros None zeros zeros'.split()")),
        ("3 of 4 right", table("'zeros None None None'.split()")),
    ],
    2: [
        ("what is dplaces", grad(HOT, SUM + " + 0 * tf.cast(dplaces[0], x.dtype)")),
        (
            "dplaces = (3, 8)",
            grad(HOT, "if dplaces is not None: dvalues += tf.cast(dplaces, x.dtype)", SUM),
        ),
        (
            "x = (5, 1, 5, 1)",
            grad(
                "low = tf.where(x == values[0], dvalues[0], 0)",
                "return low + tf.where(x == values[1], dvalues[1], 0)",
            ),
        ),
        (
            "x = (7)",
            grad(
                "k = tf.range(tf.size(x))",
                "low = tf.where(k == places[0], dvalues[0], 0)",
                "return tf.where(k == places[1], dvalues[1], low)",
            ),
        ),
        ("x = (4, 1, 3)", grad(HOT, "return dvalues[1] * hot[0] + dvalues[0] * hot[1]")),
        (
            "x = (5, 5, 5)",
            grad(
                HOT,
                "same = tf.fill([tf.size(x)], dvalues[0] + dvalues[1])",
                f"return tf.where(values[0] == values[1], same, {SUM[7:]})",
            ),
        ),
        ("2 gradients for one input", grad(HOT, SUM + ", None")),
        ("long x", grad(HOT, SUM + " + 0 * x")),
        ("long x", grad("hot = tf.one_hot(places, 16, dtype=x.dtype)[:, :tf.size(x)]", SUM)),
        ("length of x", grad("hot = tf.one_hot(places, x.shape[0], dtype=x.dtype)", SUM)),
        ("from a tf.gather", grad(ONES, SUM)),
        ("from a tf.gather", grad("dvalues = getattr(dvalues, 'values', dvalues)", ONES, SUM)),
        ("a sparse dx", grad(DENSE, "return tf.IndexedSlices(dvalues, places, tf.shape(x))")),
        ("float32", grad("hot = tf.one_hot(places, tf.size(x), dtype=tf.float64)", SUM)),
    ],
    3: [
        (
            "x of (3,) gives (3,) float64 and (3,) int32 instead of",
            op(shapes=VECTORS.replace("c->Vector(2)", "vector")),
        ),
        (
            "x of (2, 2, 2) gives (2,) float64 and (2,) int32 instead of an error",
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
                ("(1) = high", "(1) = numbers(b)"),
            ),
        ),
        ("x = [0.1, 0.3, 0.3, 0.1]", filled(("> high", ">= high"))),
        ("in several threads", filled(("int a = 0, b = 0;", "static int a, b; a = b = 0;"))),
    ],
}
RIGHT = {
    1: [table("['zeros', None, None, 'zeros']"), table("'Zeros none None zero'.split()")],
    2: [
        grad(DENSE, "return tf.scatter_nd(places[:, None], dvalues, tf.shape(x))"),
        "@tf.function\n" + grad(HOT, SUM),
        grad(
            DENSE,
            "k = tf.range(tf.size(x), dtype=tf.int64)",
            "low = tf.where(k == tf.argmin(x), dvalues[0], 0)",
            "return [low + tf.where(k == tf.argmax(x), dvalues[1], 0)]",
        ),
        grad(
            "hot = tf.one_hot(places, tf.size(x), dtype=op.get_attr('T'))",
            "return tf.linalg.matvec(hot, tf.convert_to_tensor(dys[0]), True)",
            arguments="op, *dys",
        ),
    ],
    3: [
        op(
            shapes="""
      tensorflow::shape_inference::ShapeHandle unused;
      auto status = c->WithRank(c->input(0), 1, &unused);
      if (!status.ok()) return status;
      for (int i : {0, 1}) c->set_output(i, c->MakeShape({2}));
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
    Tensor *y = nullptr, *k = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output("values", {2}, &y));
    OP_REQUIRES_OK(context, context->allocate_output("places", TensorShape({2}), &k));
    y->flat<T>().data()[0] = numbers[*a];
    y->flat<T>()(1) = numbers[*b];
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
