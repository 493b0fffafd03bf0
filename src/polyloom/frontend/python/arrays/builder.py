# SPDX-License-Identifier: Apache-2.0
"""The program that is being made: its arrays, its statements, and what is known of sizes where the text executes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from polyloom.diagnostics import Span
from polyloom.ir.arrays.program import Apply, For, If, Read, Shape, Statement, Store, Value, dtype, read_array, shape
from polyloom.ir.arrays.quotients import bound, quotient
from polyloom.ir.nest import Storage
from polyloom.ir.operations import ElementType
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import polyhedron_to_set
from polyloom.transform.arrays.ranges import bound_by_sizes


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What `Builder.restore` goes back to."""

    storage: dict[str, Storage]
    taken: frozenset[str]
    statements: tuple[Statement, ...]
    assumptions: tuple[Affine, ...]


class Builder:
    """`statements` are those of the block that is being read, `loops` those around it, `domain` what is at least 0 in
    it, `assumptions` what sizes must satisfy, `guard` the condition on data under which stores show, `prologue` what
    runs before all (mutable)."""

    def __init__(self, taken: set[str]) -> None:
        self.storage, self.taken = dict[str, Storage](), taken
        self.statements, self.loops = list[Statement](), dict[str, For]()
        self.domain, self.assumptions = list[Affine](), list[Affine]()
        self.guard: Value | None = None
        self.prologue = list[Statement]()

    def snapshot(self) -> Snapshot:
        return Snapshot({**self.storage}, frozenset(self.taken), tuple(self.statements), tuple(self.assumptions))

    def restore(self, to: Snapshot) -> None:
        self.storage, self.taken = {**to.storage}, set(to.taken)
        self.statements, self.assumptions = [*to.statements], [*to.assumptions]

    def store(self, target: Read, value: Value, span: Span | None) -> None:
        """A store; under a condition on data what was there stays where that does not hold."""
        if self.guard is not None:
            value = Apply("select", target.dtype, (self.guard, value, target), span)
        self.statements.append(Store(target, value, span))

    def local(self, value: Value, span: Span | None, name: str = "t") -> Read:
        """A new local array that holds a value."""
        found = self.array(name, dtype(value), shape(value), span)
        self.statements.append(Store(found, value, span))
        return found

    def array(self, name: str, kind: ElementType, extents: Shape, span: Span | None) -> Read:
        """A new local array without elements yet."""
        room = tuple(bound_by_sizes(extent, self.loops) for extent in extents)
        storage = Storage(fresh_name(name.strip("_") or "t", self.taken), kind, room, "local", True, span)
        self.storage[storage.name] = storage
        return replace(read_array(storage, span), shape=extents)

    def proves(self, *forms: Affine) -> bool:
        """Whether each form is at least 0 wherever the text executes."""
        return all(self._proves(form) for form in forms)

    def _proves(self, form: Affine) -> bool:
        if form.is_constant:
            return form.constant >= 0
        known = [*self.domain, *self.assumptions, -form - 1]
        for name in {n for each in known for n in each.symbols}:
            found = quotient(Affine.symbol(name))
            if found is not None:
                symbol = Affine.symbol(name)
                last = found.length - symbol * found.step
                known += [last + (found.step - 1), -last, symbol]
        names = sorted({name for each in known for name in each.symbols})
        return polyhedron_to_set(Polyhedron(tuple(known)), names, ()).is_empty()

    def require(self, *forms: Affine) -> bool:
        """Whether forms are at least 0; if one of a single size is not for its smallest values, these are no sizes of
        the program."""
        for form in forms:
            if self.proves(form):
                continue
            loops = form.symbols & self.loops.keys()
            # Conditions on several sizes would surprise: the user has to state them.
            if loops or len(form.terms) != 1 or form.terms[0][1] < 0 or quotient(bound(form)) is not None:
                return False
            self.assumptions.append(form)
        return True

    def proves_equality(self, a: Affine, b: Affine) -> bool:
        return a == b or self.proves(a - b, b - a)

    @contextmanager
    def loop(
        self,
        name: str,
        lower: Sequence[Affine],
        upper: Sequence[Affine],
        step: Literal[1, -1],
        span: Span | None,
        called: str = "",
    ) -> Generator[None]:
        """What is read inside is the loop's body."""
        loop = For(name, tuple(lower), tuple(upper), (), step, span, called)
        symbol = Affine.symbol(name)
        outer, self.statements = self.statements, list[Statement]()
        known = len(self.domain)
        self.domain += [*(symbol - form for form in lower), *(form - symbol - 1 for form in upper)]
        self.loops[name] = loop
        try:
            yield
        finally:
            made, self.statements = self.statements, outer
            del self.domain[known:], self.loops[name]
            self.statements.append(replace(loop, body=tuple(made)))

    @contextmanager
    def branch(self, condition: Condition) -> Generator[list[Statement]]:
        """What is read inside goes into the list that is given."""
        outer, self.statements = self.statements, list[Statement]()
        known = len(self.domain)
        self.domain += condition.pieces[0].constraints if len(condition.pieces) == 1 else ()
        made = list[Statement]()
        try:
            yield made
        finally:
            made += self.statements
            self.statements = outer
            del self.domain[known:]

    def branches(self, condition: Condition, body: list[Statement], orelse: list[Statement], span: Span | None) -> None:
        if body or orelse:
            self.statements.append(If(condition, tuple(body), tuple(orelse), span))
