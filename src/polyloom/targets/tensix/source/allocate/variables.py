# SPDX-License-Identifier: Apache-2.0
"""Out-of-SSA translation of vectors: values become variables, arguments of jumps copies, and so does what an
instruction overwrites or has in a fixed register.

A copy takes all lanes whatever is enabled, so that it is right under every condition. Most of them go in allocation.
Method: Sreedhar et al. 1999; critical edges are split and parallel copies sequentialized (Boissinot et al. 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from polyloom.ir.ssa import (
    NOWHERE,
    Block,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Place,
    Return,
    Undef,
    Value,
    replace_edges,
    successor_edges,
)
from polyloom.targets.tensix.source.allocate.code import EXIT_SHAPE, FIRST_VARIABLE, RAW, Code, Item, Op, Register, copy
from polyloom.targets.tensix.source.allocate.interference import ALLOCATED
from polyloom.targets.tensix.source.lower.masks import ALL, analyze_masks
from polyloom.targets.tensix.source.lower.shapes import (
    PINNED,
    REGISTER,
    Machine,
    constant_register,
    decompose,
    shape_table,
)
from polyloom.targets.tensix.source.operations import PREFIX, VECTOR
from polyloom.targets.tensix.words.decode import decode
from polyloom.targets.tensix.words.isa import Member
from polyloom.transform.ssa.function_editing import names, remove_unreachable

_UNSTORED = 12
"""SFPSTORE of a register from here on stores nothing."""
_ZERO = 9
"""The register that stands for a value that is undefined: any would do."""


def leave_ssa(function: Function, member: Member) -> Code:
    """Code over variables of a function after placement."""
    return _Leaving(_split_critical_edges(remove_unreachable(function)), member).code()


def _split_critical_edges(function: Function) -> Function:
    """Critical edge splitting: each edge with vectors from a block that jumps to several to one that several jump to
    gets a block.
    """
    fresh = names(function)
    parameters = {block.name: block.parameters for block in function.blocks}
    arrivals: dict[str, int] = {}
    for block in function.blocks:
        for edge in successor_edges(block.terminator):
            arrivals[edge.block] = arrivals.get(edge.block, 0) + 1
    made: list[Block] = []

    def split_edge(edge: Edge) -> Edge:
        is_vector = any(p.type == VECTOR for p in parameters[edge.block])
        if not is_vector or arrivals[edge.block] == 1:
            return edge
        name = fresh(edge.block)
        made.append(Block(name, (), (), Jump(edge)))
        return Edge(name)

    blocks: list[Block] = []
    for block in function.blocks:
        if len(successor_edges(block.terminator)) > 1:
            block = replace(block, terminator=replace_edges(block.terminator, lambda o: o, split_edge))
        blocks.append(block)
    return replace(function, blocks=(*blocks, *made))


@dataclass(slots=True)
class _Leaving:
    """Translation in work. Mutable: variables by name of their values, and the items of the block in work."""

    function: Function
    member: Member
    numbers: dict[str, Register] = field(default_factory=dict[str, Register])
    written: frozenset[int] = frozenset()
    pinned: tuple[int, ...] = ()
    items: list[Item] = field(default_factory=list[Item])
    next: Callable[[], int] = field(default_factory=lambda: count(FIRST_VARIABLE).__next__)

    def code(self) -> Code:
        calls = [i for block in self.function.blocks for i in block.instructions]
        self.written = frozenset(_register_number(i) for i in calls if i.called == "SFPCONFIG")
        self.pinned = tuple(sorted({_register_number(i) for i in calls if i.called == PINNED}))
        for instruction in calls:
            # a register that nothing writes is used where it is; blocks are not in the order of control
            number = _register_number(instruction) if instruction.called == REGISTER else 0
            if number >= ALLOCATED and number not in self.written:
                self.numbers[instruction.results[0].name] = number
        parameters = {block.name: block.parameters for block in self.function.blocks}
        known = analyze_masks(self.function)
        heads = {block.name: list[Item]() for block in self.function.blocks}
        tails: dict[str, list[Item]] = {}
        for block in self.function.blocks:
            tails[block.name] = self._edge_copies(block, parameters, heads)
        blocks: list[Block] = []
        found: list[tuple[Item, ...]] = []
        for block in self.function.blocks:
            self.items = []
            for instruction, enabled in zip(block.instructions, known.before[block.name], strict=False):
                self._instruction(instruction, enabled == ALL)
            # Pinned registers are read by whoever called the kernel, so that they live to its end.
            if isinstance(block.terminator, Return) and self.pinned:
                self.items.append(Op(EXIT_SHAPE, kept=self.pinned))
            found.append((*heads[block.name], *self.items, *tails[block.name]))
            blocks.append(_scalar_block(block, parameters))
        return Code(replace(self.function, blocks=tuple(blocks)), tuple(found), self.next())

    def _edge_copies(
        self, block: Block, parameters: dict[str, tuple[Value, ...]], heads: dict[str, list[Item]]
    ) -> list[Item]:
        """Copies of an edge, at the end of a block that jumps to one, else at the beginning of those that it jumps
        to."""
        edges = successor_edges(block.terminator)
        own: list[Item] = []
        for edge in edges:
            pairs = [
                (self._register(parameter), self._operand(argument))
                for parameter, argument in zip(parameters[edge.block], edge.arguments, strict=True)
                if parameter.type == VECTOR and not isinstance(argument, Undef)
            ]
            made = sequentialize_copies(pairs, self.next, block.terminator.place)
            (own if len(edges) == 1 else heads[edge.block]).extend(made)
        return own

    def _instruction(self, instruction: Instruction, is_everywhere: bool) -> None:
        taken = decompose(instruction)
        place = instruction.place
        if taken is not None:
            self._machine_op(taken, place)
        elif instruction.called == REGISTER:
            self._read_register(instruction.results[0], _register_number(instruction), place)
        elif instruction.called == PINNED:
            value, number = self._operand(instruction.operands[0]), _register_number(instruction)
            note = f"l_reg[{number}]"
            if is_everywhere:
                self.items.append(copy(number, value, place, note))
            else:
                zero = (Constant(instruction.operands[1].type, 0),)
                self.items.append(Op(shape_table()["SFPMOV"], (number,), (value,), zero, (number,), place, note))
        elif instruction.called == f"{PREFIX}word" and isinstance(instruction.operands[0], Constant):
            self.items.append(self._raw_op(instruction.operands[0], is_everywhere, place))
        else:
            self.items.append(instruction)

    def _raw_op(self, bits: Constant, is_everywhere: bool, place: Place) -> Op:
        """Raw word of the source, with the registers that its instruction reads and writes."""
        found = decode(bits.value & 0xFFFFFFFF, self.member)
        if found is None or found.row.unit != "vector":
            return Op(RAW, immediates=(bits,), place=place, note="raw")
        row = found.row
        reads, writes = (
            tuple(sorted(r for r in row.registers(bits.value & 0xFFFFFFFF, roles) if r < ALLOCATED))
            for roles in (row.reads, row.writes)
        )
        return Op(RAW, writes, reads, (bits,), () if is_everywhere else writes, place, "raw")

    def _read_register(self, result: Value, number: int, place: Place) -> None:
        if self.numbers.get(result.name) != number:
            self.items.append(copy(self._register(result), number, place, _note(result)))

    def _machine_op(self, taken: Machine, place: Place) -> None:
        """Machine instruction with its tied, kept and fixed registers, which copies around it provide."""
        shape = taken.shape
        note = ", ".join(map(_note, taken.results))
        results = [
            int(s) if s.isdecimal() else self._register(r) for s, r in zip(shape.results, taken.results, strict=True)
        ]
        operands = [self._operand(operand) for operand in taken.operands]
        copies: list[tuple[Register, Register]] = []
        for position, k in shape.tied:
            copies.append((results[k], operands[position]))
            operands[position] = results[k]
        kept: tuple[Register, ...] = ()
        if taken.old is not None and not isinstance(taken.old, Undef):
            kept = (results[0],)
            if not shape.tied:
                copies.append((results[0], self._operand(taken.old)))
        for position, slot in enumerate(shape.operands):
            if slot.isdecimal():
                copies.append((int(slot), operands[position]))
                operands[position] = int(slot)
        # SFPSTORE of L12 and above would become a template of SFPLOADMACRO (page of `SFPLOADMACRO`).
        if shape.name == "SFPSTORE" and operands[0] >= _UNSTORED and operands[0] < FIRST_VARIABLE:
            copies.append((self.next(), operands[0]))
            operands[0] = copies[-1][0]
        self.items += [copy(to, source, place, note) for to, source in copies]
        self.items.append(Op(shape, tuple(results), tuple(operands), taken.immediates, kept, place, note))
        for slot, result in zip(shape.results, taken.results, strict=True):
            if slot.isdecimal():
                self.items.append(copy(self._register(result), int(slot), place, _note(result)))

    def _operand(self, operand: Operand) -> Register:
        match operand:
            case Constant():
                return constant_register(operand)
            case Value():
                return self._register(operand)
            case _:
                return _ZERO

    def _register(self, value: Value) -> Register:
        if value.name not in self.numbers:
            self.numbers[value.name] = self.next()
        return self.numbers[value.name]


def sequentialize_copies(
    pairs: Sequence[tuple[Register, Register]], fresh: Callable[[], Register], place: Place = NOWHERE
) -> Iterator[Op]:
    """Sequentialization of a parallel copy: copies one after the other that have the effect of all at once (Boissinot
    et al. 2009).
    """
    left: list[tuple[Register, Register]] = [(to, source) for to, source in pairs if to != source]
    while left:
        ready = next((pair for pair in left if all(pair[0] != source for _, source in left)), None)
        if ready is None:
            # only cycles are left: one target is saved, and its readers take the copy
            target: Register = left[0][0]
            saved: Register = fresh()
            yield copy(saved, target, place)
            left = [(to, saved if source == target else source) for to, source in left]
            continue
        yield copy(*ready, place)
        left.remove(ready)


def _scalar_block(block: Block, parameters: dict[str, tuple[Value, ...]]) -> Block:
    """Block without vectors among parameters and arguments, and without instructions."""

    def edge(found: Edge) -> Edge:
        kept = zip(parameters[found.block], found.arguments, strict=True)
        return Edge(found.block, tuple(argument for parameter, argument in kept if parameter.type != VECTOR))

    left = tuple(p for p in block.parameters if p.type != VECTOR)
    return Block(block.name, left, (), replace_edges(block.terminator, lambda o: o, edge))


def _register_number(instruction: Instruction) -> int:
    """Number of a register among the operands."""
    operand = next(o for o in instruction.operands if isinstance(o, Constant) and o.type != VECTOR)
    return operand.value


def _note(value: Value) -> str:
    return value.name
