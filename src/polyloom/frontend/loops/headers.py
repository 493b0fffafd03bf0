# SPDX-License-Identifier: Apache-2.0
"""Loop headers as bounds: `i = lower; i < upper; i++`, and its forms downwards (C17, section 6.8.5.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.affine_proofs import exact_quotient, is_infeasible, is_nonnegative, turn_count
from polyloom.frontend.loops import make
from polyloom.frontend.loops.affine import Scope, affine_form
from polyloom.frontend.loops.extremes import extreme_forms
from polyloom.frontend.loops.obstacles import find_obstacle
from polyloom.frontend.loops.roles import loop_variable, variable_symbol
from polyloom.frontend.loops.tree import Node, refusal, source_text
from polyloom.frontend.loops.types import COUNTING, NARROW, RANGE, SHORT
from polyloom.names import hidden_name
from polyloom.sets import Affine, Condition, Polyhedron

_FORM = "write `for (i = lower; i < upper; i++)` or `for (i = upper; i >= lower; i--)` with an int i"


@dataclass(frozen=True, slots=True)
class Header:
    """Header of a counted loop: `variable` is a declaration or a reference to it. It takes the values first, first +
    step and so on: upwards from max(`first`) to below min(`past`), downwards from min(`first`) to max(`past`) at least.
    """

    variable: Node
    first: tuple[Affine, ...]
    past: tuple[Affine, ...]
    step: int

    @property
    def identity(self) -> str:
        return variable_symbol(self.variable)

    @property
    def name(self) -> str:
        """Name of the loop's variable as the text has it."""
        return _variable_name(self.variable)

    @property
    def lower(self) -> tuple[Affine, ...]:
        return self.first if self.step > 0 else self.past

    @property
    def upper(self) -> tuple[Affine, ...]:
        """Not included."""
        return self.past if self.step > 0 else tuple(form + 1 for form in self.first)

    def domain(self, value: Affine) -> Condition:
        """Domain of the loop's variable: where the loop has a value."""
        low, high = (value - form for form in self.lower), (form - value - 1 for form in self.upper)
        return Condition((Polyhedron((*low, *high)),))

    def lengths(self) -> tuple[Affine, ...]:
        """The least of these and 0 is how many numbers are between the ends."""
        return tuple(high - low for high in self.upper for low in self.lower)

    def count(self, scope: Scope) -> Affine | None:
        """Trip count, where that is an affine form."""
        lengths = self.lengths()
        # max(0, length) is no affine form unless it is known which one it is.
        if len(lengths) != 1:
            return None
        if not is_nonnegative(lengths[0] + (abs(self.step) - 1), scope.domain):
            return Affine() if is_nonnegative(-lengths[0], scope.domain) else None
        return turn_count(lengths[0], abs(self.step))

    def turn(self, value: Affine) -> Affine | None:
        """The number of the turn in which the variable has a value, where it counts by one."""
        return (value - self.first[0]) * self.step if abs(self.step) == 1 and len(self.first) == 1 else None

    def final(self, count: Affine | None) -> Affine | None:
        """The variable's value behind the loop."""
        return None if count is None or len(self.first) != 1 else self.first[0] + count * self.step


def loop_header(loop: Node, scope: Scope) -> Header:
    """Bounds of a `for`; raises PL0158 for another form and PL0159 for bounds that are not affine."""
    variable, step = loop_variable(loop), _increment(loop.inner[3], scope)
    if (
        variable is None
        or variable.ctype not in (*COUNTING, *SHORT)
        or step is None
        or not loop.inner[2].kind
        or _symbol_or_empty(loop.inner[3].inner[0]) != variable_symbol(variable)
    ):
        # The message points at what is wrong: the variable, else the step, else the whole loop.
        amount = loop.inner[3].inner[1] if len(loop.inner[3].inner) == 2 and variable is not None else None
        counts = variable is not None and variable.ctype in (*COUNTING, *SHORT)
        if amount is not None and counts and loop.inner[3].kind == "update" and affine_form(amount, scope) is None:
            found = find_obstacle(amount, scope)
            raise refusal("PL0159", f"the step of the loop {found.reason}", found.part, found.help)
        if (
            amount is not None
            and counts
            and loop.inner[3].kind == "update"
            and not (affine_form(amount, scope) or _NONE).is_constant
        ):
            message = f"the step of the loop depends on a parameter: `{source_text(amount)}`"
            raise refusal(
                "PL0159",
                message,
                amount,
                f"compile for one value: give --set {source_text(amount)}=2, or write "
                f"`assert({source_text(amount)} == 2);`",
            )
        part = next((n for n in (variable, loop.inner[3]) if n is not None and n.kind), loop)
        raise refusal("PL0158", "this is not a loop that counts an int by a constant", part, _FORM)
    return counting_header(variable, step, _initial_value(loop), loop.inner[2], scope)


_NONE = Affine()


def counting_header(variable: Node, step: int, initial: Node, test: Node, scope: Scope) -> Header:
    """The course of a variable that begins with an expression and goes on while a test holds."""
    # Upwards a loop begins at the greatest of several lower bounds, downwards at the least of several upper ones.
    first = extreme_forms(initial, scope, least=step < 0)
    if first is None:
        raise _bound_refusal(initial, scope)
    return from_values(variable, step, first, test, scope)


def from_values(variable: Node, step: int, first: tuple[Affine, ...], test: Node, scope: Scope) -> Header:
    """Header of a variable that begins with given values and goes on while a test holds; raises PL0158 and PL0159."""
    ends = [
        end
        for part in _conjuncts(test)
        for end in _comparison_bounds(part, variable_symbol(variable), step, first, scope)
    ]
    if (
        # `for (unsigned i = n; i >= 0; i--)` never ends: the bound minus one step would be below 0, and wraps (C17,
        # section 6.2.5).
        step < 0
        and variable.ctype.startswith("unsigned")
        and not all(is_nonnegative(e + step, scope.domain) for e in ends)
    ):
        help = f"count with an `int`, or write `{_variable_name(variable)}-- > 0` as the condition and no step"
        raise refusal("PL0158", f"`{variable.ctype}` is never below 0, so that the loop may not end", test, help)
    least, most = RANGE.get(variable.ctype, (None, None))
    # Behind its loop a variable of 16 bits is up to a step past its end, if it does not wrap before.
    if most is not None and step > 0 and not all(is_nonnegative(-e + (most - step + 1), scope.domain) for e in ends):
        help = f"assert that the bound is at most {most - step + 1}, or count with an `int`"
        raise refusal("PL0158", f"`{variable.ctype}` may wrap before the loop ends", test, help)
    if least and step < 0 and not all(is_nonnegative(e + (step - least), scope.domain) for e in ends):
        raise refusal("PL0158", f"`{variable.ctype}` may wrap before the loop ends", test, "count with an `int`")
    return Header(variable, first, tuple(dict.fromkeys(ends)), step)


def _variable_name(variable: Node) -> str:
    """The name of a declaration, or of a reference to one, as the text has it."""
    return variable.name


def _initial_value(loop: Node) -> Node:
    return loop.inner[0].inner[0].inner[-1] if loop.inner[0].kind == "declare" else loop.inner[0].inner[1]


def _increment(node: Node, scope: Scope) -> int | None:
    """The increment of `i++`, `i += 2`, `i = i + 1` and their counterparts, whatever they count."""
    if node.kind == "unary" and node.opcode in ("++", "--"):
        return 1 if node.opcode == "++" else -1
    opcode, amount = node.opcode, None
    if node.kind == "update" and opcode in ("+=", "-="):
        amount = affine_form(node.inner[1], scope)
    elif opcode == "=" and node.inner[1].opcode in ("+", "-"):
        opcode, sides = node.inner[1].opcode, node.inner[1].inner
        if _symbol_or_empty(node.inner[0]) == _symbol_or_empty(sides[0]):
            amount = affine_form(sides[1], scope)
    if amount is None or not amount.is_constant or not amount.constant:
        return None
    return amount.constant if opcode[0] == "+" else -amount.constant


def _symbol_or_empty(node: Node) -> str:
    return node.symbol if node.kind == "name" else ""


def _strip_size_cast(node: Node) -> Node:
    """A counter that is not negative keeps its value where it is compared with a size of another type."""
    is_cast = node.kind == "convert" and node.opcode == "IntegralCast"
    integers = (*COUNTING, *NARROW)
    return node.inner[0] if is_cast and node.ctype in COUNTING and node.inner[0].ctype in integers else node


def _conjuncts(test: Node) -> list[Node]:
    if test.opcode == "&&":
        return [t for child in test.inner for t in _conjuncts(child)]
    if test.kind == "convert" and test.opcode == "IntegralToBoolean":
        return _conjuncts(test.inner[0])
    # A number is a truth: whether it is not 0 (C17, section 6.8.5, paragraph 4).
    is_number = test.kind in ("name", "convert") and test.ctype in (*COUNTING, *SHORT)
    return (
        [make.binary("!=", test, replace(make.number(0, test), ctype=test.ctype), "int", test)] if is_number else [test]
    )


def _comparison_bounds(
    test: Node, variable: str, step: int, first: tuple[Affine, ...], scope: Scope
) -> tuple[Affine, ...]:
    """Bounds that one comparison sets: past the last value upwards, or the last value downwards. Raises
    PL0158, PL0159.
    """
    if test.opcode not in ("<", "<=", ">", ">=", "!="):
        raise refusal("PL0158", "the loop's condition does not compare its variable with a bound", test, _FORM)
    counts = step > 0 and all(is_nonnegative(form, scope.domain) for form in first)
    sides = {
        _symbol_or_empty(_strip_size_cast(child) if counts else child): other
        for child, other in zip(test.inner, reversed(test.inner), strict=True)
    }
    solved = None if variable in sides else _solve_comparison(test, variable, step, first, scope)
    if variable not in sides and solved is None:
        data = next(
            (side for side in test.inner if affine_form(side, scope) is None and _symbol_or_empty(side) == ""), None
        )
        if data is not None:
            raise _bound_refusal(data, scope)
        raise refusal("PL0158", "the loop's condition does not compare its variable alone", test, _FORM)
    if solved is not None:
        opcode, bounds = solved[0], (solved[1],)
    else:
        # `n > i` means `i < n`.
        opcode = (
            test.opcode
            if _symbol_or_empty(_strip_size_cast(test.inner[0])) == variable
            else test.opcode.translate(_MIRRORED)
        )
        bounds = extreme_forms(sides[variable], scope, least=step > 0)
        if bounds is None:
            raise _bound_refusal(sides[variable], scope)
    if opcode == "!=":
        _check_reached(test, first, bounds, step, scope)
    elif (opcode[0] == "<") != (step > 0):
        raise refusal(
            "PL0158",
            f"the loop counts {'up' if step > 0 else 'down'}, and `{test.opcode}` bounds it on the other side",
            test,
            _FORM,
        )
    if step > 0:
        # Upper bounds are exclusive: `<=` includes one more.
        return tuple(b + (opcode == "<=") for b in bounds)
    # Lower bounds are inclusive: `>` and `!=` exclude the bound itself.
    return tuple(b + (opcode != ">=") for b in bounds)


def _solve_comparison(
    test: Node, variable: str, step: int, first: tuple[Affine, ...], scope: Scope
) -> tuple[str, Affine] | None:
    """Solution of a comparison of sums, such as `i + 1 < n`, for the loop's variable: how it compares with what."""
    symbol = Affine.symbol(hidden_name(variable))
    begins = Condition((Polyhedron(tuple([(symbol - form) * (1 if step > 0 else -1) for form in first])),))
    inside = replace(scope, symbols={**scope.symbols, variable: symbol}).restrict_domain(begins)
    left, right = (affine_form(_strip_size_cast(child), inside) for child in test.inner)
    if left is None or right is None:
        return None
    factor = (left - right).coefficient(hidden_name(variable))
    # A factor of 2 would need a quotient rounded up: such a loop is refused.
    if abs(factor) != 1:
        return None
    opcode = test.opcode if factor == 1 else test.opcode.translate(_MIRRORED)
    return opcode, symbol - (left - right) * factor


_MIRRORED = str.maketrans("<>", "><")


def _check_reached(test: Node, first: tuple[Affine, ...], bounds: tuple[Affine, ...], step: int, scope: Scope) -> None:
    """Refuses `i != end` where the loop may begin past its end, which it would then never meet."""
    if len(first) != 1 or len(bounds) != 1:
        raise refusal("PL0158", "`!=` with a minimum or a maximum", test, _FORM)
    if abs(step) != 1 and exact_quotient(bounds[0] - first[0], abs(step)) is None:
        help = f"write `{'<' if step > 0 else '>'}` instead of `!=`"
        raise refusal(
            "PL0158", f"the loop counts by {abs(step)}, and may pass {bounds[0]} without meeting it", test, help
        )
    # first > end, as an affine form that is >= 0 over the integers.
    past = (first[0] - bounds[0] if step > 0 else bounds[0] - first[0]) + -1
    if not is_infeasible(Polyhedron((past,)), scope.domain):
        relation = "<" if step > 0 else ">"
        raise refusal(
            "PL0158",
            f"the loop may begin at {first[0]}, past {bounds[0]}, which it then never meets",
            test,
            f"write `{relation}` instead of `!=`",
        )


def _bound_refusal(bound: Node, scope: Scope) -> PolyloomError:
    found = find_obstacle(bound, scope)
    is_sum = found.part.kind in ("operation", "call")
    help = "a loop begins at the greatest of several bounds and ends at the least of several; otherwise write two loops"
    return refusal("PL0159", f"a bound of the loop {found.reason}", found.part, help if is_sum else found.help)
