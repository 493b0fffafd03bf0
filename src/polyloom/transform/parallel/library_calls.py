# SPDX-License-Identifier: Apache-2.0
"""Calls of library functions, found again in nests: the inverse of `transform.library`, for machines that compute a
function in a way of their own (analysis/calls.py has the patterns).

The steps of a function stand in scalars that are assigned once, in the block of the statement that uses them; forward
substitution of these (Muchnick 1997, section 12.5) makes one term again, and scalars that nothing reads are left out
(dead code elimination, section 18.10).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from polyloom.analysis.calls import find_call
from polyloom.ir import formula as terms
from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Nest, Node, accesses, assignments
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.operations import BY_NAME
from polyloom.ir.pla import Constant, Reference


def recover_calls(nest: Nest) -> Nest:
    """Nest with calls in the place of their steps; the same object where there are none."""
    visit = _Calls(nest)
    body = visit.nodes(nest.body)
    return _remove_dead_locals(replace(nest, body=body)) if visit.found else nest


class _Calls(Rewriter):
    """`defined` are values of scalars that hold at the place that the visit has come to (mutable)."""

    def __init__(self, nest: Nest) -> None:
        times = Counter(a.target.name for a in assignments(nest.body))
        self.once = {s.name for s in nest.storage if s.role == "local" and not s.shape and times[s.name] == 1}
        self.defined, self.found = dict[str, Expression](), False
        # By identity, as expressions are graphs with shared parts; what is a key stays alive in the value.
        self.terms, self.sources = dict[int, tuple[Expression, terms.Term]](), dict[int, Expression]()

    def nodes(self, nodes: Sequence[Node]) -> tuple[Node, ...]:
        before, self.defined = self.defined, {}
        made = super().nodes(nodes)
        self.defined = before
        return made

    def loop(self, node: Loop) -> Iterable[Node]:
        made = tuple(super().loop(node))
        self.forget({a.target.name for a in assignments((node,))})
        return made

    def branch(self, node: If) -> Iterable[Node]:
        made = tuple(super().branch(node))
        self.forget({a.target.name for a in assignments((node,))})
        return made

    def assignment(self, node: Assign) -> Assign:
        name, made = node.target.name, replace(node, value=self.value(node.value))
        self.forget({name})
        # A value that reads what it is assigned to holds no more.
        if name in self.once and not any(read.name == name for read in accesses(node.value)):
            self.defined[name] = node.value
        return made

    def forget(self, written: set[str]) -> None:
        """Kill values that read something that was written."""
        stale = [n for n, v in self.defined.items() if n in written or any(r.name in written for r in accesses(v))]
        for name in stale:
            del self.defined[name]

    def value(self, value: Expression) -> Expression:
        if not isinstance(value, Apply):
            return value
        term = self.term(value)
        # Of an operation the type is that of its operands, which are integers where a function ends with its bits.
        is_single = BY_NAME[value.operation].result(value.dtype) == "f32"
        call = find_call(term, self.definition) if is_single and isinstance(term, terms.Apply) else None
        if call is None:
            return replace(value, operands=tuple(map(self.value, value.operands)))
        self.found = True
        name, (operand,) = call
        return Apply(name, "f32", (self.value(self.sources[id(operand)]),), value.span)

    def definition(self, leaf: terms.Leaf) -> terms.Term:
        return leaf if leaf.index or leaf.array not in self.defined else self.term(self.defined[leaf.array])

    def term(self, value: Expression) -> terms.Term:
        """Term of an expression; `sources` lead back."""
        if id(value) not in self.terms:
            made = self.make_term(value)
            self.terms[id(value)], self.sources[id(made)] = (value, made), value
        return self.terms[id(value)][1]

    def make_term(self, value: Expression) -> terms.Term:
        match value:
            case Reference(name=name, index=index):
                return terms.Leaf(name, index)
            case Constant(value=number):
                return terms.Number(number)
            case Index(value=form):
                return terms.Leaf("", (form,))
            case Apply(operation=operation, operands=operands):
                return terms.Apply(operation, tuple(map(self.term, operands)))


def _remove_dead_locals(nest: Nest) -> Nest:
    """Nest without scalars that are only written, and without their storage."""
    while True:
        read = {r.name for a in assignments(nest.body) for r in accesses(a.value)}
        # One removal may take the last reader of another scalar: hence the loop.
        dead = {s.name for s in nest.storage if s.role == "local" and not s.shape and s.name not in read}
        if not dead:
            return nest
        storage = tuple(s for s in nest.storage if s.name not in dead)
        nest = replace(nest, storage=storage, body=_Removal(dead).nodes(nest.body))


class _Removal(Rewriter):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def assign(self, node: Assign) -> Iterable[Node]:
        return () if node.target.name in self.names else (node,)
