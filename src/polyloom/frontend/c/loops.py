# SPDX-License-Identifier: Apache-2.0
"""The header of a `for` as a loop's bounds: `i = lower; i < upper; i++`, and its forms downwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.c.affine import Scope, affine, extremes, obstacle
from polyloom.frontend.c.roles import identity, loop_variable
from polyloom.frontend.c.tree import Node, refuse, strip
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import to_set
from polyloom.sets.normal import conjunction

_FORM = "write `for (i = lower; i < upper; i++)` or `for (i = upper; i >= lower; i--)` with an int i"


@dataclass(frozen=True, slots=True)
class Header:
    """From max(`lower`) up to, not including, min(`upper`); `variable` is its declaration or a reference to that."""

    variable: Node
    lower: tuple[Affine, ...]
    upper: tuple[Affine, ...]
    step: Literal[1, -1]


def header(loop: Node, scope: Scope) -> Header:
    """The bounds of a `for`; raises PL0158 for another form and PL0159 for bounds that are not affine."""
    variable, step = loop_variable(loop), _step(loop.inner[3])
    if (
        variable is None
        or variable.ctype != "int"
        or step is None
        or not loop.inner[2].kind
        or _names(strip(loop.inner[3]).inner[0]) != identity(variable)
    ):
        amount = affine(loop.inner[3].inner[-1], scope) if loop.inner[3].kind == "CompoundAssignOperator" else None
        if amount is not None and abs(amount.constant) > 1:
            help = f"count by one, and multiply the variable where it is used: `{abs(amount.constant)} * i`"
            raise refuse("PL0158", f"a loop counts by one, not by {abs(amount.constant)}", loop.inner[3], help)
        part = next((n for n in (variable, loop.inner[3]) if n is not None and n.kind), loop)
        raise refuse("PL0158", "this is not a loop that counts an int by one", part, _FORM)
    # Upwards a loop begins at the greatest of several lower bounds, downwards at the least of several upper ones.
    first = extremes(_initial(loop), scope, least=step < 0)
    if first is None:
        raise _not_affine(_initial(loop), scope)
    ends = [end for test in _conjuncts(loop.inner[2]) for end in _end(test, identity(variable), step, first, scope)]
    past = tuple(dict.fromkeys(ends))
    return Header(variable, first, past, 1) if step > 0 else Header(variable, past, tuple(a + 1 for a in first), -1)


def _initial(loop: Node) -> Node:
    return loop.inner[0].inner[0].inner[-1] if loop.inner[0].kind == "DeclStmt" else loop.inner[0].inner[1]


def _step(node: Node) -> Literal[1, -1] | None:
    """The increment of `i++`, `i += 1`, `i = i + 1` and their counterparts, whatever they count."""
    node = strip(node) if node.kind else node
    if node.kind == "UnaryOperator" and node.opcode in ("++", "--"):
        return 1 if node.opcode == "++" else -1
    opcode, amount = node.opcode, None
    if node.kind == "CompoundAssignOperator" and opcode in ("+=", "-="):
        amount = strip(node.inner[1])
    elif (
        opcode == "="
        and strip(node.inner[1]).opcode in ("+", "-")
        and _names(node.inner[0]) == _names(strip(node.inner[1]).inner[0])
    ):
        opcode, amount = strip(node.inner[1]).opcode, strip(strip(node.inner[1]).inner[1])
    value = None if amount is None or amount.kind != "IntegerLiteral" else int(amount.data["value"])
    return None if value != 1 else (1 if opcode[0] == "+" else -1)


def _names(node: Node) -> str:
    node = strip(node)
    return node.declaration if node.kind == "DeclRefExpr" else ""


def _conjuncts(test: Node) -> list[Node]:
    test = strip(test)
    return [t for child in test.inner for t in _conjuncts(child)] if test.opcode == "&&" else [test]


def _end(test: Node, variable: str, step: int, first: tuple[Affine, ...], scope: Scope) -> tuple[Affine, ...]:
    """The bounds that one comparison sets: past the last value upwards, or the last value downwards."""
    if test.opcode not in ("<", "<=", ">", ">=", "!="):
        raise refuse("PL0158", "the loop's condition does not compare its variable with a bound", test, _FORM)
    sides = {_names(child): other for child, other in zip(test.inner, reversed(test.inner), strict=True)}
    if variable not in sides:
        data = next((side for side in test.inner if affine(side, scope) is None and _names(side) == ""), None)
        if data is not None:
            raise _not_affine(data, scope)
        raise refuse("PL0158", "the loop's condition does not compare its variable alone", test, _FORM)
    # `n > i` means `i < n`.
    opcode = test.opcode if _names(test.inner[0]) == variable else test.opcode.translate(_MIRRORED)
    bounds = extremes(sides[variable], scope, least=step > 0)
    if bounds is None:
        raise _not_affine(sides[variable], scope)
    if opcode == "!=":
        _check_reached(test, first, bounds, step, scope)
    elif (opcode[0] == "<") != (step > 0):
        raise refuse(
            "PL0158",
            f"the loop counts {'up' if step > 0 else 'down'}, and `{test.opcode}` bounds it on the other side",
            test,
            _FORM,
        )
    if step > 0:
        return tuple(b + (opcode == "<=") for b in bounds)
    return tuple(b + (opcode != ">=") for b in bounds)


_MIRRORED = str.maketrans("<>", "><")


def _check_reached(test: Node, first: tuple[Affine, ...], bounds: tuple[Affine, ...], step: int, scope: Scope) -> None:
    """Refuses `i != end` where the loop may begin past its end, which it would then never meet."""
    if len(first) != 1 or len(bounds) != 1:
        raise refuse("PL0158", "`!=` with a minimum or a maximum", test, _FORM)
    # first > end, as an affine form that is >= 0 over the integers.
    past = (first[0] - bounds[0] if step > 0 else bounds[0] - first[0]) + -1
    where = conjunction(scope.domain, Condition((Polyhedron((past,)),)))
    names = sorted({name for piece in where.pieces for c in piece.constraints for name in c.symbols})
    if not to_set(where, names, ()).is_empty():
        relation = "<" if step > 0 else ">"
        raise refuse(
            "PL0158",
            f"the loop may begin at {first[0]}, past {bounds[0]}, which it then never meets",
            test,
            f"write `{relation}` instead of `!=`",
        )


def _not_affine(bound: Node, scope: Scope) -> PolyloomError:
    part, reason = obstacle(bound, scope)
    help = (
        "bounds are sums of surrounding loop variables and parameters times integer constants, or minima and "
        "maxima of such"
    )
    return refuse("PL0159", f"a bound of the loop {reason}", part, help)
