# SPDX-License-Identifier: Apache-2.0
"""Reads through choices whose outcome the reader knows: `select(c, t, u)` needs of `t = select(c, a, b)` only a.

Front ends turn the branches of a data-dependent `if` into assignments t = select(c, value, t), one after another. Taken
literally, each keeps the older t, often that of the iteration before, in case c does not hold, although every use is
guarded by c again. Two conditions are the same if they have the same form and read the same instances. A chosen operand
that is not a read becomes an equation of its own, which costs nothing: equations have one operation each in the end. A
recurrence of choices by a condition that does not change would be seen through for ever, in twice as many pieces each
time where it chooses between two, and stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from polyloom.ir.nest import Apply, Expression, Index, accesses
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.recurrence import Origin, Piece, Produced, Recurrence, System
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition
from polyloom.transform.forward import compose_origins
from polyloom.transform.pieces import Pieces, origin_name

Read = tuple[Piece, ...]
MOST_PIECES = 16
"""Of a read that sees through choices: more come of recurrences only."""


@dataclass(frozen=True, slots=True)
class _Fact:
    """`condition`, with the origins of its reads, holds or does not hold wherever a value matters."""

    condition: Expression
    reads: tuple[Read, ...]
    holds: bool


def forward_choices(system: System) -> System:
    """Forwarding through selects whose outcome the reader knows (path-sensitive copy propagation): the same outputs, in
    which reads under a condition see through choices by the same condition.
    """
    found, endless, many = _Equations(system), set[str](), set[str]()
    # A chain of choices has at most as many links as there are equations; each round sees through one of them.
    for _ in system.equations:
        before = dict(found.equations)
        for name in [n for n in before if n not in many]:
            reader = found.equations[name]
            made = found.forward_reads(reader)
            # Pieces that double each round come from a recurrence of choices, which has no end to see through to.
            if any(len(new) > max(MOST_PIECES, len(old)) for old, new in zip(reader.reads, made.reads, strict=True)):
                many.add(name)
            else:
                found.equations[name] = made
        endless = {e.name for e in system.equations if found.equations[e.name] != before[e.name]}
        if not endless:
            break
    # What did not settle is put back as it was: a partly unrolled recurrence would be correct, but of no use.
    kept = {e.name: e for e in system.equations if e.name in endless | many}
    return replace(system, equations=tuple((found.equations | kept).values()))


class _Equations:
    """The equations by name, in order; operands that were chosen are split off as they are needed."""

    def __init__(self, system: System) -> None:
        self.equations = {e.name: e for e in system.equations}
        self.pieces = Pieces.from_statements(
            [e.statement for e in system.equations], system.parameters, system.assumptions
        )

    def forward_reads(self, reader: Recurrence) -> Recurrence:
        reads = list(reader.reads)
        for n, facts in enumerate(_facts(reader.value, iter(reader.reads), ())):
            chosen = {
                piece: found for piece in reads[n] if (found := self.chosen_origins(piece, facts, reader)) is not None
            }
            if chosen:
                parts = [part for piece in reads[n] for part in chosen.get(piece, [(piece.domain, piece.origin)])]
                reads[n] = self.pieces.join_parts(
                    [(self.pieces.set(domain, reader.name), origin) for domain, origin in parts], reader.name
                )
        return replace(reader, reads=tuple(reads)) if tuple(reads) != reader.reads else reader

    def chosen_origins(
        self, piece: Piece, facts: tuple[_Fact, ...], reader: Recurrence
    ) -> list[tuple[Condition, Origin]] | None:
        """The origins of `piece` behind the choice that it names, if a fact decides that choice."""
        writer = self.equations[piece.origin.statement] if isinstance(piece.origin, Produced) else None
        if writer is None or not isinstance(writer.value, Apply) or writer.value.operation != "select":
            return None
        # The first fact decides: facts of nested selects agree where both hold.
        for fact in facts:
            if self.is_same_condition(fact, piece, writer, writer.value.operands[0], reader):
                return list(compose_origins(piece, self.operand(writer.name, 1 if fact.holds else 2), writer.loops))
        return None

    def is_same_condition(
        self, fact: _Fact, piece: Piece, writer: Recurrence, condition: Expression, reader: Recurrence
    ) -> bool:
        """Whether `condition` at the instances that `piece` names is the fact's."""
        at = dict(zip(writer.loops, piece.origin.index, strict=True))
        if _form(fact.condition, {}) != _form(condition, at):
            return False
        # The condition is the first operand, so its reads come first among the writer's.
        pairs = zip(fact.reads, writer.reads, strict=False)
        return all(
            self.agree_on_reads(here, part, reader)
            for mine, theirs in pairs
            for here in mine
            for part in compose_origins(piece, theirs, writer.loops)
        )

    def agree_on_reads(self, here: Piece, there: tuple[Condition, Origin], reader: Recurrence) -> bool:
        domain, origin = there
        points = self.pieces.set(domain, reader.name).intersect(self.pieces.set(here.domain, reader.name))
        # Names of arrays and of statements may be equal.
        if type(here.origin) is type(origin) and origin_name(here.origin) == origin_name(origin):
            return self.pieces.agree(points, here.origin.index, origin.index, reader.name)
        # Different origins agree where there is no point to differ at.
        return points.is_empty()

    def operand(self, name: str, n: int) -> Read:
        """Where operand n of a choice comes from, as one read."""
        writer = self.equations[name]
        assert isinstance(writer.value, Apply)
        operands = writer.value.operands
        first = sum(_width(o) for o in operands[:n])
        if not isinstance(operands[n], Reference):
            writer = self.split(writer, operands, n, first)
        return writer.reads[first]

    def split(self, writer: Recurrence, operands: tuple[Expression, ...], n: int, first: int) -> Recurrence:
        """`writer` with operand n read from a new equation, which stands before it."""
        statement, last = writer.statement, first + _width(operands[n])
        assert isinstance(writer.value, Apply)
        name = fresh_name(dotted_name(writer.name, n), {*self.equations}, dotted_name)
        made = replace(statement, assign=replace(statement.assign, name=name, value=operands[n]))
        value = replace(writer.value, operands=(*operands[:n], statement.assign.target, *operands[n + 1 :]))
        read = (Piece(statement.domain, Produced(made.assign.name, tuple(map(Affine.symbol, writer.loops)))),)
        changed = replace(
            writer,
            statement=replace(statement, assign=replace(statement.assign, value=value)),
            reads=(*writer.reads[:first], read, *writer.reads[last:]),
        )
        new = {made.assign.name: Recurrence(made, writer.dtype, writer.reads[first:last]), writer.name: changed}
        # Put in front of its reader: the text's order is the order of equations.
        self.equations = {
            name: e
            for old in self.equations.values()
            for name, e in (new if old.name == writer.name else {old.name: old}).items()
        }
        self.pieces = replace(self.pieces, loops={**self.pieces.loops, made.assign.name: writer.loops})
        return changed


def _facts(value: Expression, reads: Iterator[Read], known: tuple[_Fact, ...]) -> Iterator[tuple[_Fact, ...]]:
    """Path conditions of each read: what is known wherever it matters, in the order of the reads."""
    match value:
        case Reference():
            next(reads)
            yield known
        case Apply(operation="select", operands=(condition, yes, no)):
            # Reads of the condition come first; they are also part of what identifies the fact.
            own = [next(reads) for _ in accesses(condition)]
            yield from _facts(condition, iter(own), known)
            for branch, holds in ((yes, True), (no, False)):
                yield from _facts(branch, reads, (*known, _Fact(condition, tuple(own), holds)))
        case Apply(operands=operands):
            for operand in operands:
                yield from _facts(operand, reads, known)
        case _:
            pass


def _width(expression: Expression) -> int:
    return sum(1 for _ in accesses(expression))


def _form(expression: Expression, at: dict[str, Affine]) -> object:
    """`expression` without its names and places, its loops replaced."""
    match expression:
        case Reference():
            return "read"
        case Constant(value=value, dtype=dtype):
            return value, dtype
        case Index(value=value, dtype=dtype):
            return value.substitute(at), dtype
        case Apply(operation=operation, dtype=dtype, operands=operands):
            return operation, dtype, tuple(_form(o, at) for o in operands)
