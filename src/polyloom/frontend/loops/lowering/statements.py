# SPDX-License-Identifier: Apache-2.0
"""Lowering of statements to the nodes of a nest: sequences, declarations, and counters, whose values decide what
follows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.affine_proofs import is_nonnegative
from polyloom.frontend.loops import refusals
from polyloom.frontend.loops.affine import Scope, affine_condition, affine_form
from polyloom.frontend.loops.counters import (
    assigned_product,
    assigned_symbol,
    assigned_value,
    count_uses,
    is_dead_variable,
    with_values,
)
from polyloom.frontend.loops.elements import array_reference, polynomial
from polyloom.frontend.loops.final_values import final_values
from polyloom.frontend.loops.headers import loop_header
from polyloom.frontend.loops.induction import (
    counted_while_header,
    propagate,
    propagate_loop,
)
from polyloom.frontend.loops.lowering.stores import Nodes
from polyloom.frontend.loops.lowering.turns import Turns
from polyloom.frontend.loops.substatements import flatten_blocks
from polyloom.frontend.loops.tree import Node, refusal
from polyloom.frontend.loops.types import COUNTING, SHORT, TYPES
from polyloom.frontend.loops.values import value
from polyloom.frontend.strip_mining import COPIES, Parted
from polyloom.ir.nest import Index
from polyloom.ir.nest import Node as NestNode
from polyloom.ir.pla import Reference
from polyloom.sets import Affine, Condition, Polyhedron

_ACTING = ("call", "update", "statements")


class Statements(Turns):
    """Lowering of one function's body."""

    def block(self, nodes: Iterable[Node], scope: Scope) -> Nodes:
        """Lowering of a sequence of statements; declarations hold until the end of the block."""
        result, waiting = list[NestNode](), tuple(nodes)
        while waiting:
            node, waiting = waiting[0], waiting[1:]
            if node.kind == "declare":
                for n, declaration in enumerate(node.inner):
                    if declaration.symbol in self.roles.counters and declaration.initial:
                        others = replace(node, inner=node.inner[n + 1 :])
                        # What follows is lowered inside: it may be written once for each value of the counter.
                        return (*result, *self.counter(declaration, (others, *waiting), scope))
                    initial, scope = self.declare(declaration, scope)
                    result.extend(initial)
            elif self.changed_counters(node):
                if node.kind == "block" or self.is_single_turn(node, scope):
                    waiting = (*(node.inner if node.kind == "block" else node.inner[:1]), *waiting)
                elif assigned_symbol(node) or (
                    node.kind == "if" and affine_condition(node.inner[0], scope) is not None
                ):
                    return (*result, *self.split_paths(node, waiting, scope))
                elif (parted := self.parted_count(node, waiting, scope)) is not None:
                    return (*result, *parted)
                else:
                    found, behind = self.lower_counter_change(node, scope)
                    result.extend(found)
                    scope = final_values(node, scope, behind)
            else:
                result.extend(self.statement(node, scope))
                scope = final_values(node, scope, scope)
        return tuple(result)

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
            raise refusals.refuse_statement(node)
        if node.kind == "do" and not all(is_nonnegative(length - 1, scope.domain) for length in found.lengths()):
            first, behind = self.lower_counter_change(body, scope)
            rest, behind = self.lower_while_loop(loop, behind)
            return (*first, *rest), behind
        return self.turns(found, body, loop, scope, test)

    def statement(self, node: Node, scope: Scope) -> Nodes:
        """Lowering of one statement; raises PL0156 for those that are neither loops nor branches nor assignments."""
        if (
            self.changed_counters(node)
            and (node.kind in ("while", "do") or assigned_symbol(node))
            and not self.is_single_turn(node, scope)
        ):
            return self.block((node,), scope)
        match node.kind:
            case "block":
                return self.block(node.inner, scope)
            case "for":
                return self.loop(node, scope)
            case "if":
                orelse = node.inner[2:]
                return self.branch(
                    node.inner[0],
                    lambda s: self.statement(node.inner[1], s),
                    lambda s: self.block(orelse, s),
                    scope,
                    private_variables(node, self.uses),
                )
            case "attributed":
                return self.statement(node.inner[-1], scope)
            case "declare":
                return self.block((node,), scope)
            case "nothing":
                return ()
            case "parentheses":
                return self.statement(node.inner[0], scope)
            # `do { ... } while (0)` is executed once, whatever is in it.
            case "do" if self.is_single_turn(node, scope):  # how macros enclose statements
                return self.statement(node.inner[0], scope)
            case "cast" if node.ctype == "void" and not any(
                n.kind in _ACTING or n.opcode in ("=", "++", "--") for n in node
            ):
                return ()
            case "binary" | "update" | "unary" if node.opcode in ("=", "++", "--") or node.kind == "update":
                return self.assignment(node, scope)
            case _:
                raise refusals.refuse_statement(node)

    @staticmethod
    def is_single_turn(node: Node, scope: Scope) -> bool:
        """Whether a statement is `do ... while (0)`."""
        return node.kind == "do" and affine_form(node.inner[1], scope) == Affine()

    def declare(self, declaration: Node, scope: Scope) -> tuple[Nodes, Scope]:
        """Declaration of a local variable: its initial value, and the scope in which its name has a meaning. Raises
        PL0153, PL0155, PL0161, PL0165.
        """
        if declaration.kind != "variable":
            return (), scope
        if declaration.storage in ("static", "extern"):
            raise refusal(
                "PL0165",
                f"`{declaration.name}` keeps its value between calls",
                declaration,
                f"make `{declaration.name}` a parameter",
            )
        # Loop variables are symbols, not storage: their `for` names them.
        if declaration.symbol in self.roles.loops:
            return (), scope
        initial = declaration.inner[-1] if declaration.initial else None
        form = (
            affine_form(initial, scope)
            if initial is not None
            and declaration.ctype in (*COUNTING, *SHORT)
            and declaration.symbol not in self.roles.assigned
            else None
        )
        if form is not None:
            return (), scope.bind_integer(declaration.name, declaration.symbol, form)
        product = polynomial(initial, scope) if initial is not None and declaration.ctype in COUNTING else None
        known = product is not None and declaration.symbol not in self.roles.assigned
        if known and declaration.ctype not in TYPES:
            # An offset of 64 bits, which is for subscripts alone.
            return (), replace(scope, products={**scope.products, declaration.symbol: product})
        storage = self.local(declaration, scope)
        if declaration.symbol in self.roles.counters:
            self.counted.add(storage.name)
        scope = scope.bind_storage(declaration.name, declaration.symbol, storage)
        if known:
            scope = replace(scope, products={**scope.products, declaration.symbol: product})
        if initial is None:
            return (), scope
        target = Reference(storage.name, (), declaration.span)
        return self.choose(
            initial, lambda s: self.store(target, value(initial, storage.dtype, s), declaration), scope
        ), scope


def _turns_loop(node: Node) -> Node:
    """A `do` as the loop of its later turns."""
    return node if node.kind == "while" else replace(node, kind="while", inner=node.inner[::-1])


def private_variables(node: Node, everywhere: Mapping[str, int]) -> frozenset[str]:
    """Privatizable variables of the branches of an `if`: those of the branches alone that are assigned before they are
    read.
    """
    sides = [flatten_blocks(side) for side in node.inner[1:]]
    inside = count_uses(part for side in sides for part in side)
    whole = {name for name, count in inside.items() if count == everywhere.get(name)}
    return frozenset(name for name in whole if all(is_dead_variable(name, side) for side in sides))
