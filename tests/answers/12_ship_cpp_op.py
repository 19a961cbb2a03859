"""Answers to the exercises of lesson 12: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1  # the others build a wheel

EDITED = """norm = Path(f"cpp/{{FILE}}").read_text("utf-8")
for old, new in {edits!r}:
    assert norm.count(old) == 1 or old == "SegmentLogsumexp", old
    norm = norm.replace(old, new)
norm = (norm[:norm.index("for (int64_t s = begin")] + {work!r}
        + norm[norm.index("const auto& pool"):])
"""
NAME = "SegmentLogsumexp", "SegmentNorm"
ATTR = ('.Attr("segments: int >= 1")', ('.Attr("segments: int >= 1")\n    .Attr("p: float = 2")'))
GET = (
    "&segments_));\n  }",
    ('&segments_));\n    OP_REQUIRES_OK(context, context->GetAttr("p", &p_));\n  }'),
)
MEMBER = "  int segments_;", "  int segments_;\n  float p_;"
EDITS = [NAME, ATTR, GET, MEMBER]
WORK = """for (int64_t s = begin; s < end; ++s) {
        double sum = 0;
        for (int64_t k = starts[s]; k < starts[s + 1]; ++k) {
          sum += std::pow(std::abs(double(x(members[k]))), p_);
        }
        y(s) = T(std::pow(sum, 1.0 / p_));
      }
    };
    """

RACE = """};
    y.setZero();
    auto add = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        y(ids(i)) += std::pow(std::abs(x(i)), T(p_));
      }
    };
    const auto& threads = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(threads.num_threads, threads.workers, count, 50, add);
    for (int s = 0; s < segments_; ++s) y(s) = std::pow(y(s), 1 / T(p_));
    return;
    """


def edited(work=WORK, edits=EDITS):
    return EDITED.format(edits=edits, work=work)


def changed(old, new):
    assert WORK.count(old) == 1, old
    return edited(WORK.replace(old, new))


GRAD = """def norm_grad(op, dy):
    x, ids = op.inputs
    y = op.outputs[0]
    return {}, None
"""

WRONG = {
    1: [
        ("not yet an attribute", edited(edits=[NAME, GET, MEMBER])),
        (
            "missing 1 required",
            edited(edits=[NAME, (ATTR[0], ATTR[1].replace(" = 2", "")), GET, MEMBER]),
        ),
        (
            "'float' when 'int'",
            edited(edits=[NAME, ATTR, GET, (MEMBER[0], MEMBER[1].replace("float p_", "int p_"))]),
        ),
        ("not declared", edited(edits=[NAME, ATTR, GET])),
        # the default is another one
        ("p is 2", edited(edits=[NAME, (ATTR[0], ATTR[1].replace("= 2", "= 3")), GET, MEMBER])),
        # without the root, the absolute value, the attribute
        ("p is 2", changed("std::pow(sum, 1.0 / p_)", "sum")),
        ("sign", changed("std::abs(double(x(members[k])))", "x(members[k])")),
        ("p = 1", changed(", p_);", ", 2);")),
        # ids without a check
        (
            "where nothing is",
            edited(edits=[*EDITS, ("ids(i) >= 0 && ids(i) < segments_", "ids(i) == ids(i)")]),
        ),
        # threads that divide the inputs
        ("which thread", edited(RACE)),
        # the order of x instead of the members, a sum that goes on
        ("p is 2", changed("members[k]", "k")),
        ("p is 2", edited("double sum = 0;\n" + WORK.replace("double sum = 0;", ""))),
    ],
    2: [
        ("which dy", GRAD.format("dy * x / y")),
        ("which dy", GRAD.format("tf.gather(dy, ids) * x")),
        ("which dy", GRAD.format("x / tf.gather(y, ids)")),
        ("which dy", GRAD.format("tf.gather(dy * y, ids) * x")),
        ("0 / 0", GRAD.format("tf.gather(dy / y, ids) * x")),
        ("small", GRAD.format("tf.gather(dy / tf.maximum(y, 1e-3), ids) * x")),
        ("small", GRAD.format("tf.gather(dy / tf.maximum(y, 1e-12), ids) * x")),
        ("None", GRAD.replace(", None", "").format("tf.gather(dy, ids) * x")),
        ("0 / 0", GRAD.format("tf.gather(dy, ids) * x / tf.gather(y, ids)")),
        ("which dy", GRAD.format("tf.repeat(dy / y, 1) * x")),
    ],
}
RIGHT = {
    1: [
        edited(),
        changed(
            "for (int64_t k = starts[s]; k < starts[s + 1]; ++k) {\n          sum "
            "+= std::pow(std::abs(double(x(members[k]))), p_);\n        }",
            "int64_t k = starts[s];\n        while (k < starts[s + 1]) {\n"
            "          const double a = std::fabs(x(members[k++]));\n"
            "          if (a > 0) sum += std::exp(p_ * std::log(a));\n        }",
        ),
    ],
    2: [
        GRAD.format("tf.gather(tf.math.divide_no_nan(dy, y), ids) * x"),
        GRAD.format("tf.gather(tf.where(y > 0, dy / y, 0), ids) * x"),
        GRAD.format("tf.where(x == 0, x, tf.gather(dy / y, ids) * x)"),
    ],
}
