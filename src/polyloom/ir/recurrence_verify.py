# SPDX-License-Identifier: Apache-2.0
"""Verifier of recurrence equations, as a list of rules local to names and dimensions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from polyloom.diagnostics import Diagnostic, enforce
from polyloom.ir.nest import accesses
from polyloom.ir.recurrence import Origin, Produced, Recurrence, Stored, System
from polyloom.sets import Affine, Condition

Rule = Callable[[System], Iterator[Diagnostic]]


def verify(system: System) -> None:
    """Raise PL0979 with every violation of the first rule that is violated."""
    enforce(RULES, system)


def names_are_unique(system: System) -> Iterator[Diagnostic]:
    for name, number in Counter([*(e.name for e in system.equations), *(s.name for s in system.storage)]).items():
        if number > 1:
            yield _fault(f"{name} occurs {number} times")


def reads_have_origins(system: System) -> Iterator[Diagnostic]:
    """Completeness of dataflow: one tuple of pieces for each read of the value."""
    for equation in system.equations:
        wanted = len(tuple(accesses(equation.value)))
        if len(equation.reads) != wanted:
            yield _fault(f"{equation.name} has {wanted} reads, and origins for {len(equation.reads)}")


def origins_are_known(system: System) -> Iterator[Diagnostic]:
    """An origin is an equation or an argument, indexed in all of its dimensions."""
    sizes = {e.name: len(e.loops) for e in system.equations} | {s.name: len(s.shape) for s in system.storage}
    for equation in system.equations:
        for origin in _origins(equation):
            name = (
                origin.statement
                if isinstance(origin, Produced)
                else origin.name
                if isinstance(origin, Stored)
                else None
            )
            if name is not None and len(origin.index) != sizes.get(name):
                yield _fault(
                    f"{equation.name} reads {name} with {len(origin.index)} indices; it has "
                    f"{sizes.get(name, 'no definition')}"
                )
    for final in system.finals:
        if final.statement not in sizes or len(final.index) != sizes.get(final.name):
            yield _fault(f"{final.name} becomes {final.statement}, with {len(final.index)} indices")


def symbols_are_known(system: System) -> Iterator[Diagnostic]:
    """Parameters, and the loops of the equation that an affine expression belongs to."""
    loops = {e.name: e.loops for e in system.equations}
    for equation in system.equations:
        affines = [a for origin in _origins(equation) for a in origin.index]
        conditions = [equation.domain, *(piece.domain for read in equation.reads for piece in read)]
        yield from _unknown_symbols(equation.name, affines, conditions, {*equation.loops, *system.parameters})
    for final in system.finals:
        yield from _unknown_symbols(
            final.name, [*final.index], [final.domain], {*loops[final.statement], *system.parameters}
        )


def _origins(equation: Recurrence) -> Iterator[Origin]:
    return (piece.origin for read in equation.reads for piece in read)


def _unknown_symbols(
    name: str, affines: list[Affine], conditions: list[Condition], known: set[str]
) -> Iterator[Diagnostic]:
    constraints = [c for condition in conditions for piece in condition.pieces for c in piece.constraints]
    for symbol in sorted({s for a in (*affines, *constraints) for s in a.symbols} - known):
        yield _fault(f"{name} mentions {symbol}, which is neither a parameter nor one of its loops")


def _fault(message: str) -> Diagnostic:
    return Diagnostic("PL0979", message)


RULES: tuple[Rule, ...] = (names_are_unique, reads_have_origins, origins_are_known, symbols_are_known)
