# SPDX-License-Identifier: Apache-2.0
"""The blocks of a function while its loops are rewritten, and what the rewriting of loops shares: what a loop computes,
values made in front of it, and variables that it gets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from polyloom.analysis.affine import Affine, AffineForms, atom_form
from polyloom.analysis.loops import Loop, LoopForest
from polyloom.ir.ssa import (
    Block,
    Constant,
    Edge,
    Function,
    Instruction,
    Operand,
    Undef,
    Value,
    integer_constant,
    replace_edges,
    successor_edges,
    wrap_to_type,
)
from polyloom.ir.ssa_types import PTR
from polyloom.ir.ssa_verify import uses
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.function_editing import names


@dataclass(frozen=True, slots=True)
class Place:
    """A loop's blocks by their positions; `each` are those that every iteration runs through, `own` those of no loop
    within it."""

    header: int
    entry: int
    latch: int
    members: tuple[int, ...]
    each: tuple[int, ...]
    own: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """A loop: forms of what it computes, which stop at variables that count; all names that it defines; and `around`,
    instructions of the whole function, for those who look at what stays."""

    forms: AffineForms
    defined: Set[str]
    around: Mapping[str, Instruction] = field(default_factory=dict[str, Instruction])

    def stays(self, operand: Operand) -> bool:
        return not isinstance(operand, Undef) and not (isinstance(operand, Value) and operand.name in self.defined)

    def counts(self, operand: Operand) -> bool:
        return isinstance(operand, Value) and operand.name in self.forms.leaves

    def integer(self, operand: Operand) -> Affine | None:
        """An integer as wide as an address, or None where it is not affine in what counts and what stays."""
        form, address = self.forms.form(operand), self.forms.function.address
        known = all(atom.type == address and (self.counts(atom) or self.stays(atom)) for atom, _ in form.terms)
        return form if known and operand.type == address else None

    def pointer(self, operand: Operand) -> tuple[Operand, Affine] | None:
        """A pointer that stays, and a distance from it."""
        form = self.forms.form(operand)
        base = next((atom for atom, factor in form.terms if factor == 1 and atom.type == PTR), None)
        if base is None or not self.stays(base):
            return None
        distance = form - atom_form(base)
        known = all(atom.type != PTR and (self.counts(atom) or self.stays(atom)) for atom, _ in distance.terms)
        return (base, distance) if known else None

    def at_leaves(self, leaves: Set[str], copies: Mapping[str, Instruction]) -> Scope:
        """The scope whose forms stop elsewhere, and follow parameters that are copies."""
        makers = {**self.forms.makers, **copies}
        return replace(self, forms=AffineForms(self.forms.function, (), leaves, makers))


class Body:
    """Mutable: the blocks, in their order."""

    def __init__(self, function: Function) -> None:
        self.function, self.blocks, self.fresh = function, list(function.blocks), names(function)

    def scope(self, members: Sequence[int], counting: Set[str] = frozenset()) -> Scope:
        """What the loop computes, with the names of what counts."""
        blocks = [self.blocks[k] for k in members]
        forms = AffineForms(self.function, blocks, counting)
        return Scope(forms, frozenset((*forms.makers, *(p.name for block in blocks for p in block.parameters))))

    def append(self, k: int, *instructions: Instruction) -> None:
        block = self.blocks[k]
        self.blocks[k] = replace(block, instructions=(*block.instructions, *instructions))

    def emit(self, k: int, operation: str, a: Operand, b: Operand) -> Value:
        """The result of a new instruction at the end of a block: a pointer of `offset`, else an integer as wide."""
        result = Value(self.fresh("at"), PTR if operation == "offset" else self.function.address)
        self.append(k, Instruction(operation, (a, b), (result,), place=self.blocks[k].terminator.place))
        return result

    def times(self, k: int, value: Operand, factor: int) -> Operand:
        """A multiple, computed at the end of a block."""
        if isinstance(value, Constant):
            return self.number(value.value * factor)
        if factor == 1:
            return value
        # A shift is one cycle everywhere, a product seldom.
        is_power = factor > 0 and factor & (factor - 1) == 0
        by = self.number(factor.bit_length() - 1 if is_power else factor)
        return self.emit(k, "shl" if is_power else "mul", value, by)

    def number(self, number: int) -> Constant:
        """A constant as wide as an address."""
        return integer_constant(self.function.address, wrap_to_type(self.function.address, number))

    def readers(self) -> Counter[str]:
        """How often each value is read by what is needed."""
        # Readers that are dead themselves, such as a counter that only counts, would keep a value.
        live = dce(replace(self.function, blocks=tuple(self.blocks)))
        return Counter(o.name for b in live.blocks for _, read in uses(b) for o in read if isinstance(o, Value))

    def add_variable(self, place: Place, variable: Value, start: Operand, following: Operand) -> None:
        """A parameter of the loop's header, which begins with `start` and goes on with `following`."""
        header = self.blocks[place.header]
        self.blocks[place.header] = replace(header, parameters=(*header.parameters, variable))
        for k, argument in ((place.entry, start), (place.latch, following)):
            self.blocks[k] = _with_argument(self.blocks[k], header.name, argument)


def _with_argument(block: Block, target: str, argument: Operand) -> Block:
    def append_argument(edge: Edge) -> Edge:
        return replace(edge, arguments=(*edge.arguments, argument)) if edge.block == target else edge

    return replace(block, terminator=replace_edges(block.terminator, lambda operand: operand, append_argument))


def entering_block(body: Body, loop: Loop, members: Sequence[int]) -> int:
    """The block that enters a loop which has a preheader."""
    header = body.blocks[loop.header].name
    entering = (
        k for k, b in enumerate(body.blocks) if any(edge.block == header for edge in successor_edges(b.terminator))
    )
    return next(k for k in entering if k not in members)


def loop_place(body: Body, forest: LoopForest, number: int, above: Sequence[int]) -> Place | None:
    """A loop that has a preheader; None where it is irreducible, or is repeated by several jumps. `above` has by block
    the one that dominates it immediately."""
    loop, members = forest.loops[number], forest.members(number)
    if loop.irreducible or len(loop.latches) != 1:
        return None
    latch = loop.latches[0]
    header = body.blocks[loop.header].name
    if sum(edge.block == header for edge in successor_edges(body.blocks[latch].terminator)) != 1:
        return None
    own = tuple(sorted(loop.own))
    each = tuple(sorted(_dominators_in_loop(latch, loop.header, above) & set(own)))
    return Place(loop.header, entering_block(body, loop, members), latch, members, each, own)


def _dominators_in_loop(node: int, header: int, above: Sequence[int]) -> set[int]:
    """The blocks of a loop that every iteration runs through."""
    found = {node}
    while node != header:
        node = above[node]
        found.add(node)
    return found
