# SPDX-License-Identifier: Apache-2.0
"""Notation of the array paper for what configurations are made of: instructions (section 6.3), ports (section 3.1),
conditions and tile bounds (section 5.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from struct import pack, unpack

from polyloom.ir.operations import FLOATS, UNSIGNED
from polyloom.sets import Affine
from polyloom.targets.tcpa.words.concrete import ConvexSet, Domain
from polyloom.targets.tcpa.words.isa import (
    OPCODE_NOP,
    Branch,
    File,
    Goto,
    Halt,
    If,
    Immediate,
    Instruction,
    Next,
    Register,
    Source,
    decode_opcode,
    is_operation,
    source_type,
)
from polyloom.targets.tcpa.words.symbolic import Row, Symbolic
from polyloom.targets.tcpa.words.syntax_tree import BoundKind, TileBound


def mnemonic(opcode: int, last_is_immediate: bool) -> str:
    """The operation, `i` if its last source is an immediate, its type unless i32: `shri`, `madd.f32`."""
    if opcode == OPCODE_NOP:
        return "nop"
    if not is_operation(opcode):
        return f"op{opcode}"
    name, dtype = decode_opcode(opcode)
    return name + ("i" if last_is_immediate else "") + ("" if dtype == "i32" else f".{dtype}")


def fragment(source: Source, opcode: int, position: int = 0, *, writes: bool) -> str:
    """`rd3`, `fd0`, `id1`, `od1`, or an immediate as a number of the element type of the source at `position`."""
    if isinstance(source, Register):
        return {File.RD: "rd", File.FD: "fd", File.IO: "od" if writes else "id"}.get(source.file, "r?") + str(
            source.index
        )
    dtype = source_type(opcode, position) if is_operation(opcode) else "i32"
    if dtype in FLOATS:
        return repr(unpack("<f", pack("<I", source.bits))[0] if dtype == "f32" else _double(source.bits))
    # Immediates are 32 bits, sign-extended from narrower types: bit 31 is the sign.
    return str(source.bits if dtype in UNSIGNED else source.bits - (source.bits >> 31 << 32))


def _double(bits: int) -> float:
    return unpack("<d", pack("<Q", bits))[0]


def instruction(value: Instruction) -> str:
    """The instruction: mnemonic, destinations separated by commas, sources; `-`: no destination."""
    if value.opcode == OPCODE_NOP:
        return "nop"
    last = bool(value.sources) and isinstance(value.sources[-1], Immediate)
    destinations = ",".join(fragment(d, value.opcode, writes=True) for d in value.destinations) or "-"
    return " ".join(
        (
            mnemonic(value.opcode, last),
            destinations,
            *(fragment(s, value.opcode, k, writes=False) for k, s in enumerate(value.sources)),
        )
    )


def branch(value: Branch, label: Callable[[int], str]) -> str:
    """The branch instruction; the targets of `if` are listed from the code of all ones down to that of all zeros."""
    match value:
        case Next():
            return "next"
        case Halt():
            return "halt"
        case Goto(target):
            return f"goto {label(target)}"
        case If(signals, targets):
            # The paper lists the target of the all-ones code first (section 6.3, `if ic0 jmp q3, q2`).
            return f"if {', '.join(f'ic{s}' for s in signals)} jmp {', '.join(label(t) for t in reversed(targets))}"


def source_port(location: str, index: int) -> str:
    return f"{location}{index}>"


def sink_port(location: str, index: int) -> str:
    return f"{location}{index}<"


def affine(row: Row, dimensions: Sequence[str], parameters: Sequence[str]) -> Affine:
    """A row over names."""
    # A name may stand for a dimension and a parameter only in a malformed file; the sum is then still printed.
    return Affine.from_terms(dict(zip(dimensions, row.dims, strict=True))) + Affine.from_terms(
        dict(zip(parameters, row.params, strict=True)), row.constant
    )


def conjunction(constraints: Iterable[Affine], dimensions: Sequence[str]) -> str:
    """`0 <= i < N and j = 0`: constraints (each >= 0) by their linear part; `true` when there is none."""
    bounds: dict[tuple[tuple[str, int], ...], tuple[list[Affine], list[Affine]]] = {}
    for constraint in constraints:
        part = {name: c for name, c in constraint.terms if name in dimensions}
        rest = constraint - Affine.from_terms(part)
        # The sign of the first dimension decides the side, so that opposite bounds of one expression meet in one entry.
        leading = next((part[d] for d in dimensions if d in part), 1)
        lower, upper = bounds.setdefault((Affine.from_terms(part) * (1 if leading > 0 else -1)).terms, ([], []))
        if leading > 0:
            lower.append(-rest)
        else:
            upper.append(rest)
    return " and ".join(_range(Affine(terms), lower, upper) for terms, (lower, upper) in bounds.items()) or "true"


def _range(expression: Affine, lower: list[Affine], upper: list[Affine]) -> str:
    if expression.is_constant:
        return " and ".join(f"{-bound} >= 0" for bound in lower)
    # Two opposite inequalities print as one equation.
    equal = [bound for bound in lower if bound in upper]
    if equal:
        return " and ".join(f"{expression} = {bound}" for bound in equal)
    if len(lower) == len(upper) == 1:
        return f"{lower[0]} <= {expression}{_format_upper_bound(upper[0])}"
    return " and ".join(
        [f"{expression} >= {bound}" for bound in lower]
        + [f"{expression}{_format_upper_bound(bound)}" for bound in upper]
    )


def _format_upper_bound(bound: Affine) -> str:
    # `i < N` instead of `i <= N - 1`, as loops are written.
    return f" < {bound + 1}" if bound.terms and bound.constant < 0 else f" <= {bound}"


def condition(symbolic: Symbolic, number: int) -> list[str]:
    """One text per piece of `conditions[number]`."""
    rows = [affine(row, symbolic.dimensions, symbolic.parameters) for row in symbolic.constraints]
    return [conjunction((rows[c] for c in piece), symbolic.dimensions) for piece in symbolic.conditions[number]]


def tile_symbol(letter: str, dimension: int, dimensions: Sequence[str]) -> str:
    """`j`, `k`, `p` or `t` of a dimension: the letter alone when there is one dimension, else `j_NAME`."""
    return letter if len(dimensions) == 1 else f"{letter}_{dimensions[dimension]}"


def tile_bound(bound: TileBound, dimensions: Sequence[str]) -> str:
    """Tile bound (the array paper, section 5.5): `j > 0`, `j = p-1`, ...; J_m >= 0 and J_m <= p_m - 1 hold anyway."""
    j, p, c = (
        tile_symbol("j", bound.dimension, dimensions),
        tile_symbol("p", bound.dimension, dimensions),
        bound.constant,
    )
    match bound.kind:
        case BoundKind.AT_LEAST:
            return f"{j} > 0" if c == 1 else f"{j} >= {c}"
        case BoundKind.AT_MOST:
            return f"{j} = 0" if c == 0 else f"{j} <= {c}"
        case BoundKind.AT_LEAST_FROM_END:
            return f"{j} = {p}-1" if c == 1 else f"{j} >= {p}-{c}"
        case BoundKind.AT_MOST_FROM_END:
            return f"{j} < {p}-{c}"


def digit_names(count: int) -> tuple[str, ...]:
    """The digits of a step, innermost first: `j`, or `j0`, `j1`, ..."""
    return ("j",) if count == 1 else tuple(f"j{n}" for n in range(count))


def domain(value: Domain, extents: Sequence[int]) -> str:
    """A union of convex sets of digits; a digit that takes every value of its extent is not mentioned."""
    names = digit_names(len(extents))
    return " or ".join(_convex(one, names, extents) for one in value) or "never"


def _convex(one: ConvexSet, names: Sequence[str], extents: Sequence[int]) -> str:
    texts = [
        f"{name} = {low}" if low == high else f"{low} <= {name} <= {high}"
        for name, low, high, extent in zip(names, one.lower, one.upper, extents, strict=True)
        # A digit that takes every value says nothing.
        if (low, high) != (0, extent - 1)
    ]
    texts += [
        f"{Affine.from_terms(dict(zip(names, h.coefficients, strict=True)), h.constant)} >= 0" for h in one.half_spaces
    ]
    return " and ".join(texts) or "always"
