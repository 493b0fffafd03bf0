# SPDX-License-Identifier: Apache-2.0
"""Reads through copies: who reads what a statement copied reads what that statement read, so that temporaries cost
nothing.

A copy is a statement whose value is one read, or a constant. Origins are composed, piece by piece: where R[I] takes its
value from W[f(I)] and W[J] copies P[g(J)] on a domain D, R[I] takes it from P[g(f(I))] where f(I) is in D. Copies that
reach themselves through copies (x[i] = x[i-1], a pipeline of the user's) are recurrences and stay, so that this
terminates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import islpy as isl

from polyloom.analysis.components import components
from polyloom.ir.nest import Apply
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.recurrence import Final, Immediate, Origin, Piece, Produced, Recurrence, System
from polyloom.sets import Condition
from polyloom.sets.isl import affine_map, affines
from polyloom.sets.normal_form import conjunction
from polyloom.transform.pieces import Part, Pieces, affine_pieces, with_loop_names

Copies = Mapping[str, tuple[Piece, ...]]
"""What each copy's one read finds, itself read through earlier copies."""


def forward(system: System) -> System:
    """Copy propagation over instances (Muchnick 1997, section 12.5, here on exact dataflow): the same values of all
    outputs; reads and finals name no copy that is not part of a recurrence of copies.
    """
    pieces = Pieces.from_statements([e.statement for e in system.equations], system.parameters, system.assumptions)
    copies: dict[str, tuple[Piece, ...]] = {}
    for equation in _in_order(system):
        # Each copy after those that it reads, so that one look-up leads to the origin of a chain.
        copies[equation.name] = _forwarded_read(_copy_source(equation) or (), equation, copies, pieces)
    equations = tuple(
        replace(e, reads=tuple(_forwarded_read(read, e, copies, pieces) for read in e.reads)) for e in system.equations
    )
    finals = tuple(made for final in system.finals for made in _final(final, system[final.statement], copies, pieces))
    return replace(system, equations=equations, finals=finals)


def _copy_source(equation: Recurrence) -> tuple[Piece, ...] | None:
    """What a copy finds, None for what is no copy."""
    match equation.value:
        case Reference() | Apply(operation="move", operands=(Reference(),)):
            return equation.reads[0]
        case (Constant() as constant) | Apply(operation="move", operands=(Constant() as constant,)):
            return (Piece(equation.domain, Immediate(replace(constant, span=None))),)
        case _:
            return None


def _in_order(system: System) -> Iterator[Recurrence]:
    """The copies that no chain of copies leads back to, each after those that it reads."""
    copies = [e for e in system.equations if _copy_source(e) is not None]
    number = {e.name: n for n, e in enumerate(copies)}
    reads = {
        n: [
            number[p.origin.statement]
            for r in e.reads
            for p in r
            if isinstance(p.origin, Produced) and p.origin.statement in number
        ]
        for n, e in enumerate(copies)
    }
    for component in components(reads):
        # A copy on a cycle of copies has no origin to be replaced by.
        if len(component) == 1 and component[0] not in reads[component[0]]:
            yield copies[component[0]]


def _forwarded_read(read: tuple[Piece, ...], reader: Recurrence, copies: Copies, pieces: Pieces) -> tuple[Piece, ...]:
    if not any(isinstance(p.origin, Produced) and p.origin.statement in copies for p in read):
        return read
    return pieces.join_parts([part for piece in read for part in _parts(piece, reader, copies, pieces)], reader.name)


def _parts(piece: Piece, reader: Recurrence, copies: Copies, pieces: Pieces) -> Iterator[Part]:
    """`piece` through copies. A constant that is read only where a loop is empty would be one more case in every
    iteration: it stays where it is."""
    for domain, origin in _origins(piece, copies, pieces):
        points = pieces.set(domain, reader.name)
        yield points, piece.origin if isinstance(origin, Immediate) and pieces.is_rare(points) else origin


def _origins(piece: Piece, copies: Copies, pieces: Pieces) -> Iterator[tuple[Condition, Origin]]:
    """`piece` itself, or the pieces of the copy that it names, at the reader's points."""
    if isinstance(piece.origin, Produced) and piece.origin.statement in copies:
        yield from compose_origins(piece, copies[piece.origin.statement], pieces.loops[piece.origin.statement])
    else:
        yield piece.domain, piece.origin


def compose_origins(
    piece: Piece, inner: tuple[Piece, ...], loops: tuple[str, ...]
) -> Iterator[tuple[Condition, Origin]]:
    """Composition of origins: those that `inner`, a read of a statement with `loops`, has at the instances that `piece`
    names.
    """
    at = dict(zip(loops, piece.origin.index, strict=True))
    for part in inner:
        where = Condition(tuple(p.substitute(at) for p in part.domain.pieces))
        yield (
            conjunction(piece.domain, where),
            replace(part.origin, index=tuple(a.substitute(at) for a in part.origin.index)),
        )


def _final(final: Final, writer: Recurrence, copies: Copies, pieces: Pieces) -> Iterator[Final]:
    """The instances whose values the copy `writer` stored last, where the element that each goes to is affine in its
    own loops."""
    for piece in copies.get(writer.name, ()):
        points = pieces.set(conjunction(final.domain, piece.domain), writer.name)
        moved = _source(final, piece, points, writer, pieces)
        if moved is not None:
            yield from moved
        elif not points.is_empty():
            # The instances for which no source could be named stay with the copy.
            yield replace(final, domain=pieces.condition(points))
    if writer.name not in copies:
        yield final


def _source(final: Final, piece: Piece, points: isl.Set, writer: Recurrence, pieces: Pieces) -> list[Final] | None:
    if not isinstance(piece.origin, Produced):
        return None
    source, there = piece.origin.statement, affine_map(piece.origin.index, writer.loops, pieces.params)
    found: list[Final] = []
    back = isl.Map.from_multi_aff(there).intersect_domain(points).reverse()
    # If several copies took one value, several elements have it at the end: the final stays with the copy.
    for where, values in affine_pieces(back) if back.is_single_valued() else ():
        index = affines(values, pieces.loops[source])
        # The element that each instance of the source goes to needs a quotient.
        if index is None:
            return None
        at = dict(zip(writer.loops, index, strict=True))
        domain = pieces.condition(with_loop_names(where, pieces.loops[source]))
        found.append(Final(final.name, tuple(a.substitute(at) for a in final.index), source, domain))
    return found or None
