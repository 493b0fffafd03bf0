# SPDX-License-Identifier: Apache-2.0
"""CP-SAT, set up so that the same question has the same answer on every run.

Its Python module imports pandas, 0.3 s that who runs a file need not wait for: it is imported where it is first used.
"""

from __future__ import annotations

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec
from typing import TYPE_CHECKING

_NAME = "ortools.sat.python.cp_model"
if TYPE_CHECKING or _NAME in sys.modules:
    from ortools.sat.python import cp_model
else:
    _spec = find_spec(_NAME)
    _spec.loader = LazyLoader(_spec.loader)
    sys.modules[_NAME] = cp_model = module_from_spec(_spec)
    _spec.loader.exec_module(cp_model)


def solver(deterministic_limit: float) -> cp_model.CpSolver:
    """A solver whose limit counts its work, not seconds of a clock."""
    result = cp_model.CpSolver()
    result.parameters.num_workers = 1
    result.parameters.random_seed = 1
    result.parameters.max_deterministic_time = deterministic_limit
    # Its handler ends a search with what there is, and takes Python's own away for good.
    result.parameters.catch_sigint_signal = False
    return result
