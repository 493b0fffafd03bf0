# SPDX-License-Identifier: Apache-2.0
"""Which loops carry dependences, decided exactly by isl at the nest's sizes.

A loop is parallel when no two of its iterations, within one iteration of the loops around it, touch an element that one
of them writes (Bernstein, "Analysis of programs for parallel processing", 1966), apart from scalars that each
iteration has to itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal

from polyloom.ir.nest import Nest, Statement, accesses, statements
from polyloom.ir.pla import Reference
from polyloom.names import hidden
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import is_empty, to_set


@dataclass(frozen=True, slots=True)
class Dependence:
    """Between iterations of `loop`: both accesses touch one element of `array`, and one of them writes it."""

    loop: str
    array: str
    first: Reference
    second: Reference

    def __str__(self) -> str:
        one, other = map(_text, (self.first, self.second))
        pair = f"`{one}`" if one == other else f"`{one}` and `{other}`"
        return f"iterations of `{self.loop}` share {pair}"


def _text(reference: Reference) -> str:
    return reference.name + (f"[{', '.join(map(str, reference.index))}]" if reference.index else "")


class Dependences:
    """Of one nest without parameters; answers are kept."""

    def __init__(self, nest: Nest) -> None:
        self.statements = statements(nest)
        self.found: dict[tuple[str, frozenset[str]], Dependence | None] = {}

    def carried(self, loop: str, private: frozenset[str]) -> Dependence | None:
        """One that `loop` carries; None where its iterations may run in any order, and together."""
        key = loop, private
        if key not in self.found:
            self.found[key] = next(self._carried(loop, private), None)
        return self.found[key]

    def _carried(self, loop: str, private: frozenset[str]) -> Iterator[Dependence]:
        inside = [s for s in self.statements if loop in s.loops]
        touched = [(s, r, w) for s in inside for r, w in _accesses(s) if r.name not in private]
        pairs = product(enumerate(touched), enumerate(touched))
        for (n, (writer, target, is_write)), (m, (other, reference, also)) in pairs:
            if not is_write or target.name != reference.name or (also and m < n):
                continue
            if _conflict(loop, writer, target, other, reference):
                yield Dependence(loop, target.name, target, reference)


def _accesses(statement: Statement) -> Iterator[tuple[Reference, bool]]:
    yield statement.assign.target, True
    seen: set[tuple[str, tuple[Affine, ...]]] = set()
    for read in accesses(statement.assign.value):
        if (read.name, read.index) not in seen:
            seen.add((read.name, read.index))
            yield read, False


Relation = Literal["<", "=", ">"]
"""Of an iteration of a loop to a second one."""
Touch = tuple[Statement, Reference]


def touches(statement: Statement) -> Iterator[tuple[Touch, bool]]:
    """The elements that a statement touches, and whether it writes them."""
    yield from (((statement, reference), is_write) for reference, is_write in _accesses(statement))


def meet(first: Touch, second: Touch, relations: Mapping[str, Relation]) -> bool:
    """Whether two instances touch one element whose iterations are related so: in loops around both, of which those
    outside of the outermost related one have the same iteration."""
    (one, a), (other, b) = first, second
    outermost = min(one.loops.index(loop) for loop in relations)
    shared = one.loops[:outermost]
    left, right = _renamed(one.loops, shared, "first"), _renamed(other.loops, shared, "second")
    same = [
        sign
        for x, y in zip(a.index, b.index, strict=True)
        for sign in (x.substitute(left) - y.substitute(right), y.substitute(right) - x.substitute(left))
    ]
    for loop, relation in relations.items():
        step = right[loop] - left[loop]
        same += {"<": [step - 1], ">": [-step - 1], "=": [step, -step]}[relation]
    dims = [*shared, *_names(one.loops, shared, left), *_names(other.loops, shared, right)]
    pieces = [
        Polyhedron((*p.substitute(left).constraints, *q.substitute(right).constraints, *same))
        for p in one.domain.pieces
        for q in other.domain.pieces
    ]
    return not is_empty(to_set(Condition(tuple(pieces)), dims, ()))


def _conflict(loop: str, one: Statement, a: Reference, other: Statement, b: Reference) -> bool:
    """Whether instances in different iterations of `loop` touch one element."""
    if _is_apart(a, b, loop, one.loops[: one.loops.index(loop)]):
        return False
    return any(meet((one, a), (other, b), {loop: relation}) for relation in _APART)


_APART: Final[tuple[Relation, ...]] = ("<", ">")


def _is_apart(a: Reference, b: Reference, loop: str, shared: Sequence[str]) -> bool:
    """Whether a subscript differs in any two iterations of `loop`: the usual case, which isl need not decide."""
    known = {loop, *shared}
    return any(x == y and x.coefficient(loop) and x.symbols <= known for x, y in zip(a.index, b.index, strict=True))


def _renamed(loops: Sequence[str], shared: Sequence[str], side: str) -> dict[str, Affine]:
    return {name: Affine.symbol(hidden(f"{side}_{name}")) for name in loops if name not in shared}


def _names(loops: Sequence[str], shared: Sequence[str], renamed: dict[str, Affine]) -> list[str]:
    return [next(iter(renamed[name].symbols)) for name in loops if name not in shared]
