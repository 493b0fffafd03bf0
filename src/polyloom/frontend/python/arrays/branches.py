# SPDX-License-Identifier: Apache-2.0
"""Branches: affine conditions split statements, data chooses values and guards stores."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from polyloom.frontend.python.arrays.conditions import affine_relation
from polyloom.frontend.python.arrays.names import Frame, ReturnValue
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.statements import Statements
from polyloom.frontend.python.arrays.values import Data, as_bool, truth
from polyloom.ir.arrays.program import Apply, Value
from polyloom.ir.nest import negate
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition

_MISSING = object()


class Branches(Statements):
    """Both sides of tests."""

    def branch(self, node: ast.If, rest: Sequence[ast.stmt], frame: Frame) -> ReturnValue | bool | None:
        """A branch, and the rest of its block where a side returns; True where the rest was read."""
        site = self.site(node.test, frame)
        test = self.evaluate(node.test, frame)
        if isinstance(test, Data) and isinstance(node.test, ast.BoolOp):
            # `i > 0 and x[i - 1] > 0` must not read x[-1] for i = 0, not even to choose otherwise.
            affine = self.evaluate(node.test.values[0], frame)
            if isinstance(affine, Condition):
                return self.branch(_nest_conjunction(node, node.test), rest, frame)
        if isinstance(test, Affine):
            test = affine_relation("!=", test, Affine())
        if isinstance(test, Condition):
            test = self.decide_condition(test)
        if isinstance(test, bool | None | str | tuple | float):
            taken = node.body if test else node.orelse
            found = self.block([*taken, *rest] if _returns(taken) else taken, frame)
            return found if found is not None or not _returns(taken) else True
        returns = _returns(node.body) or _returns(node.orelse)
        first, second = list(node.body), list(node.orelse)
        # What follows is read on the side that goes on: no nest jumps.
        if returns:
            first, second = (side if _ends_in_return(side) else [*side, *rest] for side in (first, second))
        if not isinstance(test, Condition):
            data = site.truth(test)
            if data.shape:
                help = "write `np.where(condition, a, b)`, or `.any()` or `.all()` of the condition"
                raise site.error("PL0147", f"`{site.source_text}` decides by an array", help)
            test = Data(as_bool(self.builder.local(truth(data.value), site.span, "test")))
        sides = self.sides(site, test, first, second, frame)
        if not returns:
            return None
        a, b = sides
        if (a is None) != (b is None) and ((a or b) or ReturnValue(None)).value is not None:
            raise site.error("PL0133", "one side of this returns a value, the other none", "return on both sides")
        if a is None or b is None:
            return True
        return ReturnValue(self.merge_values(site, test, a.value, b.value))

    def decide_condition(self, test: Condition) -> Condition | bool:
        """A condition on sizes that holds for all of them, or for none."""
        if len(test.pieces) == 1 and self.builder.proves(*test.pieces[0].constraints):
            return True
        against = negate(test)
        if len(against.pieces) == 1 and self.builder.proves(*against.pieces[0].constraints):
            return False
        return test

    def sides(
        self, site: Site, test: Any, first: Sequence[ast.stmt], second: Sequence[ast.stmt], frame: Frame
    ) -> tuple[ReturnValue | None, ReturnValue | None]:
        """Both sides; names that they bind differently stand for what the test chooses."""
        before = {**frame.names}
        if isinstance(test, Condition):
            with self.builder.branch(test) as body:
                a = self.block(first, frame)
            names, frame.names = frame.names, {**before}
            with self.builder.branch(negate(test)) as orelse:
                b = self.block(second, frame)
            self.builder.branches(test, body, orelse, site.span)
        else:
            a = self.guard_stores(site, truth(test.value), first, frame)
            names, frame.names = frame.names, {**before}
            # Stores of the other side show where the test is 0: nothing is branched on.
            opposite: Value = Apply("eq", "i32", (truth(test.value), Constant(0, "i32")), site.span)
            b = self.guard_stores(site, opposite, second, frame)
        for name in dict.fromkeys((*names, *frame.names)):
            one, other = names.get(name, _MISSING), frame.names.get(name, _MISSING)
            if one is other or (type(one) is type(other) and one == other):
                continue
            if one is _MISSING or other is _MISSING:
                frame.names.pop(name, None)
                # A side that returns leaves the other's names.
                if (a is not None and one is _MISSING) or (b is not None and other is _MISSING):
                    frame.names[name] = other if one is _MISSING else one
                continue
            if a is None and b is None:
                self.bind(name, self.merge_values(site, test, one, other), site, frame)
            elif b is not None:
                frame.names[name] = one
        return a, b

    def guard_stores(self, site: Site, test: Value, nodes: Sequence[ast.stmt], frame: Frame) -> ReturnValue | None:
        """Statements whose stores show where a test of data holds."""
        outer = self.builder.guard
        self.builder.guard = test if outer is None else Apply("and", "i32", (outer, test), site.span)
        try:
            return self.block(nodes, frame)
        finally:
            self.builder.guard = outer


def _nest_conjunction(node: ast.If, test: ast.BoolOp) -> ast.If:
    """A branch on the first test alone, with one on the others inside: what they read is read there only."""
    first, *others = test.values
    rest = others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(test.op, others), test)
    inner = ast.copy_location(ast.If(rest, node.body, node.orelse), node)
    is_and = isinstance(test.op, ast.And)
    made = ast.If(first, [inner] if is_and else node.body, node.orelse if is_and else [inner])
    return ast.copy_location(made, node)


def _returns(nodes: Sequence[ast.stmt]) -> bool:
    """Whether some statement returns, outside of loops."""
    return any(
        isinstance(n, ast.Return) or (isinstance(n, ast.If) and (_returns(n.body) or _returns(n.orelse))) for n in nodes
    )


def _ends_in_return(nodes: Sequence[ast.stmt]) -> bool:
    return any(
        isinstance(n, ast.Return) or (isinstance(n, ast.If) and _ends_in_return(n.body) and _ends_in_return(n.orelse))
        for n in nodes
    )
