# SPDX-License-Identifier: Apache-2.0
"""What an imported kernel becomes before passes see it, and what it may not contain.

The operation with four results comes as a token and its parts. Parameters that are floats are given as their bits.
Vectors in memory, calls that were not inlined, and scalar floats that are computed at run time are errors, at the
user's line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from polyloom.diagnostics import PolyloomError, Source, Span, input_error
from polyloom.frontend.c.llvm_places import text_of
from polyloom.ir.ssa import CASTS, FLOATING, NOWHERE, Block, Constant, Function, Instruction, Operand, Place, Value
from polyloom.ir.ssa_types import FLOATS, I32, Type
from polyloom.ir.ssa_verify import verify
from polyloom.targets.tensix.sfpi.header import PART, TRANSPOSED
from polyloom.targets.tensix.sfpi.operations import MASK, PREFIX, VECTOR, operations

_FOUR: Final = "sfptransp"
_MEMORY_HELP: Final = (
    "keep vectors in variables; index an array of vectors with what is constant once loops are unrolled: "
    "`#pragma GCC unroll`"
)


def finished(function: Function) -> Function:
    """The function with operations of the table alone, and integers as parameters."""
    blocks = tuple(_in_bits(_with_parts(block)) for block in function.blocks)
    first = replace(blocks[0], parameters=tuple(map(_as_bits, function.parameters)))
    known = {PREFIX + TRANSPOSED, PREFIX + PART}
    externals = {external.name: external for external in function.externals if external.name not in known}
    if len(externals) < len(function.externals):
        row = operations()[_FOUR].external
        externals[row.name] = row
    return verify(replace(function, blocks=(first, *blocks[1:]), externals=tuple(externals.values())))


def _with_parts(block: Block) -> Block:
    """A token and its parts, which follow it in the same block, as one call with four results."""
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


def _as_bits(parameter: Value) -> Value:
    return Value(parameter.name, I32) if str(parameter.type) == "f32" else parameter


def _in_bits(block: Block) -> Block:
    """A cast of a float to its bits is a copy, once all floats are bits."""
    return replace(block, instructions=tuple(map(_copied, block.instructions)))


def _copied(i: Instruction) -> Instruction:
    # Only what moves a float is left by `refused`: parameters, loads, choices and the casts.
    if i.operation == "bitcast":
        i = replace(i, operation="copy")
    return replace(i, operands=tuple(map(_bits, i.operands)), results=tuple(map(_as_bits, i.results)))


def _bits(operand: Operand) -> Operand:
    if str(operand.type) != "f32":
        return operand
    if isinstance(operand, Value):
        return _as_bits(operand)
    return Constant(I32, operand.value) if isinstance(operand, Constant) else operand


def in_memory(function: Function) -> bool:
    """Whether a vector is loaded or stored."""
    return any(_touches(i) for f in function.program for b in f.blocks for i in b.instructions)


def _touches(i: Instruction) -> bool:
    return i.operation in ("load", "store") and any(type in (VECTOR, MASK) for type in _types(i))


def _types(i: Instruction) -> Iterator[Type]:
    yield from (operand.type for operand in i.operands)
    yield from (result.type for result in i.results)


def refused(function: Function, source: Source) -> None:
    """Raises PL1264 to PL1266 where the kernel has what the machine has not."""
    for other in function.others:
        place = next((i.place for b in function.blocks for i in b.instructions if i.called == other.name), NOWHERE)
        help = "no function of vectors can be called: take `noinline` away, and write recursion as a loop"
        raise _error("PL1265", "a function that is called and not inlined", place, source, help)
    for i in (i for b in function.blocks for i in b.instructions):
        if _touches(i):
            raise _error("PL1264", "a vector in memory", i.place, source, _MEMORY_HELP)
        if i.operation in FLOATING or (i.operation in CASTS and i.operation != "bitcast" and _floating(i)):
            help = "compute it at compile time, `constexpr`, or on a vector: `vFloat(x) * y`"
            raise _error("PL1266", "scalar floating-point arithmetic at run time", i.place, source, help)
        if i.operation.startswith("f") and i.operation not in ("fence",) and _floating(i):
            help = "compare vectors, in `v_if`, or the bits of the scalars"
            raise _error("PL1266", "scalar floating-point arithmetic at run time", i.place, source, help)


def _floating(i: Instruction) -> bool:
    return any(type in FLOATS for type in _types(i))


def _error(code: str, message: str, place: Place, source: Source, help: str) -> PolyloomError:
    return input_error(code, message, span=span_at(place, source), help=help)


def span_at(place: Place, source: Source) -> Span | None:
    """The text of the place's line."""
    home = source if place.file in ("", source.name) else Source(place.file, text_of(place.file))
    lines = home.text.split("\n")
    text = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
    start = sum(len(line) + 1 for line in lines[: place.line - 1]) + len(text) - len(text.lstrip())
    return Span(home, start, start + len(text.strip())) if text.strip() else None
