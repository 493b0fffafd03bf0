# SPDX-License-Identifier: Apache-2.0
"""Lowering of branches: affine conditions become `If`, data-dependent ones selections (`frontend.if_convert`; Allen,
Kennedy, Porterfield and Warren 1983).
"""

from __future__ import annotations

from polyloom.frontend.if_convert import is_condition_inlined, merge_branches
from polyloom.frontend.loops.affine import Scope, affine_part, decide_test
from polyloom.frontend.loops.gathers import nonzero_condition
from polyloom.frontend.loops.lowering.stores import Nodes, Part, Stores
from polyloom.frontend.loops.remainders import undecided_parts
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.values import lower_truth
from polyloom.ir.nest import If, Storage, depends_on_symbols
from polyloom.ir.pla import Constant, Reference


class Branches(Stores):
    """Lowering of branches."""

    def branch(self, test: Node, body: Part, orelse: Part, scope: Scope, own: frozenset[str] = frozenset()) -> Nodes:
        """Branch: `body` where `test` holds, else `orelse`; affine parts of the test become `If`, data-dependent ones
        selections.
        """
        outcome = decide_test(test, scope)
        if outcome is not None:
            return (body if outcome else orelse)(scope)
        part = affine_part(test, scope)
        if part is not None:
            return self.sides(part[1], part[0], lambda s: self.branch(test, body, orelse, s, own), scope)
        for decided, where in undecided_parts(test, scope):
            return self.sides(where, decided, lambda s: self.branch(test, body, orelse, s, own), scope)
        return self.selection(test, body, orelse, scope, own)

    def selection(self, test: Node, body: Part, orelse: Part, scope: Scope, own: frozenset[str]) -> Nodes:
        """If-conversion of a branch on data (Allen et al. 1983): both sides execute, and their results are selected."""
        found = lower_truth(test, scope)
        first_of_all = self.take_gathered()
        if isinstance(found, Constant):
            return (*first_of_all, *(body if found.value else orelse)(scope))
        before = set(self.storage)
        first, second = body(scope), orelse(scope)
        # What is used inside alone is not seen outside: it may be computed on both sides without a select.
        free = {*(set(self.storage) - before), *self.temporaries}
        free |= {scope.storage[name].name for name in own if name in scope.storage}
        indices = [s.name for s in self.storage.values() if s.role == "local"] if self.gathers is not None else ()
        # Where a side reads at an index that is data, it must not execute speculatively: a true branch remains.
        if indices and depends_on_symbols((*first, *second), indices):
            flag = Reference(self.scalar("test", "i32"), (), test.span)
            return (
                *first_of_all,
                *self.store(flag, found, test),
                If(nonzero_condition(flag), first, second, test.span),
            )
        if is_condition_inlined(first, second):
            return (*first_of_all, *merge_branches(found, first, second, self.dtype, free))
        name = self.fresh("test")
        self.keep(Storage(name, "i32", (), "local", True, test.span))
        self.temporaries.add(name)
        flag = Reference(name, (), test.span)
        return (*first_of_all, *self.store(flag, found, test), *merge_branches(flag, first, second, self.dtype, free))
