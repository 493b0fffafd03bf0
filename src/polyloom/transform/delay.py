# SPDX-License-Identifier: Apache-2.0
"""Results that a phase must not write yet, because a later phase reads what the elements held at entry.

Within a phase, inputs are those at its start. Between phases a write is seen: such a result is kept apart and copied
last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom.ir.nest import Statement
from polyloom.ir.recurrence import Final, Piece, Produced, Recurrence, Stored, System
from polyloom.names import fresh_name, hidden_dims
from polyloom.sets import Affine
from polyloom.transform.space import iteration_space


def delay_writes(system: System, groups: Sequence[Sequence[Recurrence]]) -> tuple[System, list[Recurrence]]:
    """Anti-dependences between phases removed by renaming (Kuck et al. 1981): `system` with a copy for each result that
    comes too early for groups that follow one another, and the copies.
    """
    phase = {e.name: n for n, group in enumerate(groups) for e in group}
    # An anti-dependence across phases: a later phase still wants the element's old value.
    early = [
        f
        for f in system.finals
        if any(_reads(system, e, f) for e in system.equations if phase[e.name] > phase[f.statement])
    ]
    # Statement names are labels of equations too, and must stay unique.
    taken = system.labels
    copies = {f: _copy(system, f, n, taken) for n, f in enumerate(early, 1)}
    finals = tuple(replace(f, statement=copies[f].name) if f in copies else f for f in system.finals)
    reasons = tuple((c.name, f"writes {f.name} after its old elements were read") for f, c in copies.items())
    added = list(copies.values())
    return replace(
        system, equations=(*system.equations, *added), finals=finals, reasons=(*system.reasons, *reasons)
    ), added


def _reads(system: System, equation: Recurrence, final: Final) -> bool:
    """Whether `equation` reads, as given, an element that `final` writes."""
    cells = hidden_dims(len(final.index))
    own, writer = (iteration_space(system, e) for e in (equation, system[final.statement]))
    written = writer.image(writer.set(final.domain), final.index, cells)
    pieces = [(p.domain, p.origin) for read in equation.reads for p in read]
    return any(
        isinstance(o, Stored)
        and o.name == final.name
        and not own.image(own.set(domain), o.index, cells).is_disjoint(written)
        for domain, o in pieces
    )


def _copy(system: System, final: Final, number: int, taken: set[str]) -> Recurrence:
    writer = system[final.statement]
    assign = writer.statement.assign
    name = fresh_name(f"{assign.name}.last{number}", taken)
    statement = Statement(
        replace(assign, name=name, value=assign.target), writer.loops, final.domain, writer.statement.order
    )
    value = Produced(writer.name, tuple(map(Affine.symbol, writer.loops)))
    return Recurrence(statement, writer.dtype, ((Piece(final.domain, value),),))
