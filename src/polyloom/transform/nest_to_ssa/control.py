# SPDX-License-Identifier: Apache-2.0
"""Control flow of nests: loops and branches as blocks.

A loop is rotated (loop inversion; Muchnick 1997, section 18.5): a guard decides whether it is entered, a block enters
it, and the test stands behind the body, where the counter is compared for equality. Where the sets say that a loop is
not empty, there is no guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from polyloom.diagnostics import Span
from polyloom.ir.nest import Assign, Expression, If, Loop, Node, negate
from polyloom.ir.pla import Reference
from polyloom.ir.ssa import NOWHERE, Branch, Jump, Operand, Place, Value, integer_constant
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.transform.nest_to_ssa.domains import Domain
from polyloom.transform.nest_to_ssa.forms import Forms
from polyloom.transform.nest_to_ssa.values import Values, access
from polyloom.transform.nest_to_ssa.writer import Writer


class Control:
    """Writer of nodes, one after the other."""

    def __init__(self, writer: Writer, forms: Forms, values: Values, domain: Domain) -> None:
        self.writer, self.forms, self.values, self.domain = writer, forms, values, domain

    def nodes(self, nodes: Iterable[Node]) -> None:
        """Nodes in their order; those without a place have that of the node before."""
        for node in nodes:
            self.writer.place = span_place(node.span) if node.span is not None else self.writer.place
            match node:
                case Assign(target=target, value=value):
                    self.assign(target, value)
                case Loop():
                    self.loop(node)
                case If():
                    self.branch(node)

    def assign(self, target: Reference, value: Expression) -> None:
        """Assignment: the value, then the address, then the store."""
        # Loads are shared within one statement only: the store before may have changed any element.
        self.values.loaded = {}
        found = self.values.value(value)
        storage = self.values.storage[target.name]
        self.writer.store(found, self.values.address(target), access(storage))

    def loop(self, loop: Loop) -> None:
        """Rotated loop with its guard, if it needs one."""
        writer, here = self.writer, self.writer.place
        lower, upper = self.extreme(loop.lower, "smax"), self.extreme(loop.upper, "smin")
        enter, body, leave = writer.fresh("enter"), writer.fresh(loop.name), writer.fresh("leave")
        if self.domain.is_entered(loop):
            writer.end(Jump(writer.jump(enter), here))
        else:
            writer.end(Branch(writer.compare("slt", lower, upper), writer.jump(enter), writer.jump(leave), here))
        writer.begin(enter)
        with self.forms.entered():
            self.write_rotated_loop(loop, lower, upper, body, leave)
        writer.begin(leave)

    def write_rotated_loop(self, loop: Loop, lower: Operand, upper: Operand, body: str, leave: str) -> None:
        """Loop from the block that enters it to the test behind its body."""
        writer, here, type = self.writer, self.writer.place, self.forms.address
        first, end = lower, upper
        # Falling counters run from upper - 1 to lower, and end when they reach lower - 1.
        if loop.step < 0:
            first, end = (writer.put("add", type, bound, integer_constant(type, -1)) for bound in (upper, lower))
        writer.end(Jump(writer.jump(body, first), here))
        counter = Value(writer.fresh(loop.name), type)
        writer.begin(body, counter)
        with self.forms.within(loop.name, counter), self.domain.within(loop):
            self.nodes(loop.body)
        writer.place = here
        following = writer.put("add", type, counter, integer_constant(type, loop.step), name=loop.name)
        # Steps are 1 or -1 and the loop was entered, so that the counter meets its end exactly.
        again = writer.compare("ne", following, end)
        writer.end(Branch(again, writer.jump(body, following), writer.jump(leave), here))

    def extreme(self, bounds: Sequence[Affine], chosen: str) -> Operand:
        """Greatest or least of several bounds, by intrinsics without a branch."""
        first, *others = bounds
        found = self.forms.affine(first)
        for bound in others:
            found = self.writer.call(chosen, found.type, found, self.forms.affine(bound))
        return found

    def branch(self, node: If) -> None:
        """Branch on a condition, with a block where both sides join."""
        writer, here = self.writer, self.writer.place
        then, join = writer.fresh("then"), writer.fresh("join")
        orelse = writer.fresh("else") if node.orelse else join
        self.condition(node.condition, then, orelse)
        for name, nodes, where in ((then, node.body, node.condition), (orelse, node.orelse, negate(node.condition))):
            if name != join:
                writer.begin(name)
                # The condition is part of what is known inside, which makes more loops provably non-empty.
                with self.domain.where(where):
                    self.nodes(nodes)
                writer.end(Jump(writer.jump(join), here))
        writer.begin(join)
        writer.place = here

    def condition(self, condition: Condition, then: str, orelse: str) -> None:
        """Short-circuit code of a condition (Aho, Lam, Sethi and Ullman 2006, section 6.6), which ends the current
        block: to `then` where one of the pieces holds.
        """
        writer = self.writer
        pieces = _normalize_condition(condition)
        for n, tests in enumerate(pieces):
            other = orelse if n == len(pieces) - 1 else writer.fresh("or")
            for k, test in enumerate(tests):
                following = then if k == len(tests) - 1 else writer.fresh("and")
                writer.end(Branch(self.test(*test), writer.jump(following), writer.jump(other), writer.place))
                if following != then:
                    writer.begin(following)
            if not tests:
                writer.end(Jump(writer.jump(then), writer.place))
                return
            if other != orelse:
                writer.begin(other)
        if not pieces:
            writer.end(Jump(writer.jump(orelse), writer.place))

    def test(self, relation: str, form: Affine) -> Operand:
        """Test of an affine form against 0: what is subtracted stands on the other side, a constant on the right."""
        above = Affine(tuple([(name, by) for name, by in form.terms if by > 0]))
        below = Affine(tuple([(name, -by) for name, by in form.terms if by < 0]), -form.constant)
        if not above.terms:
            above, below, relation = Affine(below.terms), Affine((), form.constant), _MIRRORED[relation]
        # a >= b + 1 is a > b, which saves an addition.
        elif relation == "sge" and below.terms and below.constant == 1:
            below, relation = Affine(below.terms), "sgt"
        return self.writer.compare(relation, self.forms.affine(above), self.forms.affine(below))


_MIRRORED: Final = {"sge": "sle", "eq": "eq", "ne": "ne"}
Test = tuple[str, Affine]
"""A relation, and the form of which it holds to 0."""


def _normalize_condition(condition: Condition) -> list[list[Test]]:
    """Pieces, of which one must hold, as tests, all of which must: two opposite inequalities are an equality, two
    pieces around a value are "not equal" to it.
    """
    match condition.pieces:
        case (Polyhedron((a,)), Polyhedron((b,))) if a + 1 == -(b + 1):
            return [[("ne", a + 1)]]
        case pieces:
            return [_conjunction(piece.constraints) for piece in pieces]


def _conjunction(constraints: Sequence[Affine]) -> list[Test]:
    """Tests of a conjunction; f >= 0 and -f >= 0 together are f = 0."""
    found = dict[Affine, str]()
    for form in constraints:
        if -form in found:
            found[-form] = "eq"
        else:
            found[form] = "sge"
    return [(relation, form) for form, relation in found.items()]


def span_place(span: Span | None) -> Place:
    return NOWHERE if span is None else Place(span.source.name, span.line)
