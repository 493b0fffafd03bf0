# SPDX-License-Identifier: Apache-2.0
"""Tests: affine conditions, which split loops, and data, by which values are chosen."""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence
from typing import Any

from polyloom.frontend.python.arrays.functions.elementwise import (
    RELATIONS,
    compare,
    invert,
    invert_test,
)
from polyloom.frontend.python.arrays.functions.elementwise import (
    negate as negated,
)
from polyloom.frontend.python.arrays.names import Frame, Names
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import (
    Data,
    as_bool,
    as_sequence,
    numpy_type,
    truth,
)
from polyloom.ir.arrays.program import Apply, Cases
from polyloom.ir.nest import negate
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction

_RELATIONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


class Tests(Names):
    """Comparisons, their connections, and conditional expressions."""

    def unary(self, site: Site, sign: ast.unaryop, operand: Any) -> Any:
        match sign:
            case ast.USub():
                return negated(site, operand)
            case ast.UAdd():
                return operand
            case ast.Invert():
                return invert(site, operand)
            case _:
                if isinstance(operand, Condition):
                    return negate(operand)
                if isinstance(operand, bool | None):
                    return not operand
                return invert_test(site, self.data(site, operand))

    def compare(self, site: Site, relation: ast.cmpop, a: Any, b: Any) -> Any:
        if isinstance(relation, ast.Is | ast.IsNot):
            if a is None or b is None or isinstance(a, bool) or isinstance(b, bool):
                return (a is b) == isinstance(relation, ast.Is)
            raise site.error("PL0133", f"`{site.source_text}` compares by identity", "compare by `==`")
        if type(relation) not in _RELATIONS:
            if isinstance(b, tuple | str) and not isinstance(a, Data):
                return (a in b) == isinstance(relation, ast.In)
            raise site.error(
                "PL0133", f"`{site.source_text}` cannot stand in a kernel", "compare by `==`, joined by `or`"
            )
        symbol = _RELATIONS[type(relation)]
        if isinstance(a, Affine) and isinstance(b, Affine):
            return affine_relation(symbol, a, b)
        if isinstance(a, Data) or isinstance(b, Data):
            return compare(site, symbol, self.data(site, a), self.data(site, b))
        if any(isinstance(v, Affine) and not v.is_constant for v in (a, b)):
            return compare(site, symbol, a, b)
        x, y = (v.constant if isinstance(v, Affine) else v for v in (a, b))
        if type(x) is not type(y) and not all(isinstance(v, int | float) for v in (x, y)):
            raise site.error(
                "PL0138", f"`{site.source_text}` compares what are no two numbers", "compare numbers or arrays"
            )
        found = {"==": x == y, "!=": x != y}
        if symbol in found:
            return found[symbol]
        if not isinstance(x, int | float | str):
            raise site.error(
                "PL0138", f"`{site.source_text}` compares what are no two numbers", "compare numbers or arrays"
            )
        return bool(getattr(operator, RELATIONS[symbol])(x, y))

    def join_conditions(self, site: Site, name: str, tests: Sequence[Any]) -> Any:
        """`and` or `or` of tests: of affine conditions a condition, of others data."""
        found = tests[0]
        for other in tests[1:]:
            if isinstance(found, bool):
                decides = found == (name == "or")
                found = found if decides else other
            elif isinstance(other, bool):
                found = other if other == (name == "or") else found
            elif isinstance(found, Condition) and isinstance(other, Condition):
                found = conjunction(found, other) if name == "and" else Condition((*found.pieces, *other.pieces))
            elif isinstance(found, Condition) and not site.truth(other).shape:
                # The second test is made only where the first one does not decide.
                known = Constant(int(name == "or"), "i32")
                second = truth(site.truth(other).value)
                sides = (second, known) if name == "and" else (known, second)
                found = Data(as_bool(Cases(found, sides[0], sides[1], (), site.span)))
            else:
                found = site.join_tests(name, site.truth(self.data(site, found)), site.truth(self.data(site, other)))
        return found

    def tests(self, site: Site, name: str, values: Sequence[ast.expr], frame: Frame) -> Any:
        """Tests joined by `and` or `or`: each is made where those before it do not decide."""
        found, known = list[Any](), len(self.builder.domain)
        try:
            for value in values:
                test = self.evaluate(value, frame)
                if isinstance(test, Data) and test.shape:
                    help = f"write `{'&' if name == 'and' else '|'}` for arrays"
                    raise site.error("PL0147", f"`{site.source_text}` joins arrays by `{name}`", help)
                found.append(test if isinstance(test, bool | Condition) else site.truth(test))
                # Python does not evaluate what is decided.
                if isinstance(test, bool) and test == (name == "or"):
                    break
                if isinstance(test, Condition):
                    holds = test if name == "and" else negate(test)
                    self.builder.domain += holds.pieces[0].constraints if len(holds.pieces) == 1 else ()
        finally:
            del self.builder.domain[known:]
        return self.join_conditions(site, name, found)

    def choice(self, site: Site, test: Any, body: ast.expr, orelse: ast.expr, frame: Frame) -> Any:
        if isinstance(test, Affine | float) and (not isinstance(test, Affine) or test.is_constant):
            test = bool(test.constant if isinstance(test, Affine) else test)
        if isinstance(test, Affine):
            test = affine_relation("!=", test, Affine())
        if isinstance(test, bool | None | str | tuple):
            return self.evaluate(body if test else orelse, frame)
        a, b = (
            self.evaluate_under_test(site, test, body, frame),
            self.evaluate_under_test(site, self.opposite(site, test), orelse, frame),
        )
        return self.merge_values(site, test, a, b)

    def opposite(self, site: Site, test: Any) -> Any:
        """Where a test does not hold."""
        return negate(test) if isinstance(test, Condition) else invert_test(site, test)

    def evaluate_under_test(self, site: Site, test: Any, node: ast.expr, frame: Frame) -> Any:
        """A value where a test holds."""
        if isinstance(test, Data) and not test.shape:
            outer = self.builder.guard
            own = truth(site.truth(test).value)
            self.builder.guard = own if outer is None else Apply("and", "i32", (outer, own), site.span)
            try:
                return self.evaluate(node, frame)
            finally:
                self.builder.guard = outer
        if not isinstance(test, Condition) or len(test.pieces) != 1:
            return self.evaluate(node, frame)
        known = len(self.builder.domain)
        self.builder.domain += test.pieces[0].constraints
        try:
            return self.evaluate(node, frame)
        finally:
            del self.builder.domain[known:]

    def merge_values(self, site: Site, test: Any, a: Any, b: Any) -> Any:
        """`a` where a test holds, `b` elsewhere."""
        if a is b or (type(a) is type(b) and not isinstance(a, Data) and a == b):
            return a
        pair = as_sequence(a), as_sequence(b)
        if pair[0] is not None and pair[1] is not None and len(pair[0]) == len(pair[1]):
            return tuple(self.merge_values(site, test, x, y) for x, y in zip(pair[0], pair[1], strict=True))
        a, b = self.data(site, a), self.data(site, b)
        if not isinstance(test, Condition):
            found = site.truth(test)
            if found.shape:
                help = "write `np.where(condition, a, b)`, or `.any()` or `.all()` of the condition"
                raise site.error("PL0147", f"`{site.source_text}` decides by an array", help)
            return site.select(found, a, b)
        model = site.select(Data(as_bool(Constant(1, "i32"))), a, b)
        if model.weak and model.wide and isinstance(a, Affine | bool) and isinstance(b, Affine | bool):
            model = Data(model.value, wide=True, exact=True)
        kind = numpy_type(model)
        first, second = site.broadcast([site.convert_data(a, kind), site.convert_data(b, kind)])
        extents = site.common_shape([first.shape, second.shape])
        value = Cases(test, first.value, second.value, extents, site.span)
        return Data(value, model.weak, model.wide, model.wide and first.exact and second.exact)


def affine_relation(symbol: str, a: Affine, b: Affine) -> Any:
    """A comparison of integers that never wrap, as a condition; decided where both are constant."""
    difference = a - b
    pieces = {
        "==": (Polyhedron((difference, -difference)),),
        "!=": (Polyhedron((difference - 1,)), Polyhedron((-difference - 1,))),
        "<": (Polyhedron((-difference - 1,)),),
        "<=": (Polyhedron((-difference,)),),
        ">": (Polyhedron((difference - 1,)),),
        ">=": (Polyhedron((difference,)),),
    }[symbol]
    found = Condition(pieces)
    return found.contains({}) if difference.is_constant else found
