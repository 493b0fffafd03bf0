# SPDX-License-Identifier: Apache-2.0
"""Statements that compute the same, each in a part of the iterations, become one.

    for j < i: for k < j: A[i, j] -= A[i, k] * A[k, j]
    for j >= i: for k < i: A[i, j] -= A[i, k] * A[k, j]

is one update for k < min(i, j). Two statements are united where an affine map takes the iterations of one to those of
the other such that they assign the same element from the same elements: A[i, i] -= A[i, k] * A[i, k] is A[i, j] -=
A[i, k] * A[j, k] with j = i. Since every read names the instance that it takes its value from, that is a matter of
names alone. Values of both then travel in the same way, and an array needs fewer operations, registers and signals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from polyloom.analysis.components import components
from polyloom.diagnostics import PolyloomError
from polyloom.ir.nest import Apply, Expression
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.recurrence import Final, Origin, Piece, Produced, Recurrence, System
from polyloom.sets import Affine, Condition, Polyhedron, equality
from polyloom.transform.pieces import Part, Pieces


@dataclass(frozen=True, slots=True)
class _Move:
    """Iterations of `source` as iterations of `target`: `there` gives the target's loops, `back` the source's."""

    source: Recurrence
    target: Recurrence
    there: Mapping[str, Affine]
    back: Mapping[str, Affine]

    def condition(self, condition: Condition) -> Condition:
        """What holds at an iteration of the target that is one of the source."""
        # The face of the target's space that the source's iterations fill.
        on = tuple(
            c
            for loop in self.target.loops
            for c in equality(Affine.symbol(loop), self.there[loop].substitute(self.back))
            if not (c.is_constant and not c.constant)
        )
        return Condition(tuple(Polyhedron((*p.substitute(self.back).constraints, *on)) for p in condition.pieces))

    def origin(self, origin: Origin) -> Origin:
        """With the target in the place of the source."""
        if not isinstance(origin, Produced) or origin.statement != self.source.name:
            return origin
        at = dict(zip(self.source.loops, origin.index, strict=True))
        index = tuple(self.there[loop].substitute(at) for loop in self.target.loops)
        return Produced(self.target.name, index)

    def read_origin(self, origin: Origin) -> Origin:
        """What an iteration of the source reads, by the loops of the target."""
        return replace(origin, index=tuple(a.substitute(self.back) for a in origin.index))


def unite_statements(system: System) -> System:
    """Union of equal statements on disjoint domains (statement merging; the inverse of index set splitting, Griebl,
    Feautrier, Lengauer 2000): the same values from fewer statements; the system itself where none are alike.
    """
    while (made := next(_unions(system), None)) is not None:
        system = made
    return system


def _unions(system: System) -> Iterator[System]:
    for group in _recurrences(system):
        # A deeper statement takes a shallower one in, of equally deep ones the first.
        deepest = sorted(group, key=lambda e: -len(e.loops))
        for n, target in enumerate(deepest):
            for source in deepest[n + 1 :]:
                move = _move(source, target)
                made = _merge(system, move) if move else None
                if made is not None:
                    yield made


def _recurrences(system: System) -> list[list[Recurrence]]:
    """The equations that need each other: one space has to hold them in any case."""
    number = {e.name: n for n, e in enumerate(system.equations)}
    reads = {
        n: [number[p.origin.statement] for read in e.reads for p in read if isinstance(p.origin, Produced)]
        for n, e in enumerate(system.equations)
    }
    return [[system.equations[n] for n in sorted(c)] for c in components(reads)]


def _move(source: Recurrence, target: Recurrence) -> _Move | None:
    """How iterations of `source` become those of `target`, if both compute the same."""
    if source.dtype != target.dtype:
        return None
    pairs = [(source.statement.assign.target, target.statement.assign.target)]
    if not _match_expressions(source.value, target.value, pairs) or any(a.name != b.name for a, b in pairs):
        return None
    indices = [pair for a, b in pairs for pair in zip(a.index, b.index, strict=True)]
    there = _solve_loops(indices, target.loops)
    if there is None or any(theirs.substitute(there) != own for own, theirs in indices):
        return None
    back = {
        loop: Affine.symbol(m) - (affine - Affine.symbol(loop))
        for m, affine in there.items()
        for loop in source.loops
        if affine.coefficient(loop) == 1 and not (affine.symbols - {loop}) & {*source.loops}
    }
    return _Move(source, target, there, back) if len(back) == len(source.loops) else None


def _match_expressions(a: Expression, b: Expression, pairs: list[tuple[Reference, Reference]]) -> bool:
    """Whether both have the same operations; what they read goes to `pairs`."""
    match a, b:
        case Reference(), Reference():
            pairs.append((a, b))
            return True
        case Constant(), Constant():
            return replace(a, span=None) == replace(b, span=None)
        case Apply(), Apply():
            same = (a.operation, a.dtype, len(a.operands)) == (b.operation, b.dtype, len(b.operands))
            return same and all(_match_expressions(x, y, pairs) for x, y in zip(a.operands, b.operands, strict=True))
        case _:
            # Loop variables as data count differently.
            return False


def _solve_loops(indices: Sequence[tuple[Affine, Affine]], loops: Sequence[str]) -> dict[str, Affine] | None:
    """The loops of the target such that its indices, the second ones, are the first ones; None where indices do not
    say."""
    found: dict[str, Affine] = {}
    for own, theirs in indices:
        unknown = [loop for loop in loops if theirs.coefficient(loop) and loop not in found]
        if len(unknown) == 1 and abs(theirs.coefficient(unknown[0])) == 1:
            rest = (theirs - Affine.symbol(unknown[0]) * theirs.coefficient(unknown[0])).substitute(found)
            found[unknown[0]] = (own - rest) * theirs.coefficient(unknown[0])
    return found if len(found) == len(loops) else None


def _merge(system: System, move: _Move) -> System | None:
    """With both statements as one; None where they share iterations, or where no conditions describe the union."""
    pieces = Pieces.from_statements([e.statement for e in system.equations], system.parameters, system.assumptions)
    source, target = move.source, move.target
    own = pieces.set(target.domain, target.name)
    other = pieces.set(move.condition(source.domain), target.name)
    # An instance that both compute would be defined twice.
    if not own.is_disjoint(other):
        return None
    try:
        domain = pieces.condition(own.union(other))
        reads = tuple(
            pieces.join_parts([*_target_parts(read, move, pieces), *_source_parts(more, move, pieces)], target.name)
            for read, more in zip(target.reads, source.reads, strict=True)
        )
    except PolyloomError:  # a stride is no condition
        return None
    made = replace(target, statement=replace(target.statement, domain=domain), reads=reads)
    equations = (made if e is target else _redirect_reads(e, move) for e in system.equations if e is not source)
    finals = tuple(_final(f, move) for f in system.finals)
    reasons = tuple(r for r in system.reasons if r[0] != source.name)
    return replace(system, equations=tuple(equations), finals=finals, reasons=reasons)


def _target_parts(read: tuple[Piece, ...], move: _Move, pieces: Pieces) -> Iterator[Part]:
    for p in read:
        yield pieces.set(p.domain, move.target.name), move.origin(p.origin)


def _source_parts(read: tuple[Piece, ...], move: _Move, pieces: Pieces) -> Iterator[Part]:
    for p in read:
        yield pieces.set(move.condition(p.domain), move.target.name), move.read_origin(move.origin(p.origin))


def _redirect_reads(equation: Recurrence, move: _Move) -> Recurrence:
    reads = tuple(tuple(Piece(p.domain, move.origin(p.origin)) for p in read) for read in equation.reads)
    return replace(equation, reads=reads)


def _final(final: Final, move: _Move) -> Final:
    if final.statement != move.source.name:
        return final
    index = tuple(a.substitute(move.back) for a in final.index)
    return Final(final.name, index, move.target.name, move.condition(final.domain))
