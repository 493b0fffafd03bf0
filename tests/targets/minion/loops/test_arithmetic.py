# SPDX-License-Identifier: Apache-2.0
"""The machine's arithmetic as the oracle of loops, beside the interpreter of nests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.transform.parallel.kernels import arguments

from polyloom import frontend
from polyloom.frontend.source import Options
from polyloom.ir.nest_interpret import interpret
from polyloom.targets.minion.map.simd.arithmetic import MachineScope, machine_function
from polyloom.transform.parallel.lane_interpreter import interpret_lanes
from polyloom.transform.parallel.specialization import specialize

EXAMPLES = sorted((Path(__file__).parents[4] / "examples" / "kernels").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_oracle_computes_what_the_source_says(path: Path) -> None:
    """Without denormals the machine's arithmetic is that of `ir.semantics`."""
    nest, _ = frontend.python_nest(str(path), Options())
    made = specialize(nest, {name: 9 - n for n, name in enumerate(nest.parameters)})
    given = arguments(made)
    found = interpret_lanes(made, given, machine_function, MachineScope)
    for name, expected in interpret(made, {}, given).items():
        assert np.array_equal(found[name], expected, equal_nan=True)
