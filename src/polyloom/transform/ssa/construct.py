# SPDX-License-Identifier: Apache-2.0
"""Pruned SSA construction: variables in memory (allocas that are only loaded and stored) become values.

Cytron et al., "Efficiently Computing Static Single Assignment Form and the Control Dependence Graph" (1991): a variable gets a
parameter in every block of the iterated dominance frontier of its stores, here only where it is live (Choi, Cytron, Ferrante,
1991); a walk over the dominator tree then gives every load the value that reaches it. Unreachable blocks are left out.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from polyloom.analysis.dominators import DominatorTree, dominator_tree, iterated_frontier
from polyloom.analysis.liveness import live, successors_of
from polyloom.ir.ssa import (
    SIZE,
    Block,
    Constant,
    Edge,
    Function,
    Instruction,
    Operand,
    Terminator,
    Type,
    Undef,
    Value,
    edges_of,
    flow_edges,
    operand_of,
    with_edges,
)
from polyloom.ir.ssa_verify import definitions


def construct(function: Function) -> Function:
    """The function with its promotable variables as values."""
    tree = dominator_tree(len(function.blocks), flow_edges(function))
    variables = _promotable(function)
    with uncollected():
        return _Renaming(function, tree, variables, _places(function, tree, variables)).function()


@contextmanager
def uncollected() -> Generator[None, None, None]:
    """No search for cycles of garbage: millions of small objects are made, none is in a cycle, and looking takes half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@dataclass(frozen=True, slots=True)
class _Variable:
    index: int
    name: str
    type: Type


def _promotable(function: Function) -> dict[str, _Variable]:
    """Allocas of a constant size whose address is used by plain loads and stores of one type alone, by the name of the address."""
    sizes = dict(_allocas(function))
    types: dict[str, Type | None] = dict.fromkeys(sizes)
    for block in function.blocks:
        for instruction in block.instructions:
            accessed = _accessed(instruction)
            if accessed is None:
                _escape(types, instruction.operands)
            else:
                _escape(types, instruction.operands[:-1])
                name, type = accessed
                if name in types and types[name] not in (None, type):
                    del types[name]
                elif name in types:
                    types[name] = type
        _escape(types, (operand for edge in edges_of(block.terminator) for operand in edge.arguments))
        _escape(types, () if (decided := operand_of(block.terminator)) is None else (decided,))
    found: list[tuple[str, Type]] = [(name, type or "i8") for name, type in types.items() if sizes[name] >= SIZE[type or "i8"]]  # unused ones, too
    return {name: _Variable(k, name, type) for k, (name, type) in enumerate(found)}


def _allocas(function: Function) -> Iterator[tuple[str, int]]:
    """Names and sizes."""
    for instruction in (i for block in function.blocks for i in block.instructions if i.operation == "alloca"):
        if isinstance(size := instruction.operands[0], Constant) and instruction.result is not None:
            yield instruction.result.name, size.value


def _escape(types: dict[str, Type | None], operands: Iterable[Operand]) -> None:
    """What is used as a value is no variable."""
    for operand in operands:
        if isinstance(operand, Value) and operand.type == "ptr":
            types.pop(operand.name, None)


def _accessed(instruction: Instruction) -> tuple[str, Type] | None:
    """The address and the type of a plain access."""
    access = instruction.access
    if access is None or access.volatile or access.order or instruction.operation not in ("load", "store"):
        return None
    address = instruction.operands[-1]
    type = instruction.result.type if instruction.result else instruction.operands[0].type
    return (address.name, type) if isinstance(address, Value) else None


def _places(function: Function, tree: DominatorTree, variables: dict[str, _Variable]) -> list[list[_Variable]]:
    """By block, the variables that become its parameters."""
    places: list[list[_Variable]] = [[] for _ in function.blocks]
    if not variables:
        return places
    exposed = [_exposed(block, variables) for block in function.blocks]
    live_in = _columns(live(successors_of(function), [used for used, _ in exposed], [stored for _, stored in exposed]), len(variables))
    stored = _columns([stored for _, stored in exposed], len(variables))
    for variable in variables.values():
        blocks = np.flatnonzero(stored[:, variable.index]).astype(np.int32)
        frontier: list[int] = iterated_frontier(tree, blocks, np.ascontiguousarray(live_in[:, variable.index])).tolist()
        for k in frontier:
            places[k].append(variable)
    return places


def _exposed(block: Block, variables: dict[str, _Variable]) -> tuple[int, int]:
    """The variables that the block loads before it stores to them, and those that it stores to or makes, as bits."""
    used = stored = 0
    for variable, instruction in _touches(block, variables):
        bit = 1 << variable.index
        if instruction.operation != "load":
            stored |= bit
        elif not stored & bit:
            used |= bit
    return used, stored


def _touches(block: Block, variables: dict[str, _Variable]) -> Iterator[tuple[_Variable, Instruction]]:
    for instruction in block.instructions:
        if (variable := _touched(instruction, variables)) is not None:
            yield variable, instruction


def _touched(instruction: Instruction, variables: dict[str, _Variable]) -> _Variable | None:
    if instruction.access is None or instruction.operation == "fence":
        return None
    address = instruction.result if instruction.operation == "alloca" else instruction.operands[-1]
    return variables.get(address.name) if isinstance(address, Value) else None


def _columns(sets: list[int], count: int) -> npt.NDArray[np.bool_]:
    """Sets as bits to a matrix (sets, members)."""
    width = (count + 7) // 8
    flat = np.frombuffer(b"".join(bits.to_bytes(width, "little") for bits in sets), np.uint8).reshape(len(sets), width)
    return np.unpackbits(flat, axis=1, bitorder="little").astype(np.bool_)


class _Renaming:
    """The walk over the dominator tree. `current` holds the value of each variable, `undo_*` what was changed since the entry."""

    def __init__(self, source: Function, tree: DominatorTree, variables: dict[str, _Variable], places: list[list[_Variable]]) -> None:
        self.source, self.tree, self.variables, self.places = source, tree, variables, places
        self.taken = {value.name for block in source.blocks for value in definitions(block)}
        self.counts = [0] * len(variables)
        self.current: list[Operand] = [Undef(variable.type) for variable in variables.values()]
        self.undo_index: list[int] = []
        self.undo_value: list[Operand] = []
        self.replaced: dict[str, Operand] = {}
        self.by_name = {block.name: place for block, place in zip(source.blocks, places, strict=True)}

    def function(self) -> Function:
        made: dict[int, Block] = {}
        open: list[tuple[int, int]] = []
        sizes: list[int] = self.tree.size.tolist()
        preorder: list[int] = self.tree.preorder.tolist()
        for place, k in enumerate(preorder):
            while open and open[-1][0] <= place:
                self._back(open.pop()[1])
            open.append((place + sizes[k], len(self.undo_index)))
            made[k] = self._block(self.source.blocks[k], self.places[k])
        return replace(self.source, blocks=tuple(made[k] for k in sorted(made)))

    def _back(self, mark: int) -> None:
        while len(self.undo_index) > mark:
            self.current[self.undo_index.pop()] = self.undo_value.pop()

    def _block(self, block: Block, places: list[_Variable]) -> Block:
        parameters = tuple([self._parameter(variable) for variable in places])
        instructions = [new for instruction in block.instructions if (new := self._instruction(instruction)) is not None]
        return Block(block.name, (*block.parameters, *parameters), tuple(instructions), self._terminator(block.terminator))

    def _parameter(self, variable: _Variable) -> Value:
        index = variable.index
        self.counts[index] += 1
        while (name := f"{variable.name}.{self.counts[index]}") in self.taken:
            self.counts[index] += 1
        value = Value(name, variable.type)
        self._assign(index, value)
        return value

    def _assign(self, index: int, value: Operand) -> None:
        self.undo_index.append(index)
        self.undo_value.append(self.current[index])
        self.current[index] = value

    def _instruction(self, instruction: Instruction) -> Instruction | None:
        variable = _touched(instruction, self.variables)
        if variable is None:
            operands = self._operands(instruction.operands)
            return instruction if operands is instruction.operands else replace(instruction, operands=operands)
        if instruction.operation == "load" and instruction.result is not None:
            self.replaced[instruction.result.name] = self.current[variable.index]
        else:
            self._assign(variable.index, self._operand(instruction.operands[0]) if instruction.operation == "store" else Undef(variable.type))
        return None

    def _operand(self, operand: Operand) -> Operand:
        return self.replaced.get(operand.name, operand) if isinstance(operand, Value) else operand

    def _operands(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """The same object where nothing changes."""
        for operand in operands:
            if isinstance(operand, Value) and operand.name in self.replaced:
                return tuple([self._operand(o) for o in operands])
        return operands

    def _terminator(self, terminator: Terminator) -> Terminator:
        return with_edges(terminator, self._operand, self._edge)

    def _edge(self, edge: Edge) -> Edge:
        added = [self.current[variable.index] for variable in self.by_name[edge.block]]
        return Edge(edge.block, (*self._operands(edge.arguments), *added)) if added else Edge(edge.block, self._operands(edge.arguments))
