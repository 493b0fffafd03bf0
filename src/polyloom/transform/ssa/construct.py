# SPDX-License-Identifier: Apache-2.0
"""Pruned SSA construction: variables in memory (allocas that are only loaded and stored) become values.

Cytron et al., "Efficiently Computing Static Single Assignment Form and the Control Dependence Graph" (1991): a variable
gets a parameter in every block of the iterated dominance frontier of its stores, here only where it is live (Choi,
Cytron, Ferrante, 1991); a walk over the dominator tree then gives every load the value that reaches it. Both are
native, over arrays of what blocks load and store (native/graph/construct.hpp); here is what may become a value, and the
new blocks. Unreachable ones are left out.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count, islice, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from polyloom.analysis.dominators import dominator_tree
from polyloom.ir.ssa import (
    Block,
    Constant,
    Edge,
    Function,
    Instruction,
    Operand,
    Undef,
    Value,
    flow_edges,
    replace_edges,
    successor_edges,
    terminator_operand,
)
from polyloom.ir.ssa_types import I8, PTR, Type, memory_size
from polyloom.ir.ssa_verify import definitions
from polyloom.transform.ssa.function_editing import on_each_function


@on_each_function
def construct(function: Function) -> Function:
    """Pruned SSA construction (Cytron et al. 1991; Choi, Cytron, Ferrante 1991): the function with its promotable
    variables as values.
    """
    blocks = function.blocks
    with suspend_garbage_collection():
        tree = dominator_tree(len(blocks), flow_edges(function))
        touches = _touches(function, _promotable(function))
        skeleton = tree.construct(*touches.arrays(), len(touches.variables))
        start, variable, reaching, arguments = (array.tolist() for array in skeleton)
        parameters = _parameters(function, touches.variables, variable)
        added = {
            block.name: tuple(parameters[begin:end])
            for block, begin, end in zip(blocks, start, start[1:], strict=False)
        }
        values = _Values(touches, parameters, reaching)
        rebuilding = _Rebuilding(touches, values, added, map(values.table.__getitem__, arguments))
        reached = (tree.position >= 0).tolist()
        return replace(
            function, blocks=tuple([rebuilding.block(k, block) for k, block in enumerate(blocks) if reached[k]])
        )


@contextmanager
def suspend_garbage_collection() -> Generator[None, None, None]:
    """No search for cycles of garbage: millions of small objects are made, none is in a cycle, and looking takes half
    of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_Variable = Value
"""A variable's name and the type of what it holds."""
_LOAD, _STORE, _FORGET = range(3)
"""Kinds of touches, as native/graph/construct.hpp numbers them; an alloca forgets what the variable was."""


def _promotable(function: Function) -> list[_Variable]:
    """Allocas of constant size whose address only plain loads and stores of one type use; also unused ones."""
    sizes = dict(_allocas(function))
    types: dict[str, Type | None] = dict.fromkeys(sizes)
    for block in function.blocks:
        for instruction in block.instructions:
            accessed = _scalar_access(instruction)
            if accessed is None:
                _escape(types, instruction.operands)
            else:
                _escape(types, instruction.operands[:-1])
                name, type = accessed
                # Two types through one address would need a conversion of bits: the variable stays in memory.
                if name in types and types[name] not in (None, type):
                    del types[name]
                elif name in types:
                    types[name] = type
        # An address that is passed to a block may be loaded from there: it escapes.
        for edge in successor_edges(block.terminator):
            _escape(types, edge.arguments)
        _escape(types, () if (decided := terminator_operand(block.terminator)) is None else (decided,))
    # A variable that nobody accesses has no type of its own.
    return [Value(name, type or I8) for name, type in types.items() if _holds(function, sizes[name], type or I8)]


def _holds(function: Function, size: int, type: Type) -> bool:
    """Whether a value fits into the bytes. C may have a vector there as a pointer, and how wide that is says
    nothing."""
    return bool(type.lanes) or size >= memory_size(type, function.pointers)


def _allocas(function: Function) -> Iterator[tuple[str, int]]:
    """Names and sizes."""
    for instruction in (i for block in function.blocks for i in block.instructions if i.operation == "alloca"):
        if isinstance(size := instruction.operands[0], Constant) and instruction.result is not None:
            yield instruction.result.name, size.value


def _escape(types: dict[str, Type | None], operands: Iterable[Operand]) -> None:
    """What is used as a value is no variable."""
    for operand in operands:
        if isinstance(operand, Value) and operand.type == PTR:
            types.pop(operand.name, None)


def _scalar_access(instruction: Instruction) -> tuple[str, Type] | None:
    """The address and the type of a plain access."""
    access = instruction.access
    if access is None or access.volatile or access.order or instruction.operation not in ("load", "store"):
        return None
    is_store = instruction.operation == "store"
    if len(instruction.operands) != 1 + is_store:
        return None  # of some lanes alone
    address = instruction.operands[-1]
    type = instruction.operands[0].type if is_store else instruction.results[0].type
    return (address.name, type) if isinstance(address, Value) else None


@dataclass(frozen=True, slots=True)
class _Touches:
    """What blocks do with variables, in the order of the text: the block and the variable by position, the kind, the
    instruction.

    `others` are the other instructions, by block.
    """

    variables: list[_Variable]
    block: list[int] = field(default_factory=list[int])
    variable: list[int] = field(default_factory=list[int])
    kind: list[int] = field(default_factory=list[int])
    instruction: list[Instruction] = field(default_factory=list[Instruction])
    others: list[list[Instruction]] = field(default_factory=list[list[Instruction]])

    def arrays(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
        return np.array(self.block, np.int32), np.array(self.variable, np.int32), np.array(self.kind, np.uint8)


def _touches(function: Function, variables: list[_Variable]) -> _Touches:
    found, index = _Touches(variables), {variable.name: k for k, variable in enumerate(variables)}
    for k, block in enumerate(function.blocks):
        found.others.append(others := [])
        for instruction in block.instructions:
            if (variable := _touched_variable(instruction, index)) is None:
                others.append(instruction)
            else:
                found.block.append(k)
                found.variable.append(variable)
                found.kind.append(
                    _LOAD
                    if instruction.operation == "load"
                    else _STORE
                    if instruction.operation == "store"
                    else _FORGET
                )
                found.instruction.append(instruction)
    return found


def _touched_variable(instruction: Instruction, index: dict[str, int]) -> int | None:
    if instruction.access is None or instruction.operation == "fence":
        return None  # of what has a mask, no variable is an operand
    address = instruction.result if instruction.operation == "alloca" else instruction.operands[-1]
    return index.get(address.name) if isinstance(address, Value) else None


def _parameters(function: Function, variables: list[_Variable], found: list[int]) -> list[Value]:
    """New values for the variables at positions `found`, numbered from above the names after them that exist."""
    # `x.3` may be the user's: numbers go on above the greatest one that occurs.
    highest = dict.fromkeys((variable.name for variable in variables), 0)
    for name in (value.name for block in function.blocks for value in definitions(block) if "." in value.name):
        base, _, number = name.rpartition(".")
        if base in highest and number.isdecimal():
            highest[base] = max(highest[base], int(number))
    names = [(f"{variable.name}.", count(highest[variable.name] + 1)) for variable in variables]
    types: list[Type] = [variables[k].type for k in found]
    return _values((f"{name}{next(numbers)}" for name, numbers in map(names.__getitem__, found)), types)


def _values(names: Iterable[str], types: list[Type]) -> list[Value]:
    """A value for each name and type. There may be millions: calls of the class would take a third of all time."""
    made = list(map(object.__new__, repeat(Value, len(types))))
    slots: tuple[Any, Any] = (Value.name, Value.type)
    setters: tuple[Callable[[Value, Any], None], ...] = tuple(slot.__set__ for slot in slots)
    deque(map(setters[0], made, names), 0)
    deque(map(setters[1], made, types), 0)
    return made


class _Values:
    """Operands by number: parameters, then what touches store; from the end backwards, no value of each variable."""

    def __init__(self, touches: _Touches, parameters: list[Value], reaching: list[int]) -> None:
        # Every touch has an entry, loads too, so that the number of a touch is the number of its value.
        stored = [touched.operands[0] if touched.operands else Undef(I8) for touched in touches.instruction]
        nothing = [Undef(variable.type) for variable in reversed(touches.variables)]
        table = [*parameters, *stored, *nothing]
        loads = zip(touches.kind, touches.instruction, reaching, strict=True)
        self.replaced = {
            load.result.name: table[number] for kind, load, number in loads if kind == _LOAD and load.result
        }
        self.table: list[Operand] = [*parameters, *map(self.operand, stored), *nothing]

    def operand(self, operand: Operand) -> Operand:
        """What a use becomes: a load may find what was loaded."""
        # Ends, because a load finds what was stored before it, and SSA has no cycle without a parameter.
        while isinstance(operand, Value) and operand.name in self.replaced:
            operand = self.replaced[operand.name]
        return operand

    def operands(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """The same object where nothing changes."""
        for operand in operands:
            if isinstance(operand, Value) and operand.name in self.replaced:
                return tuple([self.operand(o) for o in operands])
        return operands


class _Rebuilding:
    """Blocks one after the other, which take the arguments of their edges from the front."""

    def __init__(
        self, touches: _Touches, values: _Values, added: dict[str, tuple[Value, ...]], arguments: Iterator[Operand]
    ) -> None:
        self.others, self.values, self.added, self.arguments = touches.others, values, added, arguments

    def block(self, k: int, block: Block) -> Block:
        kept = [
            i if (o := self.values.operands(i.operands)) is i.operands else _replace_operands(i, o)
            for i in self.others[k]
        ]
        # Edges take their new arguments in the order in which the native side wrote them.
        end = replace_edges(block.terminator, self.values.operand, self._edge)
        return Block(block.name, block.parameters + self.added[block.name], tuple(kept), end)

    def _edge(self, edge: Edge) -> Edge:
        return Edge(
            edge.block, (*self.values.operands(edge.arguments), *islice(self.arguments, len(self.added[edge.block])))
        )


def _replace_operands(i: Instruction, operands: tuple[Operand, ...]) -> Instruction:
    """`dataclasses.replace`, which takes three times as long."""
    return Instruction(i.operation, operands, i.results, i.flags, i.access, i.callee, i.place)
