"""`check_gradient`: the gradient of an op, compared with differences.

`check` has the order of steps. `tape` is what TensorFlow computes, `differences` what
steps beside x tell of a derivative, `verdict` what both say, `report` what users get.
"""

from .check import check_gradient
from .report import GradientReport

__all__ = ["GradientReport", "check_gradient"]
