# SPDX-License-Identifier: Apache-2.0
"""Lowering of statements that change counters: what follows them is written for each value that they may leave (Gerlek,
Stoltz, Wolfe 1995), and counted `while` and `do` loops become loops over their counters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.affine_proofs import is_nonnegative
from polyloom.frontend.loops import refusals
from polyloom.frontend.loops.affine import Scope, affine_form
from polyloom.frontend.loops.counters import (
    assigned_product,
    assigned_symbol,
    assigned_value,
    count_uses,
    with_values,
)
from polyloom.frontend.loops.elements import array_reference, polynomial
from polyloom.frontend.loops.headers import loop_header
from polyloom.frontend.loops.induction.variables import (
    counted_while_header,
    propagate,
    propagate_loop,
)
from polyloom.frontend.loops.lowering.stores import Nodes
from polyloom.frontend.loops.lowering.turns import Turns
from polyloom.frontend.loops.roles import depends_on_data
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import TYPES
from polyloom.frontend.loops.values import value
from polyloom.frontend.strip_mining import COPIES, Parted
from polyloom.ir.nest import Index
from polyloom.ir.pla import Reference
from polyloom.sets import Affine, Condition, Polyhedron


class CounterChanges(Turns):
    """Lowering of counters; `statement` is that of one statement."""

    def statement(self, node: Node, scope: Scope) -> Nodes:
        """Lowering of one statement."""
        raise NotImplementedError

    @staticmethod
    def is_single_turn(node: Node, scope: Scope) -> bool:
        """Whether a statement is `do ... while (0)`."""
        return node.kind == "do" and affine_form(node.inner[1], scope) == Affine()

    def split_paths(self, node: Node, rest: tuple[Node, ...], scope: Scope) -> Nodes:
        """A statement after which counters have values that depend on affine conditions, and what follows it."""
        if assigned_symbol(node):
            return self.counter(node, rest, scope)
        body, *orelse = node.inner[1:]
        return self.branch(
            node.inner[0],
            lambda s: self.block((body, *rest), s),
            lambda s: self.block((*orelse, *rest), s),
            scope,
        )

    def counter(self, node: Node, rest: tuple[Node, ...], scope: Scope) -> Nodes:
        """A counter's declaration with its value, or its assignment, and what follows it."""
        declares = node.kind == "variable"
        name = node.symbol if declares else assigned_symbol(node)
        if declares and node.ctype in TYPES:
            scope = scope.bind_storage(node.name, name, self.local(node, scope))
            self.counted.add(scope.storage[name].name)

        def part(inside: Scope) -> Nodes:
            value = affine_form(node.inner[-1], inside) if declares else assigned_value(node, inside)
            stored = self.store_counter(node, name, value, inside)
            behind = with_values(inside, {name: value})
            # `row = i * n` is not affine, but `A[row + j]` is a subscript once the product is substituted.
            product = polynomial(node.inner[-1], inside) if declares else assigned_product(node, inside)
            if value is None and product is not None:
                behind = replace(behind, products={**behind.products, name: product})
            return (*stored, *self.block(rest, behind))

        return self.choose(node.inner[-1] if declares else node, part, scope)

    def parted_count(self, node: Node, rest: tuple[Node, ...], scope: Scope) -> Nodes | None:
        """A loop of whose number of turns a case decides, and what follows it, for every case: whether it has any, and
        if it counts by more than one, what is left of a parameter. None where that is known, or nothing uses it.
        """
        kinds = ("for", "while", "do")
        if (
            node.kind not in kinds
            or not self.changed_counters(node) & count_uses(rest).keys()
            or self.is_single_turn(node, scope)
        ):
            return None
        try:
            still = scope.drop_gathers()
            found = (
                loop_header(node, still)
                if node.kind == "for"
                else counted_while_header(_turns_loop(node), still, self.roles.counters)
            )
        except PolyloomError:
            return None
        if found is None or len(found.lengths()) != 1:
            return None
        (length,), size = found.lengths(), abs(found.step)
        # Not those of the loops around: a turn of theirs would be another branch.
        known = found.count(scope) is not None
        runs = node.kind != "do" or any(is_nonnegative(form, scope.domain) for form in (length - 1, -length))
        if (known and runs) or not length.symbols <= self.parameters.union(*self.symbol_groups(scope)):
            return None
        names = sorted(name for name, c in length.terms if c % size)
        if names and size <= COPIES and names[0] in self.parameters:
            parted = Parted(names[0], size, self.fresh(names[0]), self.fresh(names[0]), True)
            return parted.loops(self.with_rest((node, *rest), names[0], scope), node.span)
        if names:
            return None
        some = Condition((Polyhedron((length - 1,)),))
        return self.sides(some, node, lambda s: self.block((node, *rest), s), scope)

    @staticmethod
    def symbol_groups(scope: Scope) -> Iterable[frozenset[str]]:
        """The symbols that parameters are taken apart into."""
        return (form.symbols for form in scope.parted.values())

    def store_counter(self, node: Node, name: str, form: Affine | None, scope: Scope) -> Nodes:
        """Store of a counter's value as data, for those who read it where its value is not known."""
        storage = scope.storage.get(name)
        if storage is None:
            return ()
        to = Reference(storage.name, (), node.span)
        if form is not None:
            return self.store(to, Index(form, storage.dtype, node.span), node)
        if node.kind == "variable":
            return self.store(to, value(node.inner[-1], storage.dtype, scope), node)
        return self.store(to, self.stored_value(node, array_reference(node.inner[0], scope), scope), node)

    def lower_counter_change(self, node: Node, scope: Scope) -> tuple[Nodes, Scope]:
        """A statement that changes counters, and what is known of them behind it."""
        if node.kind == "for":
            return self.loop(node, scope), propagate_loop(node, scope, self.roles.counters)
        if node.kind in ("while", "do"):
            return self.lower_while_loop(node, scope)
        return self.statement(node, scope), propagate((node,), scope, self.roles.counters)

    def lower_while_loop(self, node: Node, scope: Scope) -> tuple[Nodes, Scope]:
        """`while (i < n) { ... i++; }`: a loop over the counter that its condition compares. A `do` loop is one, too,
        where its first turn would pass the test; else that turn comes before it.
        """
        loop = _turns_loop(node)
        test, body = loop.inner
        found = counted_while_header(loop, scope, self.roles.counters)
        if found is None:
            raise refusals.refuse_uncounted_loop(node, depends_on_data(test, self.roles.data))
        if node.kind == "do" and not all(is_nonnegative(length - 1, scope.domain) for length in found.lengths()):
            first, behind = self.lower_counter_change(body, scope)
            rest, behind = self.lower_while_loop(loop, behind)
            return (*first, *rest), behind
        return self.turns(found, body, loop, scope, test)


def _turns_loop(node: Node) -> Node:
    """A `do` as the loop of its later turns."""
    return node if node.kind == "while" else replace(node, kind="while", inner=node.inner[::-1])
