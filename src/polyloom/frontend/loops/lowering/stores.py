# SPDX-License-Identifier: Apache-2.0
"""Lowering of assignments and of the storage that they need: what conditional operators and divisions decide is written
once for each side, so that what only one side accesses is accessed nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from polyloom.frontend.convert import convert_value
from polyloom.frontend.loops import refusals
from polyloom.frontend.loops.affine import Scope
from polyloom.frontend.loops.elements import array_reference
from polyloom.frontend.loops.extent_text import affine_text, extent_texts
from polyloom.frontend.loops.gathers import Gathers
from polyloom.frontend.loops.remainders import undecided_parts
from polyloom.frontend.loops.roles import Roles
from polyloom.frontend.loops.tree import Node, refusal
from polyloom.frontend.loops.types import TYPES, element_type, is_pointer
from polyloom.frontend.loops.values import lower_binary, value
from polyloom.ir.nest import Apply, Assign, Expression, If, Storage
from polyloom.ir.nest import Node as NestNode
from polyloom.ir.operations import INTEGERS, ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.names import fresh_name
from polyloom.sets import Condition

Nodes = tuple[NestNode, ...]
Part = Callable[[Scope], Nodes]
"""Statements that are still to be compiled, in the scope where they stand."""
_MOST_SPLITS: Final = 1000
"""Every second one doubles what follows it in the worst case: the code would grow without bound."""


class Stores:
    """Lowering of assignments. `storage` grows by the local variables as they are declared."""

    def __init__(
        self, roles: Roles, storage: Iterable[Storage], names: Iterable[str], *, indirect: bool = False
    ) -> None:
        self.roles = roles
        self.storage = {s.name: s for s in storage}
        self.parameters = frozenset(names)
        self.taken = {*self.parameters, *self.storage}
        self.temporaries, self.counted = set[str](), set[str]()
        self.uses = Counter[str]()
        self.splits = 0
        self.gathers = Gathers(self.scalar) if indirect else None

    def scalar(self, name: str, dtype: ElementType) -> str:
        """The name of a scalar that the text does not have."""
        return self.keep(Storage(self.fresh(name), dtype, (), "local")).name

    def local(self, declaration: Node, scope: Scope) -> Storage:
        dtype = element_type(declaration)
        if is_pointer(declaration):
            raise refusal(
                "PL0161",
                f"`{declaration.name}` is a pointer, which may be another name of an array",
                declaration,
                "name the array itself",
            )
        parameters = {name for identity in self.roles.parameters for name in scope.symbols[identity].symbols}
        known = {name: form for name, form in scope.named.items() if form.symbols <= parameters}
        shape = [affine_text(text, known) for text in extent_texts(declaration.ctype)]
        if None in shape:
            raise refusal(
                "PL0155",
                f"an extent of `{declaration.name}` is not affine in the parameters",
                declaration,
                "use parameters and constants",
            )
        return self.keep(
            Storage(self.fresh(declaration.name), dtype, tuple(filter(None, shape)), "local", True, declaration.span)
        )

    def take_gathered(self) -> Nodes:
        """Gathered nodes: what must be computed before what was read since the last call."""
        return () if self.gathers is None else self.gathers.take_nodes()

    def keep(self, storage: Storage) -> Storage:
        self.storage[storage.name] = storage
        return storage

    def fresh(self, name: str) -> str:
        """`name`, or `name_n` with the least n from 2 that is free."""
        return fresh_name(name, self.taken)

    def dtype(self, name: str) -> ElementType:
        return self.storage[name].dtype

    def assignment(self, node: Node, scope: Scope) -> Nodes:
        """`=`, `op=`, `++` and `--` of an element or a scalar; raises PL0165 for loop variables and parameters."""
        left = node.inner[0]
        if left.kind == "name" and (left.symbol in scope.symbols or left.symbol in self.roles.loops):
            name = left.name
            kind = (
                "loop variable" if left.symbol in self.roles.loops else "parameter that bounds or subscripts depend on"
            )
            raise refusal("PL0165", f"`{name}` is a {kind} and is assigned", node, "use another variable")
        return self.choose(node, lambda s: self.lower_store(node, left, s), scope)

    def lower_store(self, node: Node, left: Node, scope: Scope) -> Nodes:
        """An assignment to an element or a scalar."""
        to = array_reference(left, scope)
        return self.store(to, self.stored_value(node, to, scope), node)

    def stored_value(self, node: Node, target: Reference, scope: Scope) -> Expression:
        """Value that an assignment stores, `op=` computed in the promoted type and converted back (C17, section
        6.5.16.2).
        """
        dtype = self.dtype(target.name)
        if node.opcode == "=":
            return value(node.inner[1], dtype, scope)
        if node.opcode in ("++", "--"):
            # `x++` as a statement: its value is not used, so that the order of reading and writing does not show.
            one = Constant(1 if dtype in INTEGERS else 1.0, dtype, node.span)
            if dtype != "bool":
                return Apply("add" if node.opcode == "++" else "sub", dtype, (target, one), node.span)
            # An addition in int, whose result becomes true where it is not 0 (C17 6.3.1.2).
            number, one = convert_value(target, dtype, "i32"), Constant(1, "i32")
            changed = Apply("add" if node.opcode == "++" else "sub", "i32", (number, one), node.span)
            return convert_value(changed, "i32", dtype, node.span)
        # C computes `a op= b` in the promoted type, and converts the result back (C17 6.5.16.2).
        types = node.types
        if types[0] not in TYPES or types[1] not in TYPES:
            raise refusals.refuse_width(replace(node, ctype=types[0] if types[0] not in TYPES else types[1]))
        before = convert_value(target, dtype, TYPES[types[0]], node.span)
        whole = replace(node, ctype=types[1], opcode=node.opcode.removesuffix("="))
        found, of = lower_binary(whole, (before, TYPES[types[0]]), node.inner[1], scope)
        return convert_value(found, of, dtype, node.span)

    def choose(self, expression: Node, part: Part, scope: Scope) -> Nodes:
        """`part`, once for each outcome of the affine conditions in `expression`: those of conditional operators, and
        those that decide a division."""
        for decided, where in undecided_parts(expression, scope):
            return self.sides(where, decided, lambda s: self.choose(expression, part, s), scope)
        return part(scope)

    def sides(self, where: Condition, decided: Node, part: Part, scope: Scope) -> Nodes:
        """`part` once where a condition holds and once where it does not. Raises PL0156."""
        self.splits += 1
        if self.splits > _MOST_SPLITS:
            message = f"sizes decide so much that what follows has more than {_MOST_SPLITS} forms"
            help = "say more about the sizes, as in `assert(n >= m);`, or give them values by --set"
            raise refusal("PL0156", message, decided, help)
        body, orelse = part(scope.assume_outcome(where, True)), part(scope.assume_outcome(where, False))
        return (If(where, body, orelse, decided.span),) if body or orelse else ()

    def store(self, target: Reference, stored: Expression, node: Node) -> Nodes:
        # Gathered indices first: the assignment uses their scalars.
        return (*self.take_gathered(), Assign("", target, stored, node.span))
