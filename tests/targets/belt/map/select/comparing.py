# SPDX-License-Identifier: Apache-2.0
"""What a function in SSA form gives, compared with what its member-independent form gives."""

from __future__ import annotations

from collections.abc import Sequence

from tests.riscv.backend.test_functions import copied, equal
from tests.transform.ssa.native import same

from polyloom.ir import ssa
from polyloom.ir.ssa_interpret import Argument, interpret
from polyloom.ir.ssa_semantics import Number, bits_value
from polyloom.targets.belt.source.interpret import interpret as interpret_belt
from polyloom.targets.belt.source.ir import Module


def check(function: ssa.Function, module: Module, values: Sequence[Argument], steps: int = 10**6) -> None:
    """Equal results and arrays; raises what the interpreter of SSA form raises."""
    original, ours = copied(values), copied(values)
    expected = interpret(function, original, steps)
    outcome = interpret_belt(module, ours, 100 * steps)
    found: Number | None = None
    if function.result is not None and outcome.results:
        lane = outcome.results[0][0]
        assert isinstance(lane, int), lane
        found = bits_value(function.result, lane & 1 if function.result.bits == 1 else lane)
    assert same(found, expected), (found, expected, values)
    assert equal(original, ours), (original, ours)
