"""Answers to the exercises of lesson 12: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1  # the others build a wheel

EDITED = """norm = Path(f"cpp/{{PACKAGE}}/segment_logsumexp.cc").read_text("utf-8")
for old, new in {edits!r}:
    assert norm.count(old) == 1 or old == "SegmentLogsumexp", old
    norm = norm.replace(old, new)
norm = (norm[:norm.index("for (int64_t s = begin")] + {work!r}
        + norm[norm.index("const auto& pool"):])
"""
NAME = "SegmentLogsumexp", "SegmentNorm"
ATTR = '.Attr("segments: int >= 1")', '.Attr("segments: int >= 1")\n    . Attr("p: float = 2")'
GET = (
    "&segments_));\n  }",
    '&segments_));\n    OP_REQUIRES_OK(context, context->GetAttr("p", &p_));\n  }',
)
POSITIVE = (
    '("p", &p_));',
    '("p", &p_));\n    OP_REQUIRES(context, p_ > 0, absl::InvalidArgumentError("p"));',
)
MEMBER = "  int segments_;", "  int segments_;\n  float p_;"
WORK = """for (int64_t s = begin; s < end; ++s) {
        double sum = 0;
        for (int64_t i : members[s]) sum += std::pow(std::abs(double(x(i))), p_);
        y(s) = T(std::pow(sum, 1.0 / p_));
      }
    };
    """
RACE = """};
    y.setZero();
    auto add = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y(ids(i)) += std::pow(std::abs(x(i)), p_);
    };
    const auto& threads = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(threads.num_threads, threads.workers, count, 50, add);
    for (int s = 0; s < segments_; ++s) y(s) = std::pow(y(s), 1 / p_);
    return;
    """
TOO_LATE = """if (!(p_ > 0)) {
          context->SetStatus(absl::InvalidArgumentError("p"));
          return;
        }
        double sum"""
UNKNOWN = (  # unknown lengths are refused
    "int segments;\n      TF",
    """int segments;
      if (!c->FullyDefined(same)) return absl::InvalidArgumentError("lengths");
      TF""",
)
IN_COMPUTE = (
    "    // Check every id.",
    """auto require = [&](bool right, const char* what) {
      OP_REQUIRES(context, right, absl::InvalidArgumentError(what));
    };
    require(p_ > 0, "p");
    if (!context->status().ok()) return;""",
)


def edited(*more, without=(), work=WORK):
    edits = [edit for edit in (NAME, ATTR, GET, POSITIVE, MEMBER) if edit not in without]
    return EDITED.format(edits=[*edits, *more], work=work)


def changed(old, new, *more, **options):
    assert WORK.count(old) == 1, old
    return edited(*more, work=WORK.replace(old, new), **options)


GIVEN = """def segment_norm(x, ids, segments, p=2.0):
    return tf.math.unsorted_segment_sum(tf.abs(x) ** p, ids, segments) ** (1 / p)


"""
LAYER = """@keras.saving.register_keras_serializable("segment_norm")
class SegmentNorm(keras.layers.Layer):
    def __init__(self, segments, p=2.0, **options):
        super().__init__(**options)
        self.segments, self.p = segments, p

    def call(self, x, ids):
        return segment_norm(x, ids, self.segments, self.p)

    def get_config(self):
        return {**super().get_config(), "segments": self.segments, "p": self.p}
"""


def layer(old="", new=""):
    assert not old or LAYER.count(old) == 1, old
    return GIVEN + (LAYER.replace(old, new) if old else LAYER)


WRONG = {
    1: [
        ("not yet an attribute", edited(without=[ATTR])),
        ("not declared", edited(without=[MEMBER])),
        ("sign", changed("std::abs(double(x(i)))", "x(i)")),
        ("when 'int' expected", edited(("  float p_;", "  int p_;"))),  # the op's own error
        ("where nothing is", edited(("ids(i) >= 0 && ids(i) < segments_", "ids(i) == ids(i)"))),
        ("-1 and nan", edited(("p_ > 0", "!(p_ <= 0)"))),
        ("before `Shard`", changed("double sum", TOO_LATE, without=[POSITIVE])),
        # lengths that differ, in the kernel and in the shape function
        ("five ids", edited((" && x_tensor.shape() == ids_tensor.shape()", ""))),
        ("five ids", edited(("TF_RETURN_IF_ERROR(c->Merge(x, ids, &same));", ""))),
        ("which thread", edited(work=RACE)),  # threads that divide the inputs
        ("which thread", edited(work=WORK + "work(0, segments_);\n    return;\n    ")),
        ("which shape", edited(("c->MakeDim(segments)", "c->MakeDim(1000)"))),
        ("which shape", edited(UNKNOWN)),
    ],
    2: [
        ("by which name", layer('@keras.saving.register_keras_serializable("segment_norm")', "")),
        ("by which name", layer('("segment_norm")', "()")),
        ("what does the file remember", layer(', "p": self.p', "")),
        ("two layers", layer("self.segments, self.p =", "self.segments, type(self).p =")),
        ("p = 1.537", layer("segments, p\n", "segments, round(p, 1)\n")),
        ("what does the file remember", layer("self.segments, self.p)", "self.segments)")),
        ("p is 2", layer("p=2.0", "p=1.0")),
        ("p is 2", layer('"segments": self.segments, ', "")),
        ("segments is 5", layer("self.segments, self.p)", "4, self.p)")),
        # options swallowed, not taken, one kept back
        (
            "is lost",
            layer(
                "__init__(**options)",
                "__init__(**{k: options[k] for k in ('name', 'trainable', 'dtype') if k in options})",
            ),
        ),
        ("options", layer("p=2.0, **options", "p=2.0").replace("(**options)", "()")),
        ("is lost", layer("p=2.0, **options", "p=2.0, dtype=None, **options")),
        (
            "is lost",
            layer(
                "**super().get_config(), ",
                "'name': self.name, 'trainable': self.trainable, 'dtype': self.dtype, ",
            ),
        ),
    ],
}
RIGHT = {
    1: [
        edited(IN_COMPUTE, without=[POSITIVE]),
        changed(
            "sum += std::pow(std::abs(double(x(i))), p_);",
            "if (x(i) != 0) sum += std::exp(p_ * std::log(std::fabs(double(x(i)))));",
        ),
    ],
    2: [
        layer(),
        layer(
            '{**super().get_config(), "segments": self.segments, "p": self.p}',
            "dict(super().get_config(), p=self.p, segments=self.segments)",
        ),
        layer("__init__(self, segments, p=2.0,", "__init__(self, *, p=2, segments,"),
    ],
}
