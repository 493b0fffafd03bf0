# SPDX-License-Identifier: Apache-2.0
"""The comparison with the meaning can fail: a program that differs a little from the one that was compiled is told
apart."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.targets.tcpa.end_to_end.run import run
from tests.targets.tcpa.end_to_end.test_examples import bounds, example, mapped

from polyloom.diagnostics import PolyloomError
from polyloom.ir.pla import Program
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.words.symbolic import Symbolic

OTHER = {"add": "sub", "madd": "madd", "mul": "add", "max": "min", "shr": "shl", "and": "or"}
CASES = (("bits", (9,)), ("matmul", (4, 3, 3)), ("fir", (7, 3)), ("lcs", (5, 4)), ("matvec", (5, 3)))


def changed(program: Program, number: int) -> Program | None:
    """The program with another operation in one equation."""
    equation = program.equations[number]
    other = OTHER.get(equation.operation, equation.operation)
    if other == equation.operation:
        return None
    equations = (*program.equations[:number], replace(equation, operation=other), *program.equations[number + 1 :])
    return replace(program, equations=equations)


@pytest.mark.parametrize(("name", "sizes"), CASES)
def test_another_meaning_is_noticed(name: str, sizes: tuple[int, ...]) -> None:
    machine, program = machine_file.load("unit"), example(name)
    run(program, mapped(name, "unit"), machine, bounds(name, sizes), (2, 2))
    others = [p for n in range(len(program.equations)) if (p := changed(program, n)) is not None]
    assert others
    for other in others:
        with pytest.raises(AssertionError):
            for seed in range(8):
                run(other, mapped(name, "unit"), machine, bounds(name, sizes), (2, 2), seed)


def _late(symbolic: Symbolic, node: int, cycles: int) -> Symbolic:
    """The same mapping with a wrong latency of one node, as if a schedule had not been checked."""
    schedules = tuple(
        replace(s, latency=tuple(c + cycles if v == node else c for v, c in enumerate(s.latency)))
        for s in symbolic.schedules
    )
    return replace(symbolic, schedules=schedules)


@pytest.mark.parametrize("name", ["bits", "matmul", "lcs"])
def test_a_wrong_latency_in_the_mapping_is_noticed(name: str) -> None:
    """Guards, depths and delays then belong to another machine: every producer of a value through a FIFO or a bank is
    found out."""
    machine, symbolic = machine_file.load("unit"), mapped(name, "unit")
    producers = {w.node for u in symbolic.uses if any(u.distance) for w in u.writers} | {
        o.producer for o in symbolic.outputs
    }
    sizes = dict(CASES)[name]
    noticed = 0
    for node in sorted(producers):
        try:
            run(example(name), _late(symbolic, node, 1), machine, bounds(name, sizes), (2, 2))
        except (AssertionError, PolyloomError):
            noticed += 1
    # A value that waits anyway may come a cycle early without consequences; the outputs' generators never wait.
    assert noticed >= max(1, len({o.producer for o in symbolic.outputs}))
