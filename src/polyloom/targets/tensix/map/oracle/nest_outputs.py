# SPDX-License-Identifier: Apache-2.0
"""Reference outputs of a program: its equations, or, where they are many, the nest that they come from, whose parallel
loops NumPy computes together. Both give the same bits (`transform.parallel.lane_interpreter`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from polyloom.frontend.source import Arrays, Source
from polyloom.ir.instance_counts import count_operations
from polyloom.ir.nest import Nest
from polyloom.ir.nest_interpret import nest_signature
from polyloom.ir.numbers import NUMPY
from polyloom.ir.plan_interpret import interpret
from polyloom.transform.parallel.lane_interpreter import interpret_lanes
from polyloom.transform.parallel.specialization import specialize

_SMALL: Final = 1 << 15
"""Operations up to which equations are interpreted as they stand, one Python step each."""


def nest_outputs(source: Source, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    """Outputs of a source that is a nest, with the bits of its equations, if it has any. Errors: PL0233."""
    assert source.nest is not None, "sources of equations have no nest"
    nest = specialize(source.nest, values)
    operations = count_operations(nest)
    if operations is not None and operations <= _SMALL and source.plan.phases:
        return interpret(source.plan, values, inputs)
    return _lane_outputs(nest, inputs)


def program_outputs(nest: Nest, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    """Outputs of a program that is a nest without equations. Errors: PL0233."""
    return _lane_outputs(specialize(nest, values), inputs)


def _lane_outputs(nest: Nest, inputs: Arrays) -> Arrays:
    found = interpret_lanes(nest, argument_arrays(nest, inputs))
    return {array.name: found[array.name] for array in nest_signature(nest).outputs}


def argument_arrays(nest: Nest, inputs: Arrays) -> dict[str, np.ndarray]:
    """Arguments of a nest in the types of its storage; those that only are results begin with 0."""
    return {
        s.name: np.asarray(inputs[s.name], NUMPY[s.dtype]).reshape(tuple(e.constant for e in s.shape))
        for s in nest.storage
        if s.role == "argument" and s.name in inputs
    }
