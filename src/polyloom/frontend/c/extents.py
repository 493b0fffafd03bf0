# SPDX-License-Identifier: Apache-2.0
"""Array extents as parameter bounds: `float A[20]` that is indexed by i < n can only be meant for n <= 20.

The parameter values for which an access leaves a constant extent upwards are projected out of its domain (Presburger
elimination by isl: Verdoolaege 2010) and excluded, judged where every parameter is at least 1, so that an empty loop
does not hide a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import islpy as isl

from polyloom.diagnostics import PolyloomError
from polyloom.ir.nest import Nest, Statement, accesses, statements
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import from_set, parameter_set, to_set
from polyloom.sets.normal_form import conjunction, normalize


def extent_assumptions(nest: Nest) -> Condition:
    """Assumptions of `nest` with the bounds on parameters that constant extents imply."""
    # Sizes of 0 execute nothing, and would make every bound look unnecessary.
    ones = Condition((Polyhedron(tuple(Affine.symbol(p) + -1 for p in nest.parameters)),))
    context = parameter_set(conjunction(nest.assumptions, ones), nest.parameters)
    result = nest.assumptions
    for statement, past in _overruns(nest):
        domain = conjunction(statement.domain, Condition((Polyhedron((past,)),)))
        allowed = context.subtract(_project(domain, statement, nest))
        # An access that leaves its array for all sizes is an error of the program, which the check of subscripts
        # reports.
        if not allowed.is_empty() and not context.is_subset(allowed):
            with suppress(PolyloomError):  # a bound with a remainder is left to the check of subscripts
                result = conjunction(result, from_set(allowed, context))
    return normalize(result)


def _overruns(nest: Nest) -> Iterator[tuple[Statement, Affine]]:
    """Overruns: affine forms that are at least 0 where an access is past a constant extent, with their statements."""
    for statement in statements(nest):
        for access in (statement.assign.target, *accesses(statement.assign.value)):
            for index, extent in zip(access.index, nest[access.name].shape, strict=True):
                # A constant index has nothing that a parameter could bound.
                if extent.is_constant and not index.is_constant:
                    yield statement, index - extent


def _project(domain: Condition, statement: Statement, nest: Nest) -> isl.Set:
    return to_set(domain, statement.loops, nest.parameters).params()
