"""From measured slopes to a verdict: each line of the rules, by made-up numbers."""

import ml_dtypes
import numpy as np
import pytest

from custom_ops.differences import SURE, Slopes
from custom_ops.gradient_verdict import (
    PRECISIONS,
    Finding,
    Precision,
    agrees,
    beside_truth,
    clear,
    decide,
    precision_of,
    together,
)

RTOL, BLUR, TINY = 1e-3, 1e-2, 1e-20
MADE_UP = Precision(1e-9, RTOL, BLUR, 0.1, 3, BLUR, TINY)


# What check_gradient's docstring states, and what a report calls the least error.
STATED = {
    "float64": (1e-6, 1e-5, 1e-6),
    "float32": (3e-5, 1e-3, 1e-3),
    "float16": (5e-3, 1e-2, 1e-1),
    "bfloat16": (3e-2, 1e-1, 1e-1),
}


@pytest.mark.parametrize("name", PRECISIONS)
def test_a_precision_is_that_of_its_dtype(name):
    one, info = PRECISIONS[name], ml_dtypes.finfo(name)
    assert one.eps == info.eps and (one.rtol, one.blur, one.shown) == STATED[name]
    tiny = info.smallest_subnormal if name == "float16" else info.tiny
    assert one.tiny == pytest.approx(float(tiny), rel=0.05)


def test_a_coarser_dtype_takes_longer_steps_and_shows_fewer_digits():
    fine_first = sorted(PRECISIONS.values(), key=lambda one: one.eps)
    steps, digits = (
        [getattr(p, name) for p in fine_first] for name in ("step", "digits")
    )
    assert steps == sorted(set(steps)) and fine_first[0].eps < steps[0]
    assert steps[-1] < 1 and digits == [4, 3, 2, 1]


def test_the_coarsest_dtype_counts():
    assert precision_of({"float64", "float16", "float32"}) == PRECISIONS["float16"]


@pytest.mark.parametrize("rtol, blur", [(3e-6, 1e-4), (3e-5, 1e-3), (3e-4, 1e-3)])
def test_another_tolerance(rtol, blur):
    """A smaller one sharpens what is undecided in proportion, a larger one nothing."""
    asked, usual = precision_of({"float32"}, rtol), PRECISIONS["float32"]
    assert asked == usual._replace(rtol=rtol, blur=pytest.approx(blur), shown=rtol)


def test_a_tolerance_above_what_is_undecided():
    assert precision_of({"float32"}, 0.5).blur == 0.5


class TestFirstLook:
    """`agrees`: the slope 2 with what the sides and the sizes of the steps show."""

    def look(
        self, gradient=2.0, sides=0.0, sizes=0.0, alone=False, dtype="float64", weight=1
    ):
        seen = np.array([[2.0], [sides], [sizes]])
        weights = np.full((1, 1), float(weight))
        return agrees(seen, weights, np.array([gradient]), PRECISIONS[dtype], alone)

    def test_right(self):
        assert self.look() and self.look(alone=True)
        assert self.look(-6.0, weight=-3)

    @pytest.mark.parametrize("sign", [-1, 1])
    def test_another_gradient(self, sign):
        assert self.look(gradient=2 + sign * 0.9e-6)
        assert not self.look(gradient=2 + sign * 1.1e-6)

    @pytest.mark.parametrize("dtype, most", [("float64", 8e-6), ("float32", 6e-4)])
    @pytest.mark.parametrize("weight", [-3, 1])
    def test_a_kink_sets_the_sides_apart(self, dtype, most, weight):
        known = {"gradient": 2.0 * weight, "weight": weight, "dtype": dtype}
        for sign in -1, 1:
            assert self.look(sides=sign * 0.9 * most, **known)
            assert not self.look(sides=sign * 1.1 * most, **known)

    @pytest.mark.parametrize("weight", [-3, 1])
    def test_sizes_tell_of_one_number_only(self, weight):
        known = {"gradient": 2.0 * weight, "weight": weight}
        for sign in -1, 1:
            assert self.look(sizes=sign * 5.9e-4, alone=True, **known)
            assert self.look(sizes=sign * 6.1e-4, **known)
            assert not self.look(sizes=sign * 6.1e-4, alone=True, **known)

    def test_each_upstream_gradient_counts(self):
        seen, weights = np.array([[2.0], [0.0], [0.0]]), np.array([[1.0], [3.0]])
        for gradient, right in ([2.0, 6.0], True), ([2.0, 5.0], False):
            assert right == agrees(seen, weights, np.array(gradient), MADE_UP, False)


def verdict(analytic, slope=2.0, **known):
    """`decide` for one output, known but for what is given."""
    weight, scale, far, noise = (
        known.pop(name, default)
        for name, default in (
            ("weight", 1.0),
            ("scale", 1.0),
            ("far", 0.0),
            ("noise", 0),
        )
    )
    given = {"kind": "smooth", "left": slope, "right": slope, "error": 0.0}
    given |= {"hidden": 0.0, "flat": False, **known}
    slopes = Slopes(**{name: np.array([value]) for name, value in given.items()})
    return decide(
        slopes, np.array([[weight]]), np.array([analytic]), MADE_UP,
        np.array([scale]), np.array([far]), noise,
    )  # fmt: skip


def told(found):
    """What was concluded of the first upstream gradient."""
    assert not (found.bad & found.blurred).any()
    return "bad" if found.bad[0] else "blurred" if found.blurred[0] else "right"


class TestDecide:
    def test_what_it_says_of_two_outputs(self):
        slopes = Slopes(
            np.array(["smooth", "kink"]), np.array([1.0, 2.0]), np.array([1.0, 4.0]),
            np.array([0.1, 0.2]), np.array([0.0, 0.0]), np.array([False, False]),
        )  # fmt: skip
        weights = np.array([[1.0, -3.0], [2.0, 0.0]])
        found = decide(slopes, weights, np.array([-7.0, 9.0]), MADE_UP, np.ones(2), 0)
        assert found.kind == "kink"
        assert found.analytic.tolist() == [-7, 9]
        assert found.low.tolist() == [-11, 2] and found.high.tolist() == [-5, 2]
        assert found.nearest.tolist() == [-7, 2]
        assert found.size.tolist() == [13, 2]
        assert found.error == pytest.approx(
            [0.7, 0.2 + 0.3]
        )  # and half of it, in doubt
        assert found.bad.tolist() == [False, True]

    def test_the_larger_side_is_the_size(self):
        assert verdict(5.0, left=-8.0, right=5.0).size == [8]
        assert verdict(5.0, left=-5.0, right=8.0).size == [8]

    @pytest.mark.parametrize("side", ["left", "right"])
    def test_a_side_without_a_slope_is_0(self, side):
        found = verdict(1.0, **{side: np.nan}, kind="edge")
        assert (found.low[0], found.high[0], found.kind) == (0, 2, "edge")

    def test_an_output_without_weight_changes_nothing(self):
        slopes = Slopes(
            np.array(["smooth", "unknown"]), np.array([2.0, np.nan]), np.full(2, 2.0),
            np.array([0.0, np.nan]), np.array([0.0, 0.0]), np.array([False, True]),
        )  # fmt: skip
        weights, ones = np.array([[1.0, 0.0]]), np.ones(1)
        for gradient, expected in (2.0, "right"), (0.0, "bad"):
            with np.errstate(invalid="ignore"):  # as those who ask do: 0 times infinity
                found = decide(
                    slopes, weights, gradient * ones, MADE_UP, ones, 0 * ones
                )
            assert found.kind == "smooth" and told(found) == expected

    @pytest.mark.parametrize("weight", [-2.0, 1.0])
    def test_what_is_met_is_named(self, weight):
        for kind in "edge", "jump", "kink", "unknown", "smooth":
            assert verdict(2 * weight, kind=kind, weight=weight).kind == kind

    def test_the_worst_of_what_is_met_is_named(self):
        kinds = np.array(["unknown", "kink", "jump", "edge", "smooth"])
        for least, name in enumerate(["edge", "jump", "kink", "unknown"]):
            kept = kinds[[0, 1, 2, 3, 4][: 4 - least] + [4]]
            some = Slopes(kept, *np.zeros((4, kept.size)), np.zeros(kept.size, bool))
            found = decide(
                some, np.ones((1, kept.size)), np.zeros(1), MADE_UP, np.ones(1), 0
            )
            assert found.kind == name

    @pytest.mark.parametrize("sign", [-1, 1])
    def test_the_tolerance_is_of_the_size(self, sign):
        assert told(verdict(2 + sign * 1.9e-3)) == "right"
        assert told(verdict(2 + sign * 2.1e-3)) == "bad"

    def test_between_the_sides_of_a_kink_all_is_right(self):
        between = {"left": 1.0, "right": 3.0, "kind": "kink"}
        for gradient in 1.0, 1.7, 3.0:
            assert told(verdict(gradient, **between)) == "right"
        assert told(verdict(3.1, **between)) == "bad"
        assert verdict(3.1, **between).nearest == [3]

    @pytest.mark.parametrize("analytic", [np.nan, np.inf, -np.inf])
    def test_what_is_no_number_is_bad(self, analytic):
        found = verdict(analytic, left=1.0, right=3.0, kind="kink")
        assert told(found) == "bad"
        assert found.nearest == [2 if np.isnan(analytic) else np.sign(analytic) + 2]

    def test_no_number_is_bad_where_nothing_is_known(self):
        assert told(verdict(np.nan, error=np.inf)) == "bad"
        assert told(verdict(2.0, error=np.nan)) == "blurred"

    # The slope is 2 and may be off by 1. Up to 1 + 0.002 above it all is in the
    # bounds; as far again as half of the error nothing is sure.
    @pytest.mark.parametrize(
        "known, doubt",
        [
            ({"error": 1.0}, 1 + 1.5),
            ({"hidden": 1.0}, 1.0),
            ({"noise": 1.0}, SURE),
            (
                {"hidden": 0.25, "noise": 0.5, "error": 0.5},
                0.5 + 0.75 + 0.25 + SURE / 2,
            ),
            ({"hidden": 1.0, "weight": -3.0}, 3.0),
            ({"error": 1.0, "weight": -3.0}, 3 * 2.5),
        ],
    )
    def test_bad_is_what_no_doubt_explains(self, known, doubt):
        right = 2 * known.get("weight", 1.0)
        slack = RTOL * abs(right)
        assert told(verdict(right + doubt + slack * 1.01, **known)) == "bad"
        assert told(verdict(right + doubt + slack * 0.99, **known)) == "blurred"

    def test_below_the_least_number_a_gradient_is_rounded_to_nothing(self):
        small = {"slope": 0.0, "scale": 0.0}
        assert told(verdict(7.9 * TINY, **small)) == "blurred"
        assert told(verdict(8.1 * TINY, **small)) == "bad"

    def test_right_may_be_undecided(self):
        """An error that never passes must have no room in what is measured."""
        for error, expected in (1.9e-2, "right"), (2.1e-2, "blurred"):
            assert told(verdict(2.0, error=error)) == expected
        # gap and error together
        assert told(verdict(2.0 + 1e-2, error=0.9e-2)) == "right"
        assert told(verdict(2.0 + 1e-2, error=1.2e-2)) == "blurred"
        # of the larger one of gradient and slope
        assert told(verdict(3.0, error=1.0, slope=2.0)) == "blurred"

    def test_what_may_be_off_is_said(self):
        assert verdict(2.0, error=0.5).error == [0.5]
        assert verdict(2.6, error=0.5).error == [0.5 + 0.75]

    def test_at_rest_close_to_x_a_gradient_of_0_is_no_error_yet(self):
        assert told(verdict(0.0, flat=True)) == "blurred"
        assert told(verdict(1.9e-3, flat=True)) == "blurred"
        assert told(verdict(2.1e-3, flat=True)) == "bad"
        assert told(verdict(0.0)) == "bad"
        assert told(verdict(0.0, flat=True, weight=-1.0)) == "blurred"

    def test_0_is_known_well_enough_beside_other_derivatives(self):
        rest = {"slope": 0.0, "error": 0.9 * BLUR}
        assert told(verdict(0.0, **rest)) == "right"
        assert told(verdict(0.0, **rest, scale=0.5)) == "blurred"
        assert told(verdict(1e-5, **rest)) == "blurred"  # for 0 alone
        # what doubt was needed for is not known well
        assert told(verdict(0.0, slope=2e-3, error=1.9e-3)) == "blurred"

    def test_a_slope_that_rounding_hides(self):
        rest = {"slope": 0.0, "error": 1e-3, "hidden": 1e-3}
        assert told(verdict(0.0, **rest)) == "right"
        assert told(verdict(0.0, **rest, far=1.9e-3)) == "blurred"
        assert told(verdict(0.0, **rest, far=2.1e-3)) == "right"
        assert told(verdict(0.0, slope=1.0, far=1e-9)) == "bad"
        assert told(verdict(2.0, error=1e-3, far=1e-4)) == "right"


def finding(**known):
    """Of an element with slope 1, whose gradient is right."""
    one, no = np.ones(1), np.array([False])
    plain = Finding("smooth", one, one, one, one, 0 * one, one, no, no)
    return plain._replace(
        **{k: v if k == "kind" else np.array([v]) for k, v in known.items()}
    )


class TestBesideTruth:
    def test_a_difference_that_is_further_off_than_the_gradient_is_no_evidence(self):
        seen = finding(analytic=1.1, nearest=1.3, bad=True)
        assert told(beside_truth(seen, np.ones(1), MADE_UP)) == "blurred"

    def test_a_better_one_is(self):
        seen = finding(analytic=1.3, nearest=1.1, bad=True)
        for truth in 1.0, 1.1:
            assert told(beside_truth(seen, np.array([truth]), MADE_UP)) == "bad"

    @pytest.mark.parametrize("truth", [-1.0, 1.0])
    @pytest.mark.parametrize("known", [{"bad": True}, {"blurred": True}, {}])
    def test_a_gradient_like_the_true_one_is_right(self, known, truth):
        close, off = truth * (1 + 0.99 * BLUR), truth * (1 + 1.01 * BLUR)
        seen = beside_truth(
            finding(analytic=close, nearest=7.0, **known), np.array([truth]), MADE_UP
        )
        assert told(seen) == "right" and seen.nearest == [truth if known else 7]
        other = beside_truth(
            finding(analytic=off, nearest=truth, **known), np.array([truth]), MADE_UP
        )
        assert told(other) == ("right" if not known else [*known][0])
        assert other.nearest == [truth]

    def test_the_number_in_its_place_is_the_measured_one_else(self):
        seen = finding(analytic=1.3, nearest=1.1, bad=True)
        assert beside_truth(seen, np.ones(1), MADE_UP).nearest == [1.1]


class TestClear:
    """What is further away could change nothing."""

    @pytest.mark.parametrize("kind", ["smooth", "kink", "jump"])
    def test_what_is_right(self, kind):
        assert clear(finding(kind=kind), MADE_UP)

    @pytest.mark.parametrize("kind", ["edge", "unknown"])
    def test_where_the_place_is_not_known(self, kind):
        assert not clear(finding(kind=kind), MADE_UP)

    def test_what_is_undecided(self):
        assert not clear(finding(blurred=True), MADE_UP)

    @pytest.mark.parametrize("size", [1.0, 3.0])
    @pytest.mark.parametrize("sign", [-1, 1])
    def test_what_is_clearly_bad(self, size, sign):
        slack = 10 * (RTOL * size + 1e-3)
        seen = {"bad": True, "size": size, "error": 1e-3}
        assert clear(finding(analytic=1 + sign * 1.01 * slack, **seen), MADE_UP)
        assert not clear(finding(analytic=1 + sign * 0.99 * slack, **seen), MADE_UP)

    def test_the_slope_counts_where_its_parts_are_smaller(self):
        seen = {"bad": True, "nearest": -5.0, "size": 1.0}
        assert clear(finding(analytic=-5.051, **seen), MADE_UP)
        assert not clear(finding(analytic=-5.049, **seen), MADE_UP)

    def test_at_rest_close_to_x(self):
        seen = {"analytic": 9.0, "nearest": 0.0, "bad": True}
        assert clear(finding(**seen, error=0.9e-2), MADE_UP)
        assert not clear(finding(**seen, error=1.1e-2), MADE_UP)


def test_errors_of_many_seldom_all_add_up():
    few, many = np.ones((1, 4)), np.ones((2, 10_000))
    assert together(few) == [4]
    assert together(many).tolist() == [SURE * 100] * 2
