# SPDX-License-Identifier: Apache-2.0
"""Milliseconds to judge generated litmus tests: two harts, and four harts of six memory operations, by locations and
fences.

CPU times, from text to verdict; a test of two harts is the median of five runs, one of four harts is run once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from statistics import median
from time import process_time
from typing import Final

from polyloom.diagnostics import PolyloomError
from polyloom.riscv.rvwmo import Verdict, check_text
from polyloom.riscv.rvwmo.litmus import And, Declaration, Equal, Instruction, Litmus, Register, Statement, print_litmus
from polyloom.riscv.rvwmo.values import Pointer

_KINDS: Final = (
    (2, 2, 2, 0.5),
    (2, 4, 3, 0.5),
    (2, 6, 4, 0.5),
    (4, 6, 2, 0.0),
    (4, 6, 2, 0.3),
    (4, 6, 2, 1.0),
    (4, 6, 4, 0.0),
    (4, 6, 4, 0.3),
    (4, 6, 4, 1.0),
    (4, 6, 6, 0.3),
)
"""Harts, memory operations of each, locations, and how often a fence stands between two operations."""
_TESTS: Final = 10
_FENCES: Final = (("fence", ("rw", "rw")), ("fence", ("r", "rw")), ("fence", ("w", "w")), ("fence.tso", ()))


def rows() -> Iterator[dict[str, object]]:
    yield from (_row(*kind) for kind in _KINDS)


def _row(harts: int, operations: int, locations: int, fences: float) -> dict[str, object]:
    texts = [print_litmus(generate_test(harts, operations, locations, fences, seed)) for seed in range(_TESTS)]
    runs = [[_run(text) for _ in range(5 if harts == 2 else 1)] for text in texts]
    verdicts = [verdict for timed in runs if (verdict := timed[0][0]) is not None]
    seconds = [median(time for _, time in timed) for timed in runs]
    return {
        "harts": harts,
        "operations per hart": operations,
        "locations": locations,
        "fences": fences,
        "beyond the bound": len(runs) - len(verdicts),
        "executions (median)": int(median(v.positive + v.negative for v in verdicts)),
        "executions (most)": max(v.positive + v.negative for v in verdicts),
        "ms (median)": 1e3 * median(seconds),
        "ms (slowest)": 1e3 * max(seconds),
    }


def _run(text: str) -> tuple[Verdict | None, float]:
    """No verdict where the bound on work does not suffice."""
    start = process_time()
    try:
        verdict = check_text(text)
    except PolyloomError as error:
        # Too many executions is an outcome of the table; anything else is a fault.
        if error.diagnostics[0].code != "PL0944":
            raise
        verdict = None
    return verdict, process_time() - start


def generate_test(harts: int, operations: int, locations: int, fences: float, seed: int) -> Litmus:
    """Random loads and stores of different values; the first load of each hart is observed."""
    source = random.Random(seed)
    declarations = tuple(
        Declaration(Register(hart, 20 + n), Pointer(f"v{n}")) for hart in range(harts) for n in range(locations)
    )
    programs = tuple(
        tuple(Statement(each) for each in _program(source, hart, operations, locations, fences))
        for hart in range(harts)
    )
    observed = [Register(hart, _observed_register(program)) for hart, program in enumerate(programs)]
    return Litmus(
        "generated",
        programs,
        declarations,
        "exists",
        And(tuple(Equal(register, 0) for register in observed if register.number)),
    )


def _program(source: random.Random, hart: int, operations: int, locations: int, fences: float) -> Iterator[Instruction]:
    for number in range(operations):
        if number and source.random() < fences:
            yield Instruction(*source.choice(_FENCES))
        address = f"0(x{20 + source.randrange(locations)})"
        if source.random() < 0.5:
            yield Instruction("lw", (f"x{10 + number}", address))
        else:
            yield Instruction("li", ("x5", str(operations * hart + number + 1)))
            yield Instruction("sw", ("x5", address))


def _observed_register(program: tuple[Statement, ...]) -> int:
    """The register that it writes, or 0."""
    loads = (s.instruction.operands[0] for s in program if s.instruction is not None and s.instruction.mnemonic == "lw")
    return int(next(loads, "x0")[1:])
