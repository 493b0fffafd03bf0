# SPDX-License-Identifier: Apache-2.0
"""Lowering of statements to the nodes of a nest: sequences, declarations, and counters, whose values decide what
follows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from polyloom.frontend.loops import refusals
from polyloom.frontend.loops.affine import Scope, affine_condition, affine_form
from polyloom.frontend.loops.counters import (
    assigned_symbol,
    count_uses,
    is_dead_variable,
)
from polyloom.frontend.loops.elements import polynomial
from polyloom.frontend.loops.induction.final_values import final_values
from polyloom.frontend.loops.lowering.counter_changes import CounterChanges
from polyloom.frontend.loops.lowering.stores import Nodes
from polyloom.frontend.loops.substatements import flatten_blocks
from polyloom.frontend.loops.tree import Node, refusal
from polyloom.frontend.loops.types import COUNTING, SHORT, TYPES
from polyloom.frontend.loops.values import value
from polyloom.ir.nest import Node as NestNode
from polyloom.ir.pla import Reference

_ACTING = ("call", "update", "statements")


class Statements(CounterChanges):
    """Lowering of one function's body."""

    def block(self, nodes: Iterable[Node], scope: Scope) -> Nodes:
        """Lowering of a sequence of statements; declarations hold until the end of the block."""
        result, waiting = list[NestNode](), tuple(nodes)
        while waiting:
            node, waiting = waiting[0], waiting[1:]
            if node.kind == "declare":
                for n, declaration in enumerate(node.inner):
                    if self.declares_counter(declaration, scope):
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

    def declares_counter(self, declaration: Node, scope: Scope) -> bool:
        """Whether a declaration gives a counter its value; one that is affine and stays so is a name of that value."""
        name = declaration.symbol
        if name not in self.roles.counters or not declaration.initial:
            return False
        return name in self.roles.assigned or affine_form(declaration.inner[-1], scope) is None

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
        if initial is None and declaration.symbol in self.roles.counters and declaration.ctype not in TYPES:
            # A counter of 64 bits, which is never data.
            return (), scope
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


def private_variables(node: Node, everywhere: Mapping[str, int]) -> frozenset[str]:
    """Privatizable variables of the branches of an `if`: those of the branches alone that are assigned before they are
    read.
    """
    sides = [flatten_blocks(side) for side in node.inner[1:]]
    inside = count_uses(part for side in sides for part in side)
    whole = {name for name, count in inside.items() if count == everywhere.get(name)}
    return frozenset(name for name in whole if all(is_dead_variable(name, side) for side in sides))
