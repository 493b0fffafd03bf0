# SPDX-License-Identifier: Apache-2.0
"""Quotients and remainders that are affine piece by piece: wrap-around at a border (loop peeling, index-set splitting:
Wolfe 1996), and loops that are two in one.

`(i + 1) % n` is `i + 1` or `i + 1 - n`: an assignment that contains it is written once for each, under the condition
that decides. `t / 5` and `t % 5` need as many pieces as `t` has fives; there the loop becomes two, t = 5 q + r.

Quotients of sizes in bounds, `n / 4`, `n >> 2` and `n % 4`, are affine once n is 4 q + r, which two loops around the
function's body make it, of whose iterations one has the value of n.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import lcm

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.affine_proofs import is_infeasible, is_nonnegative, quotient_border
from polyloom.frontend.loops.affine import DIVISIONS, Scope, affine_form, affine_part, decide_test
from polyloom.frontend.loops.counters import assigned_symbol
from polyloom.frontend.loops.headers import loop_header
from polyloom.frontend.loops.roles import Roles
from polyloom.frontend.loops.tree import CASTS, Node
from polyloom.frontend.strip_mining import COPIES, LARGEST, Period, Size, strip_length
from polyloom.names import hidden_name
from polyloom.sets import Affine, Condition, Polyhedron


def is_division(node: Node) -> bool:
    """Whether an expression is a quotient or a remainder, of powers of two also by shift and mask."""
    return node.kind == "binary" and node.opcode in DIVISIONS and node.ctype not in _FLOATS


_FLOOR = ("//", "mod")
"""Which round down."""
_FLOATS = ("float", "double", "long double")


def division(node: Node, scope: Scope) -> tuple[Affine, Affine] | None:
    """Dividend and divisor of a node, if that is a quotient or a remainder of affine forms."""
    return _dividend_and_divisor(node, scope) if is_division(node) else None


def _dividend_and_divisor(node: Node, scope: Scope) -> tuple[Affine, Affine] | None:
    """Dividend and divisor of a quotient or a remainder, also of shifts and masks; None where they are not affine."""
    a, b = (affine_form(child, scope) for child in node.inner)
    if a is None or b is None:
        return None
    if node.opcode not in (">>", "&"):
        return (a, b) if not b.is_constant or b.constant > 0 else None
    by = _power_divisor(node.opcode, b.constant) if b.is_constant and b.constant >= 0 else None
    return None if by is None else (a, Affine((), by))


def deciding_condition(node: Node, scope: Scope) -> Condition | None:
    """Deciding condition of a quotient, a remainder or an extreme: one that splits its domain; None where it is
    decided, or has too many pieces.
    """
    is_extreme = node.kind == "operation" and node.opcode in ("min", "max")
    if not (is_extreme or is_division(node)) or affine_form(node, scope) is not None:
        return None
    if is_extreme:
        a, b = (affine_form(child, scope) for child in node.inner)
        return None if a is None or b is None else Condition((Polyhedron((b - a,)),))
    found = _dividend_and_divisor(node, scope)
    if found is None:
        return None
    value, by = found
    if node.opcode in _FLOOR:
        return quotient_border(value, by, scope.domain, 0)
    # C's quotient changes its form at 0, because it rounds towards zero: the sign is decided first.
    if not is_nonnegative(value, scope.domain):
        below = Polyhedron((-value - 1,))
        return None if is_infeasible(Polyhedron((value,)), scope.domain) else _complement(below)
    return quotient_border(value, by, scope.domain, 1)


def _complement(piece: Polyhedron) -> Condition:
    return Condition((Polyhedron((-piece.constraints[0] - 1,)),))


def strip_size(body: Node, name: str, scope: Scope, counters: Collection[str]) -> Size | None:
    """Strip mining (Wolfe 1996): the strips of a loop that make the divisions in its body affine; `name` is the loop's
    symbol, `counters` are the variables whose values must be affine.
    """
    return strip_length(_division_periods(body, name, scope, counters))


def _division_periods(
    node: Node, name: str, scope: Scope, counters: Collection[str], indexes: bool = False
) -> Iterator[Period]:
    """The periods of the divisions in a statement that no condition decides; only an index, and what is assigned to
    `counters`, must be affine.
    """
    if node.kind == "for":
        scope = _inner_scope(node, scope)
    elif is_division(node) and (found := _expression_period(node, name, scope)) is not None:
        # A division that a border still splits is handled by `choose`: no strip is needed for it.
        if (found.length > 1 or (indexes and found.open)) and all(
            deciding_condition(part, scope) is None for part in node
        ):
            yield found if indexes else replace(found, open=frozenset())
        return
    indexes = indexes or node.kind == "element" or assigned_symbol(node) in counters
    for child in node.inner:
        yield from _division_periods(child, name, scope, counters, indexes)


def _inner_scope(loop: Node, scope: Scope) -> Scope:
    """The scope in an inner loop, of whose variable nothing is known, apart from where it begins if it counts by more
    than one."""
    try:
        found = loop_header(loop, scope.drop_gathers())
    except PolyloomError:
        return scope
    turn = Affine.symbol(hidden_name(found.identity))
    value = found.first[0] + turn * found.step if abs(found.step) > 1 and len(found.first) == 1 else turn
    return scope.bind_integer(found.name, found.identity, value).restrict_domain(found.domain(value))


def _expression_period(node: Node, name: str, scope: Scope) -> Period | None:
    """Period of an integer expression in the loop's variable; None where it is none."""
    form = affine_form(node, scope)
    if form is not None:
        return Period.of(form, name)
    if node.kind in CASTS:
        return _expression_period(node.inner[0], name, scope)
    if node.kind != "binary":
        return None
    if is_division(node):
        by = _constant_divisor(node, scope)
        value = None if by is None else _expression_period(node.inner[0], name, scope)
        if by is None or value is None:
            return None
        return value.quotient(by) if node.opcode in ("/", "//", ">>") else value.remainder(by)
    if node.opcode not in ("+", "-", "*"):
        return None
    a, b = (_expression_period(child, name, scope) for child in node.inner)
    if a is None or b is None:
        return None
    if node.opcode != "*":
        return a.plus(b if node.opcode == "+" else b.times(-1))
    factors = [(affine_form(one, scope), other) for one, other in zip(node.inner, (b, a), strict=True)]
    return next((other.times(f.constant) for f, other in factors if f is not None and f.is_constant), None)


def _constant_divisor(node: Node, scope: Scope) -> int | None:
    """The constant by which a quotient or a remainder divides."""
    by = affine_form(node.inner[1], scope)
    if by is None or not by.is_constant or by.constant < 0:
        return None
    return _power_divisor(node.opcode, by.constant) if node.opcode in (">>", "&") else by.constant or None


def _power_divisor(opcode: str, constant: int) -> int | None:
    """The power of two by which a shift or a mask divides."""
    by = 1 << constant if opcode == ">>" and constant < 12 else constant + 1
    # Of masks only those of ones from bit 0 divide, and strips have a limit.
    return by if constant < LARGEST and by & (by - 1) == 0 else None


def undecided_parts(node: Node, scope: Scope) -> Iterator[tuple[Node, Condition]]:
    """Parts of an expression that an affine condition decides, outermost first: conditional operators and divisions,
    but not those in operands that are not chosen.
    """
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.kind == "choose":
            outcome = decide_test(node.inner[0], scope)
            if outcome is not None:
                waiting.append(node.inner[1 if outcome else 2])
                continue
            part = affine_part(node.inner[0], scope)
            if part is not None:
                yield node, part[1]
        elif (where := deciding_condition(node, scope)) is not None:
            yield node, where
        waiting.extend(reversed(node.inner))


def divided_parameter(
    nodes: Sequence[Node], scope: Scope, parameters: Collection[str], roles: Roles
) -> tuple[str, int] | None:
    """Parameter that quotients of sizes in bounds leave open, and the least common multiple of what they divide it by;
    None where there is none, or too many rests.
    """
    found = dict[str, int]()
    for node in nodes:
        if node.kind == "declare":
            # A name of a size is that size.
            own = [d for d in node.inner if d.initial and d.symbol in roles.sized - roles.assigned]
            named = {d.symbol: form for d in own if (form := affine_form(d.inner[-1], scope)) is not None}
            scope = replace(scope, symbols={**scope.symbols, **named})
        for bound in _bounds(node, roles):
            for part in bound:
                for name, by in _open(part, scope):
                    found[name] = lcm(found.get(name, 1), by)
    known = [(name, by) for name, by in sorted(found.items()) if name in parameters and by <= COPIES]
    return known[0] if known else None


def _bounds(node: Node, roles: Roles) -> Iterator[Node]:
    """The expressions that loops begin and end with, and values of variables that these may use."""
    for part in node:
        match part.kind:
            case "for":
                yield from (part.inner[0], part.inner[2])
            case "while":
                yield part.inner[0]
            case "do":
                yield part.inner[1]
            case "variable" if part.initial and part.symbol in roles.sized:
                yield part.inner[-1]
            case "binary" if part.opcode == "=" and part.inner[0].symbol in roles.sized:
                yield part.inner[1]
            case _:
                pass


def _open(node: Node, scope: Scope) -> Iterator[tuple[str, int]]:
    """The symbols of which a quotient needs a rest."""
    found = division(node, scope)
    if found is None or affine_form(node, scope) is not None or deciding_condition(node, scope) is not None:
        return
    value, by = found
    if by.is_constant and by.constant > 1:
        yield from ((name, by.constant) for name, c in value.terms if c % by.constant)
