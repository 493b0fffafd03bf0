# SPDX-License-Identifier: Apache-2.0
"""Phase splitting: a phase that needs more registers than an element has, or of which a single iteration does most,
becomes two phases that run one after the other.

The graph of its variables is cut in an order in which values flow forward, near its middle, where the fewest of them
cross. What crosses is kept in an array, one element for each iteration that has a value; what is cheap (copies of
inputs, and a few operations on them) is computed on both sides. The first phase must not write an array that the second
one reads from the banks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, TypeAlias

from polyloom.diagnostics import PolyloomError
from polyloom.ir.pla import Array, Program
from polyloom.ir.plan import Phase
from polyloom.ir.steps import Steps, Tree, as_loop
from polyloom.targets.tcpa.map.phases.phase_graph import CHEAP, Flow, Halves

ONCE: Final = "the operations of a single iteration would set the interval of all others"
"""Why it is one."""
REGISTERS: Final = frozenset({"PL0403", "PL0404", "PL0405", "PL0406", "PL0460", "PL0461", "PL0462"})
"""What an element has too few of."""
TRIED: Final = 8
"""Places to cut at that are judged."""
Shortage = Callable[[Program], int]
"""How many registers a program lacks at the least, whatever its schedule."""
Leaves: TypeAlias = tuple[list[tuple[Phase, int]], tuple[Array, ...]]
"""Phases, each with the number of parts that it may become, and the arrays between them."""
PARTS: Final = 8
"""Into how many a phase is cut at most."""


Part: TypeAlias = tuple[Phase, bytes]
"""A phase with its file."""
Compiled = Callable[[Phase, str], bytes]
"""Makes the file of a phase, given why it is one of several; nothing where it is whole."""


def fit_phase(
    phase: Phase,
    counters: frozenset[str],
    taken: set[str],
    compiled: Compiled,
    parts: int = PARTS,
    shortage: Shortage = lambda _: 0,
    reason: str = "",
) -> tuple[list[Part], tuple[Array, ...]]:
    """The phase, or phases that do the same and that fit, and the arrays between them. Errors: those of `compiled`.

    `taken` are the names of the plan; the names of new arrays are added to it. `reason` is why the phase is itself a
    part."""

    def fit_leaves(leaves: Leaves, reason: str) -> tuple[list[Part], tuple[Array, ...]]:
        (phases, kept), made = leaves, list[Part]()
        for one, most in phases:
            more, arrays = fit_phase(one, counters, taken, compiled, most, shortage, reason)
            made += more
            kept += arrays
        return made, kept

    if parts > 1 and (halves := _split_single_iteration(phase, counters, taken)) is not None:
        # Splitting off a single iteration only makes the interval shorter: where its parts do not fit, the whole phase
        # may.
        with suppress(PolyloomError):
            return fit_leaves(_pair_parts(halves, parts), ONCE)
    try:
        return [(phase, compiled(phase, reason))], ()
    except PolyloomError as error:
        found = error.diagnostics[0]
        leaves = _divide_phase(phase, counters, taken, parts, shortage) if found.code in REGISTERS else None
        if leaves is None:
            raise
        try:
            return fit_leaves(leaves, found.message)
        except PolyloomError:
            # The user gets the error of the whole phase, which names what the program itself needs.
            raise error from None


def expand_parts(tree: Tree[Phase], parts: Iterator[Sequence[Phase]]) -> Tree[Phase]:
    """Plan with the parts of each phase in its place; `parts` come in the order of the text."""
    made: list[Phase | Steps[Phase]] = []
    for node in tree:
        if (loop := as_loop(node)) is not None:
            made.append(replace(loop, body=expand_parts(loop.body, parts)))
        else:
            made += next(parts)
    return tuple(made)


def _split_single_iteration(phase: Phase, counters: frozenset[str], taken: set[str]) -> Halves | None:
    """What a single iteration does and what follows it, where the interval of all would be that iteration's."""
    flow = Flow(phase, 0, True)
    first = flow.once(counters)
    return flow.split_phase(first, taken) if first else None


def _pair_parts(halves: Halves, parts: int) -> Leaves:
    first, second, kept = halves
    # Halving the number of parts bounds the depth of the recursion, and with it the number of solver runs.
    return [(first, parts // 2), (second, parts // 2)], kept


def _divide_phase(
    phase: Phase, counters: frozenset[str], taken: set[str], parts: int, shortage: Shortage
) -> Leaves | None:
    """The phase in two, or in so many parts that each may fit; None if there are not so many, before anything is
    solved."""
    halves = _choose_cut(phase, counters, taken, shortage) if parts > 1 else None
    if halves is None:
        return None
    (both, kept), made = _pair_parts(halves, parts), list[tuple[Phase, int]]()
    for half, most in both:
        more = _divide_phase(half, counters, taken, most, shortage) if shortage(half.program) else ([(half, most)], ())
        if more is None:
            return None
        made += more[0]
        kept += more[1]
    return made, kept


def _choose_cut(phase: Phase, counters: frozenset[str], taken: set[str], shortage: Shortage) -> Halves | None:
    """Cut selection: the first of the cuts whose halves may fit; if there is none, the one whose halves lack least."""
    least: tuple[int, Halves, set[str]] | None = None
    # Where all that could cross is cheap, it is kept all the same.
    for cheap, is_late in ((CHEAP, True), (0, True), (CHEAP, False), (0, False)):
        flow = Flow(phase, cheap, is_late)
        for cut in flow.cuts(counters)[:TRIED]:
            # Each cut that is tried takes new names; only those of the chosen one stay taken.
            names = set(taken)
            halves = flow.split_phase(cut, names)
            short = sum(shortage(half.program) for half in halves[:2])
            if least is None or short < least[0]:
                least = short, halves, names
            if not short:
                break
        if least is not None and not least[0]:
            break
    if least is None:
        return None
    taken |= least[2]
    return least[1]
