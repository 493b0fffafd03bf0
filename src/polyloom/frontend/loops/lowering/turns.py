# SPDX-License-Identifier: Apache-2.0
"""Lowering of counted loops: strip mining where divisions in a body ask for it, and peeling of the first turns, in
which wrap-around variables are not yet what later ones make them (Wolfe 1996).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.affine_proofs import turn_count
from polyloom.frontend.loops.affine import Scope
from polyloom.frontend.loops.counters import (
    assigned_symbol,
    changed_counters,
    known_value,
    with_values,
)
from polyloom.frontend.loops.headers import Header, loop_header
from polyloom.frontend.loops.induction.courses import Course
from polyloom.frontend.loops.induction.variables import (
    find_course,
    propagate,
    scope_after_loop,
)
from polyloom.frontend.loops.lowering.branches import Branches
from polyloom.frontend.loops.lowering.stores import Nodes
from polyloom.frontend.loops.remainders import strip_size
from polyloom.frontend.loops.tree import STEPS, Node, refusal
from polyloom.frontend.strip_mining import Body, Interval, Parted, make_strips
from polyloom.ir.nest import If, Loop
from polyloom.ir.nest import Node as NestNode
from polyloom.sets import Affine, Condition
from polyloom.sets.normal_form import conjunction


class Turns(Branches):
    """Lowering of loops; `block` is that of sequences of statements."""

    def block(self, nodes: Iterable[Node], scope: Scope) -> Nodes:
        """Lowering of a sequence of statements; declarations hold until the end of the block."""
        raise NotImplementedError

    def changed_counters(self, node: Node) -> frozenset[str]:
        """The counters that a statement changes."""
        return changed_counters(node, self.roles.counters) if self.roles.counters else frozenset()

    def with_rest(self, nodes: tuple[Node, ...], parameter: str, scope: Scope) -> Body:
        """Lowering of statements where a parameter is a form."""
        return lambda form, where: self.block(nodes, with_parts(scope, parameter, form).restrict_domain(where))

    def loop(self, node: Node, scope: Scope) -> Nodes:
        """Lowering of a `for`; raises PL0158, PL0159, PL0165."""
        found = loop_header(node, scope)
        if found.identity in scope.around:
            raise refusal(
                "PL0165",
                f"`{found.name}` counts two loops, one within the other",
                node.inner[0],
                "give the inner loop a variable of its own",
            )
        if found.identity in self.changed_counters(node.inner[4]):
            raise _refuse_loop_assignment(node.inner[4], found)
        return (*self.take_gathered(), *self.turns(found, node.inner[4], node, scope)[0])

    def turns(
        self,
        found: Header,
        body: Node,
        node: Node,
        scope: Scope,
        test: Node | None = None,
        by_turns: bool = False,
    ) -> tuple[Nodes, Scope]:
        """Loop of a header, and what is known behind it; where divisions in its body ask for that, strip mined (Wolfe
        1996); `by_turns` numbers its turns from 0, as a loop that counts by more than one always does.
        """
        name = self.fresh(found.name)
        symbol, size = Affine.symbol(name), abs(found.step)
        if size > 1 and len(found.first) != 1:
            raise refusal("PL0158", f"a loop that counts by {size} begins at one of several values", node.inner[0])
        by_turns = by_turns or size > 1
        value = found.first[0] + symbol * found.step if by_turns else symbol
        lengths = found.lengths()
        counts = [turn_count(length, size) for length in lengths]
        upper = tuple(length if count is None else count for length, count in zip(lengths, counts, strict=True))
        counter = Interval(found.lower, found.upper, 1 if found.step > 0 else -1)
        counter = Interval((Affine(),), upper, 1) if by_turns else counter
        inside = loop_scope(scope, found, value).restrict_domain(
            conjunction(found.domain(value), counter.holds(symbol))
        )
        turn = symbol if by_turns else found.turn(symbol)
        run = find_course((body,), found.count(scope), inside, self.roles.counters, test, found, scope, turn)
        # Quotients of what runs along with the loop ask for strips, too.
        parts = strip_size(body, name, with_values(inside, run.turn_values(turn, scope)), self.roles.counters)
        cut = None if parts is None else make_strips(counter, parts.size, scope.domain)
        if len(found.first) != 1 or cut is not None:
            # Strips have no first turns that could be peeled.
            run = replace(run, carried={}, depth=0)

        def turn_scope(form: Affine, where: Condition, around: Scope) -> Scope:
            """The scope in the body where the loop's counter is a form."""
            here = value.substitute({name: form})
            return loop_scope(around, found, here).restrict_domain(conjunction(found.domain(here), where))

        def lower_form(form: Affine, inside: Scope) -> Nodes:
            made = self.block((body,), inside)
            # Whether a turn is left may depend on a remainder of a size: the turns beyond are empty.
            is_exact = size == 1 or None not in counts or not made
            return made if is_exact else (If(found.domain(value.substitute({name: form})), made, (), node.span),)

        def lower_turn(form: Affine, where: Condition) -> Nodes:
            """The body where the loop's counter is a form."""
            here = value.substitute({name: form})
            known = run.values_at_start(None if turn is None else turn.substitute({name: form}), here, scope)
            own = {n: v for n, v in known.items() if n != found.identity}
            return lower_form(form, with_values(turn_scope(form, where, scope), own))

        behind = scope_after_loop(found, run, scope)
        open_ = sorted(parts.open & self.parameters) if parts is not None and node.kind in ("for", "while") else []
        if open_ and not by_turns and len(found.first) == 1:
            # `count >> 2`, where count is 1 in the first turn, whatever the loop's own variable begins at.
            return self.turns(found, body, node, scope, test, by_turns=True)
        if parts is not None and open_:
            parted = Parted(open_[0], parts.parts, self.fresh(open_[0]), self.fresh(open_[0]))
            return parted.loops(self.with_rest((node,), open_[0], scope), node.span), behind
        if parts is not None and cut is not None:
            strip, place = self.fresh(found.name), None if parts.unrolls else name
            return cut.loops(strip, place, lower_turn, node.span, found.name), behind
        peeled, counter = self.peel_turns(
            found, run, counter, scope, (lambda f, w, s: lower_form(f, turn_scope(f, w, s))), body
        )
        made = lower_turn(symbol, counter.holds(symbol))
        is_stepped = node.text == STEPS
        loop = Loop(name, counter.lower, counter.upper, made, counter.direction, node.span, is_stepped, found.name)
        return (*peeled, *((loop,) if made else ())), behind

    def peel_turns(
        self,
        found: Header,
        run: Course,
        counter: Interval,
        scope: Scope,
        lower_form: Callable[[Affine, Condition, Scope], Nodes],
        body: Node,
    ) -> tuple[Nodes, Interval]:
        """Loop peeling for wrap-around variables (Wolfe 1996): the first turns, in which these are not yet what later
        ones make them, and the interval of the others.
        """
        if not run.depth:
            return (), counter
        first = counter.lower[0] if counter.direction == 1 else found.first[0]
        start = run.values_at_start(Affine(), found.first[0], scope)
        if all(value is not None and value == known_value(scope, name) for name, value in start.items()):
            return (), counter
        made, current = list[NestNode](), scope
        for n in range(run.depth):
            form = first + n * counter.direction
            where = counter.holds(form)
            here = loop_scope(current, found, found.first[0] + n * found.step).restrict_domain(where)
            made.append(If(where, lower_form(form, where, current), (), body.span))
            behind = propagate((body,), here, self.roles.counters)
            current = with_values(scope, {name: known_value(behind, name) for name in run.steps})
        rest = first + run.depth * counter.direction
        if counter.direction == 1:
            return tuple(made), replace(counter, lower=(rest,))
        return tuple(made), replace(counter, upper=(rest + 1,))


def with_parts(scope: Scope, parameter: str, form: Affine) -> Scope:
    """The scope in which a parameter is a form of others."""
    to = {parameter: form}
    symbols = {name: form.substitute(to) for name, form in scope.symbols.items()}
    named = {name: form.substitute(to) for name, form in scope.named.items()}
    return replace(scope, symbols=symbols, named=named, parted={**scope.parted, **to})


def loop_scope(scope: Scope, found: Header, value: Affine) -> Scope:
    """The scope in a loop whose variable has a value."""
    inside = scope.bind_integer(found.name, found.identity, value)
    return replace(inside, around=inside.around | {found.identity})


def _refuse_loop_assignment(body: Node, found: Header) -> PolyloomError:
    """The loop's variable is assigned within the loop."""
    where = next(part for part in body if assigned_symbol(part) == found.identity)
    return refusal("PL0165", f"`{found.name}` is a loop variable and is assigned", where, "use another variable")
