"""`check_gradient`: the gradient of an op, compared with differences.

`check` has the order of steps. `tape` is what TensorFlow computes, `differences` what
steps beside x tell of a derivative, and `verdict` what both say together. `report` is
what a user gets.
"""

from .check import check_gradient
from .report import GradientReport

__all__ = ["GradientReport", "check_gradient"]
