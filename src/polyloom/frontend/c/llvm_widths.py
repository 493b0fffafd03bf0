# SPDX-License-Identifier: Apache-2.0
"""Type legalization of integers whose width no C type has, up to 64 bits: bit-fields, `_BitInt`, and what LLVM makes of
switches.

Such a value is kept in the next wider type with zeros above it. What can leave other bits there is masked; what looks
at the sign extends it first. Flags are left out. In memory it takes the bytes that its bits need, which are accessed by
the powers of two in their number. Source: LLVM Language Reference Manual, "Integer Type" and `store_odd_width`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from polyloom.frontend.c.llvm_text import Unsupported
from polyloom.ir.ssa import Access, Operand, Value, integer_constant
from polyloom.ir.ssa_types import I8, I16, I32, I64, PTR, WIDTH, Type

_SIGNED: Final = ("sdiv", "srem", "ashr")
_CLEAN: Final = ("and", "or", "xor", "lshr", "udiv", "urem")
"""From zeros above they make zeros above."""
_CASTS: Final = ("trunc", "zext", "sext", "sitofp", "uitofp", "fptosi", "fptoui")
_BY_SIZE: Final[dict[int, Type]] = {1: I8, 2: I16, 4: I32, 8: I64}


class Emitter(Protocol):
    """Instruction builder, where lowered instructions go: `llvm_lower.Lowering`."""

    @property
    def address(self) -> Type: ...
    def emit(
        self,
        operation: str,
        operands: tuple[Operand, ...],
        name: str,
        type: Type,
        flags: tuple[str, ...] = (),
        access: Access | None = None,
    ) -> Value: ...
    def effect(self, operation: str, operands: tuple[Operand, ...], access: Access | None = None) -> None: ...


def legalize_arithmetic(to: Emitter, operation: str, operands: tuple[Operand, ...], name: str, width: int) -> None:
    a, b, type = *operands, operands[0].type
    if operation in _SIGNED:
        # A shift amount has no sign.
        a, b = sign_extend(to, a, width), b if operation == "ashr" else sign_extend(to, b, width)
    # Bitwise operations and unsigned quotients of values with zeros above have zeros above themselves.
    if operation in _CLEAN:
        to.emit(operation, (a, b), name, type)
    else:
        _mask_width(to, to.emit(operation, (a, b), "", type), name, width)


def legalize_cast(
    to: Emitter, operation: str, value: Operand, source: int, target: Type, width: int, name: str
) -> None:
    """Conversion from or to an odd width; `source` and `width` are the widths before and after, 0 for those
    of types.
    """
    if operation not in _CASTS:
        raise Unsupported(f"`{operation}` of an integer of {source or width} bits")
    if source and operation in ("sext", "sitofp"):
        value = sign_extend(to, value, source)
    # `zext` and `fptoui` to an odd width leave zeros above by themselves, or are undefined.
    masks = width > 0 and operation in ("trunc", "sext", "fptosi")
    if value.type != target:
        value = to.emit(operation, (value,), "" if masks else name, target)
    elif not masks:
        to.emit("copy", (value,), name, target)
    if masks:
        _mask_width(to, value, name, width)


def sign_extend(to: Emitter, value: Operand, width: int) -> Operand:
    """Sign extension within a register: shifted to the top and back arithmetically (Hacker's Delight, section 2-6)."""
    above = integer_constant(value.type, WIDTH[value.type] - width)
    return to.emit("ashr", (to.emit("shl", (value, above), "", value.type), above), "", value.type)


def load_odd_width(to: Emitter, address: Operand, name: str, type: Type, width: int, access: Access) -> None:
    total: Operand = integer_constant(type, 0)
    for piece, offset, where in _memory_pieces(to, address, width, access):
        part: Operand = to.emit("load", (where,), "", piece, access=_piece_access(access, offset))
        if piece != type:
            part = to.emit("zext", (part,), "", type)
        if offset:
            part = to.emit(
                "or", (total, to.emit("shl", (part, integer_constant(type, 8 * offset)), "", type)), "", type
            )
        total = part
    _mask_width(to, total, name, width)


def store_odd_width(to: Emitter, value: Operand, address: Operand, width: int, access: Access) -> None:
    for piece, offset, where in _memory_pieces(to, address, width, access):
        part = to.emit("lshr", (value, integer_constant(value.type, 8 * offset)), "", value.type) if offset else value
        if piece != value.type:
            part = to.emit("trunc", (part,), "", piece)
        to.effect("store", (part, where), _piece_access(access, offset))


def _mask_width(to: Emitter, value: Operand, name: str, width: int) -> None:
    to.emit("and", (value, integer_constant(value.type, (1 << width) - 1)), name, value.type)


def _memory_pieces(to: Emitter, address: Operand, width: int, access: Access) -> Iterator[tuple[Type, int, Operand]]:
    """Types, places and addresses of the parts, the low one first."""
    # A split access is not atomic, and accesses a volatile place more than once.
    if access.volatile or access.order:
        raise Unsupported(f"a volatile or atomic access of {width} bits")
    left, offset = (width + 7) // 8, 0
    while left:
        # The greatest power of two that is left: an i48 is accessed as 4 and 2 bytes.
        size = 1 << (left.bit_length() - 1)
        where = to.emit("offset", (address, integer_constant(to.address, offset)), "", PTR) if offset else address
        yield _BY_SIZE[size], offset, where
        left, offset = left - size, offset + size


def _piece_access(access: Access, offset: int) -> Access:
    return Access(min(access.align, offset & -offset) if offset else access.align)
