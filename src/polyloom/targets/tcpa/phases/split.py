# SPDX-License-Identifier: Apache-2.0
"""A phase that needs more registers than an element has, or of which a single iteration does most, as two phases that
run one after the other.

The graph of its variables is cut in an order in which values flow forward, near its middle, where the fewest of them
cross. What crosses is kept in an array, one element for each iteration that has a value; what is cheap (copies of
inputs, and a few operations on them) is computed on both sides. The first phase must not write an array that
the second one reads from the banks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from polyloom.diagnostics import PolyloomError
from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase
from polyloom.ir.steps import Steps, Tree, as_loop
from polyloom.targets.tcpa.phases.flow import CHEAP, Flow, Halves

ONCE: Final = "the operations of a single iteration would set the interval of all others"
"""Why it is one."""
REGISTERS: Final = frozenset({"PL0403", "PL0404", "PL0405", "PL0406", "PL0460", "PL0461"})
"""What an element has too few of."""
PARTS: Final = 8
"""Into how many a phase is cut at most."""


@dataclass(frozen=True, slots=True)
class Part:
    """A phase with its file, and why it is one of several."""

    phase: Phase
    data: bytes
    reason: str = ""


def fitted(
    phase: Phase, counters: frozenset[str], taken: set[str], compiled: Callable[[Phase], bytes], parts: int = PARTS
) -> tuple[list[Part], tuple[Array, ...]]:
    """The phase, or phases that do the same and that fit, and the arrays between them. Errors: those of `compiled`.

    `taken` are the names of the plan; the names of new arrays are added to it."""

    def both(halves: Halves, reason: str) -> tuple[list[Part], tuple[Array, ...]]:
        *cut, kept = halves
        made: list[Part] = []
        for half in cut:
            more, arrays = fitted(half, counters, taken, compiled, parts // 2)
            made += [replace(part, reason=part.reason or reason) for part in more]
            kept += arrays
        return made, kept

    if parts > 1 and (halves := _once(phase, counters, taken)) is not None:
        with suppress(PolyloomError):
            return both(halves, ONCE)
    try:
        return [Part(phase, compiled(phase))], ()
    except PolyloomError as error:
        found = error.diagnostics[0]
        halves = _halves(phase, counters, taken) if found.code in REGISTERS and parts > 1 else None
        if halves is None:
            raise
        try:
            return both(halves, found.message)
        except PolyloomError:
            raise error from None


def expanded(tree: Tree[Phase], parts: Iterator[Sequence[Phase]]) -> Tree[Phase]:
    """The tree with the parts of each phase, which come in the order of the text."""
    made: list[Phase | Steps[Phase]] = []
    for node in tree:
        if (loop := as_loop(node)) is not None:
            made.append(replace(loop, body=expanded(loop.body, parts)))
        else:
            made += next(parts)
    return tuple(made)


def _once(phase: Phase, counters: frozenset[str], taken: set[str]) -> Halves | None:
    """What a single iteration does and what follows it, where the interval of all would be that iteration's."""
    flow = Flow(phase, 0, True)
    first = flow.once(counters)
    return flow.separated(first, taken) if first else None


def _halves(phase: Phase, counters: frozenset[str], taken: set[str]) -> Halves | None:
    # Where all that could cross is cheap, it is kept all the same.
    for cheap, is_late in ((CHEAP, True), (0, True), (CHEAP, False), (0, False)):
        flow = Flow(phase, cheap, is_late)
        cut = flow.cut(counters)
        if cut is not None:
            return flow.separated(cut, taken)
    return None
