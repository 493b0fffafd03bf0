# SPDX-License-Identifier: Apache-2.0
"""Lowering of nests to functions of `ir.ssa`: what Python kernels become on machines that execute functions.

  function gemm(%NI: i32, ..., %C: ptr, ...) { ... }

Integer parameters come first, as i32, then arguments in their order: arrays by address, row-major and never
overlapping; scalars by value, or by address where they are written. Indices, counters and bounds are as wide as
addresses. Local scalars become values (`transform.ssa.construct`; Cytron et al. 1991); what is computed once per
iteration of an outer loop stands there (`forms.py`). The meaning is that of `ir.nest_interpret`, bit for bit.
"""

from __future__ import annotations

from math import prod

from polyloom.ir.nest import Nest, Storage
from polyloom.ir.ssa import Access, Function, Operand, Return, Value, integer_constant
from polyloom.ir.ssa_types import ADDRESSES, I32, PTR, SIZE
from polyloom.transform.library import expand_calls
from polyloom.transform.nest_to_ssa.control import Control, span_place
from polyloom.transform.nest_to_ssa.domains import Domain
from polyloom.transform.nest_to_ssa.forms import Forms, Level
from polyloom.transform.nest_to_ssa.operations import TYPES
from polyloom.transform.nest_to_ssa.scalar_replacement import replace_scalars
from polyloom.transform.nest_to_ssa.values import Values, is_by_value
from polyloom.transform.nest_to_ssa.writer import Writer
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.function_editing import merge_blocks

_UNSIGNED = ("u8", "u16", "bool")


def nest_to_ssa(nest: Nest, pointers: int = 64) -> Function:
    """Function of a checked nest for a machine with pointers of 32 or 64 bits."""
    return promote_locals(lower_in_memory(nest, pointers))


def promote_locals(function: Function) -> Function:
    """Promotion of local scalars to values, each computed once on every path (mem2reg, then common subexpressions and
    dead code).
    """
    return merge_blocks(dce(common(construct(function))))


def lower_in_memory(nest: Nest, pointers: int) -> Function:
    """Function with local scalars in memory, before they are promoted."""
    # Elements in local scalars are values after the promotion, so that inner loops keep them in registers.
    nest = replace_scalars(expand_calls(nest))
    address = ADDRESSES[pointers]
    arguments = [storage for storage in nest.storage if storage.role == "argument"]
    sizes = {name: Value(name, I32) for name in nest.parameters}
    passed = {s.name: Value(s.name, TYPES[s.dtype] if is_by_value(s) else PTR) for s in arguments}
    parameters = (*sizes.values(), *passed.values())
    writer = Writer("entry.0", parameters)
    writer.place = span_place(nest.span)
    writer.target = writer.current.prologue
    # Sizes are extended once, at the entry: every address and bound is computed in this width.
    known = {n: v if v.type == address else writer.put("sext", address, v, name=n) for n, v in sizes.items()}
    writer.target = writer.current.instructions
    bases: dict[str, Operand] = {**passed}
    values: Values

    def scalar(name: str) -> Operand:
        # A variable that is data may change, so it is read where it is used.
        found = writer.emit("load", I32, bases[name], access=Access(SIZE[I32]))
        return found if address == I32 else writer.put("sext", address, found)

    forms = Forms(writer, address, Level(dict(known), writer.current.prologue), scalar)
    values = Values(nest, writer, forms, bases)
    for storage in nest.storage:
        if storage.role == "local":
            bases[storage.name] = _allocate_local(writer, forms, storage)
    Control(writer, forms, values, Domain(nest)).nodes(nest.body)
    writer.end(Return(place=span_place(nest.span)))
    return Function(
        nest.name,
        None,
        writer.blocks(),
        unsigned=frozenset(k for k, s in enumerate(arguments, len(sizes)) if is_by_value(s) and s.dtype in _UNSIGNED),
        pointers=pointers,
        place=span_place(nest.span),
        # Arrays of a kernel never overlap, which later passes rely on to move loads (as `restrict` in C11 6.7.3.1).
        restricted=frozenset(k for k, parameter in enumerate(parameters) if parameter.type == PTR),
    )


def _allocate_local(writer: Writer, forms: Forms, storage: Storage) -> Operand:
    """Stack allocation of a local array or scalar: its address."""
    size = SIZE[TYPES[storage.dtype]]
    known = size * prod(extent.constant for extent in storage.shape if extent.is_constant)
    others = tuple([extent for extent in storage.shape if not extent.is_constant])
    bytes = integer_constant(forms.address, known)
    if others:
        bytes = writer.times(forms.product(others), known)
    return writer.emit("alloca", PTR, bytes, access=Access(size), name=storage.name)
