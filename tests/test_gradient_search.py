"""How wrong elements are found and what is concluded, from made-up measurements."""

from types import SimpleNamespace

import numpy as np
import pytest

from custom_ops.gradient_in_float64 import right_in_float64
from custom_ops.gradient_search import Search, Settled
from custom_ops.gradient_verdict import PRECISIONS, Finding

NO, YES, ONE = np.array([False]), np.array([True]), np.ones(1)


def finding(**known):
    """Of an element with slope 1, whose gradient is right."""
    plain = Finding("smooth", ONE, ONE, ONE, ONE, 0 * ONE, ONE, NO, NO)
    return plain._replace(**known)


@pytest.fixture
def probe():
    return SimpleNamespace(
        x=np.ones(4),
        weights=np.ones((1, 1)),
        rng=np.random.default_rng(0),
        precision=PRECISIONS["float32"],
        inputs=SimpleNamespace(unit=np.full(4, 100.0)),
    )


def settled(**known):
    return Settled(np.zeros(4, bool), **known)


class TestSecondOpinion:
    """float32 was looked at again in float64, where the gradient of all is 1."""

    def ask(self, probe, first, wide, gradient=1.0):
        Search(probe, None).ask_again(first, (wide, np.full((1, 4), gradient)))
        return first

    def test_a_wrong_one_is_shown_as_it_was_measured(self, probe):
        wrong = finding(analytic=2 * ONE, bad=YES)
        finer = finding(analytic=2 * ONE, nearest=1.25 * ONE, bad=YES)
        first = self.ask(
            probe,
            settled(findings={0: wrong}, wrong=[0]),
            settled(findings={0: finer}, wrong=[0]),
        )
        assert first.findings[0] is wrong and first.wrong == [0]

    def test_what_was_undecided_is_wrong_where_float64_says_so(self, probe):
        finer = finding(bad=YES)
        first = self.ask(
            probe,
            settled(findings={0: finding(blurred=YES)}),
            settled(findings={0: finer}, wrong=[0]),
        )
        assert first.findings[0] is finer and first.wrong == [0]

    def test_another_gradient_in_float64_says_nothing(self, probe):
        unsure = finding(blurred=YES)
        first = self.ask(
            probe,
            settled(findings={0: unsure}),
            settled(findings={0: finding(bad=YES)}, wrong=[0]),
            3.0,
        )
        assert first.findings[0] is unsure and not first.wrong

    @pytest.mark.parametrize(
        "seen", [{"together": (np.arange(2), finding(bad=YES))}, {"wrong": [3]}]
    )
    def test_what_is_wrong_together_stays_so(self, probe, seen):
        first = settled(together=(np.arange(2), finding(bad=YES)))
        assert self.ask(probe, first, settled(**seen)).together

    def test_what_is_wrong_together_in_one_dtype_only_is_undecided(self, probe):
        first = settled(together=(np.arange(2), finding(bad=YES)))
        self.ask(probe, first, settled())
        assert first.together is None and first.undecided == 2
        assert not first.negligible

    @pytest.mark.parametrize(
        "seen, right",
        [
            ({}, True),
            ({"wrong": [0]}, False),
            ({"undecided": 1}, False),
            ({"together": (np.arange(2), finding(bad=YES))}, False),
        ],
    )
    def test_right_in_float64(self, monkeypatch, seen, right):
        monkeypatch.setattr(
            "custom_ops.gradient_in_float64.in_float64",
            lambda check: (settled(**seen), None),
        )
        assert right_in_float64(None) == right


class TestSearch:
    def test_all_at_once_takes_one_look_where_the_gradient_is_right(self, probe):
        probe.glance = lambda *_: (True, ONE, ONE, 0.0)
        probe.look_closer = None  # not to be called
        Search(probe, 2).look_at_all(settled(), np.ones((1, 4)))

    def test_wrong_together_and_right_alone(self, probe):
        """Halves are looked at until one number is left; what was found stays known."""
        probe.direction = lambda where: np.ones(where.size)
        probe.glance = lambda where, *_: (where.size == 1, ONE, ONE, 1.0)
        probe.look_closer = lambda where, *_: finding(bad=np.array([where.size > 1]))
        first = settled()
        doubts = [(1.0, np.arange(4), np.ones(4))]
        Search(probe, 2).take_apart(first, doubts, np.ones((1, 4)))
        assert first.together[0].tolist() == [0, 1, 2, 3] and not first.wrong
        assert first.stand_for_all() == [0]

    @pytest.mark.parametrize("error, negligible", [(1, True), (4, False)])
    @pytest.mark.parametrize("where, unit", [([0], 1.0), ([0, 1, 2, 3], 200.0)])
    def test_what_is_undecided_is_small_beside_the_largest_gradient(
        self, probe, where, unit, error, negligible
    ):
        """A number moves by itself; many move in proportion to their units."""
        first, where = settled(), np.array(where)
        error = np.array([error * probe.precision.blur * unit])
        unsure = finding(error=error, blurred=YES)
        gradient = np.array([[1, 2, -1, np.nan]])
        Search(probe, None).count_undecided(first, where, unsure, gradient)
        assert first.undecided == where.size and first.negligible == negligible

    def test_an_error_beside_no_gradient_at_all(self, probe):
        first = settled(analytic=np.zeros((1, 4)), numeric=np.full((1, 4), 0.5))
        Search(probe, 2).summarize(first, np.zeros((1, 4)))
        assert first.largest_error == 0.5
