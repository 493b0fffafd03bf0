# SPDX-License-Identifier: Apache-2.0
"""Legalization of an imported kernel before passes see it, and what it may not contain.

The operation with four results comes as a token and its parts. Parameters that are floats are given as their bits.
Vectors in memory, calls that were not inlined, and scalar floats that are computed at run time are errors, at the
user's line; a float that is only moved, or changes its sign, is an integer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from polyloom.diagnostics import PolyloomError, Source, Span, input_error
from polyloom.frontend.c.llvm_places import read_text
from polyloom.ir.ssa import (
    FLOATING,
    NOWHERE,
    Block,
    Constant,
    Function,
    Instruction,
    Operand,
    Place,
    Undef,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_types import F32, FLOATS, I32, Type
from polyloom.ir.ssa_verify import verify
from polyloom.targets.tensix.sfpi.header import PART, TRANSPOSED
from polyloom.targets.tensix.source.cpp.choices import branch_choices
from polyloom.targets.tensix.source.cpp.explain_words import MEMORY_HELP
from polyloom.targets.tensix.source.operations import MASK, PREFIX, VECTOR, operations
from polyloom.transform.ssa.function_editing import with_operands

_FOUR: Final = "sfptransp"
_SIGN: Final = integer_constant(I32, -0x80000000)
_MAGNITUDE: Final = integer_constant(I32, 0x7FFFFFFF)
_MOVES: Final = ("bitcast", "copy", "fneg", "select", "load", "store")
_COMPUTE_HELP: Final = "compute it at compile time, `constexpr`, or on a vector: `vFloat(x) * y`"
_COMPARE_HELP: Final = "compare vectors, in `v_if`, or the bits of the scalars"


def finish_import(function: Function) -> Function:
    """Function with operations of the table alone, and integers in place of scalar floats."""
    known = {PREFIX + TRANSPOSED, PREFIX + PART}
    externals = {external.name: external for external in function.externals if external.name not in known}
    if len(externals) < len(function.externals):
        row = operations()[_FOUR].external
        externals[row.name] = row
    blocks = tuple(_floats_to_bits(_join_parts(block)) for block in function.blocks)
    # Verified at once: an import that breaks SSA form should not be blamed on a pass.
    return verify(branch_choices(replace(function, blocks=blocks, externals=tuple(externals.values()))))


def _join_parts(block: Block) -> Block:
    """Token and its parts, which follow it in the same block, as one call with four results."""
    parts: dict[tuple[str, int], Value] = {}
    for i in block.instructions:
        if i.called == PREFIX + PART:
            token, number = i.operands
            assert isinstance(token, Value) and isinstance(number, Constant) and i.result is not None
            parts[token.name, number.value] = i.result
    made: list[Instruction] = []
    for i in block.instructions:
        if i.called == PREFIX + TRANSPOSED:
            assert i.result is not None
            token = i.result.name
            results = tuple(parts.get((token, k), Value(f"{token}.{k}", VECTOR)) for k in range(4))
            made.append(replace(i, results=results, callee=f"@{PREFIX}{_FOUR}"))
        elif i.called != PREFIX + PART:
            made.append(i)
    return replace(block, instructions=tuple(made))


def _floats_to_bits(block: Block) -> Block:
    """Floats as their bits: what `refuse_unsupported` leaves only moves them, or changes a sign."""
    changed = replace(
        block,
        parameters=tuple(map(_value_to_bits, block.parameters)),
        instructions=tuple(map(_instruction_to_bits, block.instructions)),
    )
    return with_operands(changed, _operand_to_bits)


def _instruction_to_bits(i: Instruction) -> Instruction:
    results = tuple(map(_value_to_bits, i.results))
    if i.operation == "bitcast":
        return replace(i, operation="copy", results=results)
    # Changing the sign of a float needs no arithmetic, so that it is allowed in scalar code.
    if i.operation == "fneg":
        return replace(i, operation="xor", operands=(*i.operands, _SIGN), results=results)
    if i.callee == "fabs":
        return replace(i, operation="and", callee="", operands=(*i.operands, _MAGNITUDE), results=results)
    return replace(i, results=results)


def _value_to_bits(value: Value) -> Value:
    return Value(value.name, I32) if value.type == F32 else value


def _operand_to_bits(operand: Operand) -> Operand:
    if operand.type != F32:
        return operand
    if isinstance(operand, Value):
        return _value_to_bits(operand)
    if isinstance(operand, Constant):
        return integer_constant(I32, operand.value)
    return Undef(I32) if isinstance(operand, Undef) else operand


def has_memory_vectors(function: Function) -> bool:
    """Whether a vector is loaded or stored."""
    return any(_accesses_vector(i) for f in function.program for b in f.blocks for i in b.instructions)


def _accesses_vector(i: Instruction) -> bool:
    return i.operation in ("load", "store") and any(type in (VECTOR, MASK) for type in _types(i))


def _types(i: Instruction) -> Iterator[Type]:
    yield from (operand.type for operand in i.operands)
    yield from (result.type for result in i.results)


def refuse_unsupported(function: Function, source: Source) -> None:
    """Check that raises PL1264 to PL1266 where the kernel has what the machine has not."""
    for other in function.others:
        place = next((i.place for b in function.blocks for i in b.instructions if i.called == other.name), NOWHERE)
        help = "no function of vectors can be called: take `noinline` away, and write recursion as a loop"
        raise _error("PL1265", "a function that is called and not inlined", place, source, help)
    for i in (i for b in function.blocks for i in b.instructions):
        if _accesses_vector(i):
            raise _error("PL1264", "a vector in memory", i.place, source, MEMORY_HELP)
        # Soft-float routines would be calls, and the cores have no floating-point unit.
        if _has_float(i) and i.operation not in _MOVES and i.callee != "fabs":
            compared = i.operation.startswith("f") and i.operation not in FLOATING
            help = _COMPARE_HELP if compared else _COMPUTE_HELP
            raise _error("PL1266", "scalar floating-point arithmetic at run time", i.place, source, help)


def _has_float(i: Instruction) -> bool:
    return any(type in FLOATS for type in _types(i))


def _error(code: str, message: str, place: Place, source: Source, help: str) -> PolyloomError:
    return input_error(code, message, span=line_span(place, source), help=help)


def line_span(place: Place, source: Source) -> Span | None:
    """Span of the text of the place's line."""
    home = source if place.file in ("", source.name) else Source(place.file, read_text(place.file))
    lines = home.text.split("\n")
    text = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
    start = sum(len(line) + 1 for line in lines[: place.line - 1]) + len(text) - len(text.lstrip())
    return Span(home, start, start + len(text.strip())) if text.strip() else None
