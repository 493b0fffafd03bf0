# SPDX-License-Identifier: Apache-2.0
"""Memory-based dependences between iterations of loops, decided exactly by isl at a nest's sizes.

A loop is parallel when no two of its iterations, within one iteration of the loops around it, touch an element that one
of them writes (Bernstein, "Analysis of programs for parallel processing", 1966), apart from scalars that each
iteration has to itself. Value-based dependences, for all parameter values, are those of `transform.writers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from polyloom.analysis.privatizable import Path, privatizable
from polyloom.ir.nest import Loop, Nest, Node, Statement, accesses, assignments, cell, statements
from polyloom.ir.pla import Reference
from polyloom.names import hidden_name
from polyloom.sets import Affine, Condition, Polyhedron, equality
from polyloom.sets.isl import is_empty, to_set

Direction = Literal["<", "=", ">"]
"""Of an iteration of a loop to a second one: an entry of a direction vector (Wolfe, "Optimizing supercompilers for
supercomputers", 1982)."""
Access = tuple[Statement, Reference, bool]
"""An element that a statement touches, and whether it writes it."""
Relation = Callable[[Mapping[str, Affine], Mapping[str, Affine]], list[Affine]]
"""Forms of the counters of two instances."""


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


class LoopDependences:
    """Of one nest without parameters. Mutable: answers are kept."""

    def __init__(self, nest: Nest) -> None:
        self.nest, self.statements = nest, statements(nest)
        self.accesses = {s.assign.name: tuple(statement_accesses(s)) for s in self.statements}
        self.found: dict[tuple[str, frozenset[str]], Dependence | None] = {}

    def carried_dependence(self, loop: str, private: frozenset[str]) -> Dependence | None:
        """Loop-carried dependence: one that `loop` carries; None where its iterations may run in any order, and
        together (Allen, Kennedy 2001, section 2.2).
        """
        key = loop, private
        if key not in self.found:
            self.found[key] = next(self._carried_dependences(loop, private), None)
        return self.found[key]

    def parallel(self, path: Path) -> bool:
        """Parallel loop (DOALL): whether the last loop of `path` carries none but by what its iterations may have to
        themselves.
        """
        loop = path[-1]
        return isinstance(loop, Loop) and self.carried_dependence(loop.name, privatizable(self.nest, path)) is None

    def _carried_dependences(self, loop: str, private: frozenset[str]) -> Iterator[Dependence]:
        inside = (a for s in self.statements if loop in s.loops for a in self.accesses[s.assign.name])
        touched = [access for access in inside if access[1].name not in private]
        for (n, first), (m, second) in product(enumerate(touched), repeat=2):
            # Two writes are one pair, in either order.
            if not first[2] or first[1].name != second[1].name or (second[2] and m < n):
                continue
            if _carries(loop, first, second):
                yield Dependence(loop, first[1].name, first[1], second[1])

    def conflict(self, first: Node, second: Node, directions: Mapping[str, Direction]) -> bool:
        """Dependence with a direction vector: whether instances of two nodes in iterations that are so related touch
        one element that one of them writes.
        """
        ones, others = (
            [access for assign in assignments((node,)) for access in self.accesses[assign.name]]
            for node in (first, second)
        )
        return any(
            x[1].name == y[1].name and (x[2] or y[2]) and touch_one_element(x, y, directions)
            for x in ones
            for y in others
        )


def statement_accesses(statement: Statement) -> Iterator[Access]:
    """The target, then what is read, each element once."""
    yield statement, statement.assign.target, True
    yield from ((statement, r, False) for r in {cell(r): r for r in accesses(statement.assign.value)}.values())


def touch_one_element(first: Access, second: Access, directions: Mapping[str, Direction]) -> bool:
    """Whether two instances touch one element whose iterations are related so: in loops around both, of which those
    outside of the outermost related one have the same iteration."""

    def relate(left: Mapping[str, Affine], right: Mapping[str, Affine]) -> list[Affine]:
        found = list[Affine]()
        for loop, direction in directions.items():
            # "<": the second instance comes in a later iteration.
            step = right[loop] - left[loop]
            found += {"<": [step - 1], ">": [-step - 1], "=": [step, -step]}[direction]
        return found

    return related_instances(first, second, min(directions, key=first[0].loops.index), relate)


def related_instances(first: Access, second: Access, outermost: str, relate: Relation) -> bool:
    """Whether two instances touch one element that `relate` says of their counters are not negative; loops outside of
    `outermost` have the same iteration in both.
    """
    (one, a, _), (other, b, _) = first, second
    # Loops outside have the same iteration in both: they are one set of variables.
    shared = one.loops[: one.loops.index(outermost)]
    left, right = _instance_names(one.loops, shared, "first"), _instance_names(other.loops, shared, "second")
    same = [
        constraint
        for x, y in zip(a.index, b.index, strict=True)
        for constraint in equality(x.substitute(left), y.substitute(right))
    ]
    same += relate(left, right)
    own = [next(iter(form.symbols)) for form in (*left.values(), *right.values())]
    pieces = [
        Polyhedron((*p.substitute(left).constraints, *q.substitute(right).constraints, *same))
        for p in one.domain.pieces
        for q in other.domain.pieces
    ]
    return not is_empty(to_set(Condition(tuple(pieces)), [*shared, *own], ()))


def _carries(loop: str, first: Access, second: Access) -> bool:
    """Whether instances in different iterations of `loop` touch one element."""
    if _differs(first[1], second[1], loop, first[0].loops[: first[0].loops.index(loop)]):
        return False
    # Either order: accesses were taken as unordered pairs.
    return touch_one_element(first, second, {loop: "<"}) or touch_one_element(first, second, {loop: ">"})


def _differs(a: Reference, b: Reference, loop: str, shared: Sequence[str]) -> bool:
    """Strong SIV test in its simplest case (Goff, Kennedy, Tseng 1991): whether a subscript differs in any two
    iterations of `loop`, which isl then need not decide.
    """
    known = {loop, *shared}
    return any(x == y and x.coefficient(loop) and x.symbols <= known for x, y in zip(a.index, b.index, strict=True))


def _instance_names(loops: Sequence[str], shared: Sequence[str], side: str) -> dict[str, Affine]:
    return {name: Affine.symbol(hidden_name(f"{side}_{name}")) for name in loops if name not in shared}
