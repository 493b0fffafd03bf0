# SPDX-License-Identifier: Apache-2.0
"""Calling convention of the routine that is run, where the member's belt does not hold its parameters: the first ones
lie on the belt, the rest in the argument block, a datum that whoever runs the program fills (docs/targets/belt.md,
Arguments in memory). It is what kernels get elsewhere as a kernel argument segment.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.ir.ssa import NOWHERE, Data, Place
from polyloom.names import fresh_name
from polyloom.targets.belt.source.ir import Address, Block, Function, Module, Op, Order, Value
from polyloom.targets.belt.value_types import BYTES, Width
from polyloom.targets.belt.words.layout import ARGUMENT_BYTES, GAP

_REACH: Final = 1 << 11
"""Bytes that the 12 signed bits of a load's offset reach above its base (docs/formats.md, Belt words)."""


def pass_in_memory(module: Module, belt: int) -> tuple[Module, tuple[Width, ...]]:
    """Module whose first function takes no more parameters than the belt has positions, and the widths of the others,
    which it loads from the last datum in their order; nothing changes where all fit."""
    first, *others = module.functions
    entry = first.blocks[0]
    # A quarter is kept for what the entry block computes, as for values that live across blocks.
    kept = belt * 3 // 4
    rest = entry.parameters[kept:]
    is_called = any(op.callee == first.name for f in module.functions for block in f.blocks for op in block.ops)
    # Calls make a belt of their list. A word of the block has a scalar of at most 8 bytes.
    if len(entry.parameters) <= belt or is_called or any(p.type.lanes > 1 or _bytes(p) > ARGUMENT_BYTES for p in rest):
        return module, ()
    assert isinstance(entry, Block)
    block = Data(fresh_name("arguments", {d.name for d in module.data}), bytes(ARGUMENT_BYTES * len(rest)), GAP, False)
    # A function without a line, as a text has it, has no place to which a reason could be given.
    place = replace(first.place, column=0, reason="takes an argument from memory") if first.place.line else NOWHERE
    loads = tuple(_load(block.name, k, parameter, place) for k, parameter in enumerate(rest))
    order = tuple(Order(o.source + len(loads), o.sink + len(loads), o.distance) for o in entry.order)
    changed: Block = replace(entry, parameters=entry.parameters[:kept], ops=(*loads, *entry.ops), order=order)
    made: Function = replace(first, blocks=(changed, *first.blocks[1:]))
    return Module((made, *others), (*module.data, block)), tuple(p.type.width for p in rest)


def _bytes(parameter: Value) -> int:
    return BYTES[parameter.type.width]


def _load(block: str, number: int, parameter: Value, place: Place) -> Op:
    """Load of an argument, which gives the parameter's own name; neighbours share the constant of their base."""
    base, offset = divmod(ARGUMENT_BYTES * number, _REACH)
    address = Address(block, base * _REACH)
    return Op("load", (address,), (parameter,), parameter.type.width, offset=offset, place=place)
