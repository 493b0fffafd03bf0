# SPDX-License-Identifier: Apache-2.0
"""Indices of 32 bits in loops without their extensions, where accesses to memory show that they do not wrap around.

C's `int` may wrap around here, as machines do: `a[i * n + j]` is the low 32 bits of a sum, extended by their sign, so
that its address is not linear in j. But where each iteration accesses an element of that index, two iterations that
follow one another access the same object, which has less than two to the 31 bytes. So the difference of their indices
is less than two to the 31, and modulo two to the 32 it is that of the sums: it is the step of the sum, extended by its
sign. The first index is computed as it stands, the next ones in 64 bits, whose addresses become pointers that move
(strength.py). An index whose element is accessed in the same iteration, and that differs by a constant modulo two to
the 32, differs by that constant for the same reason.

Loops are looked at from the innermost outwards. An inner loop's first iteration accesses what its variables begin with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.dominators import dominators
from polyloom.analysis.loops import loop_forest
from polyloom.ir.ssa import Block, Function, Instruction, Operand, Value, flow_edges, successor_edges, wrap_to_type
from polyloom.ir.ssa_types import I32, I64
from polyloom.ir.ssa_verify import uses
from polyloom.transform.ssa.body import Body, Place, Scope, loop_place
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.counters import counts
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.function_editing import on_each_function
from polyloom.transform.ssa.preheaders import with_preheaders
from polyloom.transform.ssa.sign_extended_sums import Extended, Products, match_extension
from polyloom.transform.ssa.wide_sums import Wide, rewritten, widen_sum

_FORWARDS: Final = ("add", "sub", "shl", "mul", "offset", "copy")
"""What makes an address of an index."""
Position = tuple[int, int]
"""A block, and an instruction in it; its end is one instruction further."""


@on_each_function
def widen_indices(function: Function) -> Function:
    """The function with such indices in 64 bits; only where pointers have as many."""
    if function.pointers != 64:
        return function
    function = with_preheaders(function)
    edges = flow_edges(function)
    forest = loop_forest(len(function.blocks), edges)
    above: list[int] = dominators(len(function.blocks), edges).tolist()
    body = Body(function)
    changed = False
    for number in reversed(range(len(forest.loops))):
        place = loop_place(body, forest, number, above)
        inner = {loop.header for loop in forest.loops if loop.parent == number and not loop.irreducible}
        if place is not None:
            changed |= _Loop(body, place, inner, above).rewrite()
    return dce(common(replace(function, blocks=tuple(body.blocks)))) if changed else function


@dataclass(frozen=True, slots=True)
class _Access:
    """A load or store at a multiple of the index from a base; `rest` is what else stays in its address."""

    index: Value
    at: Position
    base: Operand
    rest: tuple[tuple[Operand, int], ...]
    factor: int


class _Loop:
    """One loop: its indices that may wrap around, and the blocks that every iteration runs through, first ones first,
    with the headers of loops within it."""

    def __init__(self, body: Body, place: Place, inner: Set[int], above: Sequence[int]) -> None:
        self.body, self.place, self.above = body, place, above
        self.counts = counts(body, place, body.scope(place.members), (I32, I64))
        names = frozenset(count.variable.name for count in self.counts.values())
        around = {r.name: i for b in body.blocks for i in b.instructions for r in i.results}
        self.scope = replace(body.scope(place.members, names), around=around)
        self.products: Products = {}
        self.found = dict(self._indices()) if self.counts else {}
        chain = [place.latch]
        while chain[-1] != place.header:
            chain.append(above[chain[-1]])
        self.inner = inner
        self.chain = [k for k in reversed(chain) if k in place.own or k in inner]
        self.users = _users(body.blocks) if self.found else {}

    def rewrite(self) -> bool:
        """Whether something has changed."""
        made: dict[Value, Wide] = {}
        anchors: dict[object, _Access] = {}
        for access in list(self._accesses()):
            index, sum = access.index, self.found[access.index]
            if index in made or not self._serves_dominated_addresses(index, access.at):
                continue
            key = (access.base, access.rest, access.factor, sum.sum.terms, sum.shift)
            # Another index of the same base and terms, whose first access shows the distance.
            anchor = anchors.get(key)
            if anchor is not None and self._serves_dominated_addresses(index, anchor.at):
                distance = wrap_to_type(I32, sum.sum.constant - self.found[anchor.index].sum.constant)
                made[index] = made[anchor.index].plus(distance)
            elif access.at[0] in self.chain:
                anchors.setdefault(key, access)
                made[index] = widen_sum(self.body, self.place, self.counts, sum, self.products)
        for k in self.place.own if made else ():
            self.body.blocks[k] = rewritten(self.body, self.body.blocks[k], made)
        return bool(made)

    def _indices(self) -> Iterator[tuple[Value, Extended]]:
        for instruction in (i for k in self.place.own for i in self.body.blocks[k].instructions):
            sum = match_extension(instruction, self.scope, self.products)
            if sum is not None and any(self.scope.counts(v) or v in self.products for v, _ in sum.sum.terms):
                yield instruction.results[0], sum

    def _accesses(self) -> Iterator[_Access]:
        """First those that each iteration makes, in their order."""
        for k in (*self.chain, *(k for k in self.place.own if k not in self.chain)) if self.found else ():
            scope = self._scope(k)
            for n, instruction in enumerate(self.body.blocks[k].instructions):
                if instruction.operation in ("load", "store"):
                    access = self._access(instruction, (k, n), scope)
                    yield from (access,) if access is not None else ()

    def _scope(self, k: int) -> Scope:
        """In which indices are leaves. In the header of an inner loop, its variables are what they begin with."""
        leaves = self.scope.forms.leaves | {value.name for value in self.found}
        if k not in self.inner:
            return self.scope.at_leaves(leaves, {})
        header = self.body.blocks[k]
        ends = [self.body.blocks[m].terminator for m in self.place.own]
        (edge,) = [edge for end in ends for edge in successor_edges(end) if edge.block == header.name]
        pairs = zip(header.parameters, edge.arguments, strict=True)
        return self.scope.at_leaves(leaves, {p.name: Instruction("copy", (a,), (p,)) for p, a in pairs})

    def _access(self, instruction: Instruction, at: Position, scope: Scope) -> _Access | None:
        found = scope.pointer(instruction.operands[-1])
        terms = found[1].terms if found is not None else ()
        indices = [(v, factor) for v, factor in terms if isinstance(v, Value) and v in self.found]
        # Two indices in one address: the access says nothing of either.
        if found is None or len(indices) != 1:
            return None
        rest = tuple(term for term in terms if term not in indices)
        if not all(self.scope.stays(value) for value, _ in rest):
            return None
        return _Access(indices[0][0], at, found[0], rest, indices[0][1])

    def _serves_dominated_addresses(self, index: Value, at: Position) -> bool:
        """Whether the index is part of nothing but addresses that are accessed in the loop, at a position or where each
        path has come through it."""
        seen, work = {index}, [index]
        while work:
            value = work.pop()
            for k, n, instruction in self.users.get(value.name, ()):
                if k not in self.place.members:
                    return False
                if instruction is not None and instruction.operation in ("load", "store"):
                    if value in instruction.operands[:-1] or not self._dominates_position((k, n), at):
                        return False
                    continue
                more = self._passed_parameters(k, value) if instruction is None else instruction.results
                if not more or (instruction is not None and instruction.operation not in _FORWARDS):
                    return False
                work += [other for other in more if other not in seen]
                seen |= set(more)
        return True

    def _passed_parameters(self, k: int, value: Value) -> tuple[Value, ...]:
        """The parameters that get the value at the end of a block; none where the next iteration gets it, or where
        something else depends on it."""
        blocks = {block.name: block for block in self.body.blocks}
        edges = [edge for edge in successor_edges(self.body.blocks[k].terminator) if value in edge.arguments]
        if any(edge.block == self.body.blocks[self.place.header].name for edge in edges):
            return ()
        pairs = (zip(blocks[edge.block].parameters, edge.arguments, strict=True) for edge in edges)
        return tuple(p for each in pairs for p, argument in each if argument == value)

    def _dominates_position(self, position: Position, at: Position) -> bool:
        k, n = position
        if k == at[0]:
            return n >= at[1]
        while k not in (at[0], 0):
            k = self.above[k]
        return k == at[0]


def _users(blocks: Sequence[Block]) -> dict[str, list[tuple[int, int, Instruction | None]]]:
    """By value where it is used; no instruction at the end of a block."""
    found: dict[str, list[tuple[int, int, Instruction | None]]] = {}
    for k, block in enumerate(blocks):
        for n, operands in uses(block):
            instruction = block.instructions[n] if n < len(block.instructions) else None
            for operand in dict.fromkeys(operands):
                if isinstance(operand, Value):
                    found.setdefault(operand.name, []).append((k, n, instruction))
    return found
