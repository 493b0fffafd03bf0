# SPDX-License-Identifier: Apache-2.0
"""Circuits of distance zero among the variables of a phase.

All equations of one variable write one register at one time of their iteration, since whoever reads it reads it at one
time. So a circuit of variables within an iteration has no schedule, even if no single iteration has all of it and the
equations, instance by instance, have none (`analysis.cycles`).
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.analysis.components import components
from polyloom.ir.pla import Program, Reference
from polyloom.sets.isl import parameter_set, to_set


def has_zero_circuit(program: Program) -> bool:
    """Zero-distance circuit of variables within one iteration: without a schedule (Rau 1994: recurrence with distance
    0).
    """
    number = {v.name: n for n, v in enumerate(program.variables)}
    feeds = {(number[r], number[w]) for r, w in _reads(program)}
    # Only those on a circuit are asked about by isl.
    suspect = _circular(feeds, len(number))
    if not suspect:
        return False
    names = {name for name, n in number.items() if n in suspect}
    real = {(number[r], number[w]) for r, w in _reads(program) if {r, w} <= names and _meet(program, r, w)}
    return bool(_circular(real, len(number)))


def _reads(program: Program) -> Iterator[tuple[str, str]]:
    """(reader, what it reads in the same iteration)."""
    variables = {v.name for v in program.variables}
    for e in program.equations:
        for operand in e.operands:
            if (
                isinstance(operand, Reference)
                and {e.target.name, operand.name} <= variables
                and not any(program.distance(operand))
            ):
                yield e.target.name, operand.name


def _circular(feeds: set[tuple[int, int]], count: int) -> set[int]:
    """Nodes on circuits: members of components of several nodes, or with an edge to themselves."""
    found = components({n: [w for r, w in feeds if r == n] for n in range(count)})
    return {n for part in found for n in part if len(part) > 1 or (n, n) in feeds}


def _meet(program: Program, reader: str, writer: str) -> bool:
    """Whether some iteration has a value of `writer` that `reader` reads in it."""
    domain = parameter_set(program.assumptions, program.parameters)
    readers = [
        e
        for e in program.equations
        if e.target.name == reader
        and any(isinstance(o, Reference) and o.name == writer and not any(program.distance(o)) for o in e.operands)
    ]
    writers = [e for e in program.equations if e.target.name == writer]
    return any(
        not to_set(r.condition, program.dimensions, program.parameters)
        .intersect(to_set(w.condition, program.dimensions, program.parameters))
        .intersect_params(domain)
        .is_empty()
        for r in readers
        for w in writers
    )
