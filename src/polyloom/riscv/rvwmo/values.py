# SPDX-License-Identifier: Apache-2.0
"""Symbolic values: 64-bit integers, addresses, what a load will read, and operations on them.

Integers are signed and wrap. An address is a location's name and an offset; its number is not known, so that only what
holds for every placement of locations is computed. Operations are simplified where the result does not depend on
unknown operands (`x ^ x` is 0), since dependencies are syntactic and kept elsewhere. Meanings: RISC-V unprivileged
manual, chapters "RV64I", "Zbb" and "Zicond".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from polyloom.diagnostics import infeasible
from polyloom.twos_complement import sign_extend

_SAME_IS_ZERO: Final = {"xor", "sub", "slt", "sltu"}
_SAME_IS_ITSELF: Final = {"and", "or", "min", "minu", "max", "maxu"}
_ZERO_RIGHT_IS_LEFT: Final = {"add", "sub", "or", "xor", "sll", "srl", "sra", "andn", "rol", "ror"}
_ZERO_LEFT_IS_RIGHT: Final = {"add", "or", "xor"}
_ZERO_LEFT_IS_ZERO: Final = {"and", "andn", "sll", "srl", "sra", "czero.eqz", "czero.nez"}
_LARGEST: Final = 200
_PAGE: Final = 4096
"""No location lies below this address, so that an address is a true value and above small constants."""


@dataclass(frozen=True, slots=True, order=True)
class Pointer:
    """Address `offset` bytes behind a location, or of a label of code, `P1:LC00`."""

    name: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.name}{self.offset:+}" if self.offset else self.name


@dataclass(frozen=True, slots=True)
class Read:
    """Symbolic result of the memory operation `index` of a hart, a signed integer of its width."""

    hart: int
    index: int


@dataclass(frozen=True, slots=True)
class Apply:
    """Symbolic operation on values of which at least one is not known."""

    operation: str
    left: Value
    right: Value
    # Expressions share parts, so that what is written out may be exponentially larger than what is stored.
    size: int = field(default=1, compare=False, repr=False)
    """How many operations it has, counted as often as they are mentioned."""


Constant = int | Pointer
Value = int | Pointer | Read | Apply


class UndefinedError(Exception):
    """An operation on addresses whose result depends on where locations are."""


def signed(value: int, bits: int = 64) -> int:
    """The low `bits` as a signed integer."""
    return sign_extend(value, bits)


def unsigned(value: int, bits: int = 64) -> int:
    return value % (1 << bits)


def apply_operation(operation: str, left: Value, right: Value = 0) -> Value:
    """Symbolic evaluation of an operation, to a constant where it is known. Errors: `UndefinedError`; PL0944 if the
    expression is too large.
    """
    if isinstance(left, int) and isinstance(right, int):
        return signed(OPERATIONS[operation](left, right))
    simple = _simplify(operation, left, right)
    if simple is not None:
        return simple
    if isinstance(left, int | Pointer) and isinstance(right, int | Pointer):
        return _address_arithmetic(operation, left, right)
    # Chains of operations on one read double in size with each use of both operands.
    size = 1 + sum(value.size for value in (left, right) if isinstance(value, Apply))
    if size > _LARGEST:
        help = "use fewer instructions between a load and what depends on it"
        raise infeasible(
            "PL0944", f"a value depends on what is read through more than {_LARGEST} operations", help=help
        )
    return Apply(operation, left, right, size)


def _simplify(operation: str, left: Value, right: Value) -> Value | None:
    """Algebraic simplification that holds whatever is read; None where none applies."""
    # x ^ x is 0 whatever x is. The dependency on x stays: it is syntactic, and kept in taints, not in values.
    if left == right and operation in _SAME_IS_ZERO | _SAME_IS_ITSELF | {"eq"}:
        # Equal expressions have equal values, whatever is read.
        return 1 if operation == "eq" else 0 if operation in _SAME_IS_ZERO else left
    if operation in ("czero.eqz", "czero.nez") and isinstance(right, int | Pointer):
        return 0 if (right == 0) == (operation == "czero.eqz") else left
    if right == 0 and operation in _ZERO_RIGHT_IS_LEFT:
        return left
    if left == 0 and operation in _ZERO_LEFT_IS_RIGHT:
        return right
    if (left == 0 and operation in _ZERO_LEFT_IS_ZERO) or (right == 0 and operation == "and"):
        return 0
    if operation == "and" and -1 in (left, right):
        return right if left == -1 else left
    return None


def _address_arithmetic(operation: str, left: Constant, right: Constant) -> Constant:
    """Operation on constants of which one is an address. Errors: `UndefinedError` where the result depends on where
    locations are.
    """
    if isinstance(left, Pointer) and isinstance(right, Pointer):
        if operation == "eq":
            return 0
        if left.name == right.name and operation in ("sub", "slt", "sltu"):
            return OPERATIONS[operation](left.offset, right.offset)
    elif isinstance(left, Pointer):
        assert isinstance(right, int)
        if operation in ("add", "sub"):
            return Pointer(left.name, left.offset + (right if operation == "add" else -right))
        if operation in ("eq", "sltu") and 0 <= right < _PAGE:
            return 0
        # Addresses are symbols and have no width.
        if operation in ("sext32", "zext32"):  # RV32 moves addresses by lw and sw
            return left
    elif operation == "add":
        return _address_arithmetic(operation, right, left)
    elif operation in ("eq", "sltu") and 0 <= left < _PAGE:
        return int(operation == "sltu")
    raise UndefinedError(f"'{operation}' of {left} and {right}")


def evaluate_value(value: Value, read: Mapping[Read, Value], under: frozenset[Read] = frozenset()) -> Constant | None:
    """Value where reads have the given values; None where one is not given, or depends on itself (out of thin air)."""
    if isinstance(value, int | Pointer):
        return value
    if isinstance(value, Read):
        # A value that depends on itself would be out of thin air, which preserved program order forbids.
        return None if value in under or value not in read else evaluate_value(read[value], read, under | {value})
    left, right = evaluate_value(value.left, read, under), evaluate_value(value.right, read, under)
    if left is None or right is None:
        return None
    result = apply_operation(value.operation, left, right)
    assert isinstance(result, int | Pointer)
    return result


def reads_of_value(value: Value) -> frozenset[Read]:
    """The reads that `value` mentions."""
    if isinstance(value, Apply):
        return reads_of_value(value.left) | reads_of_value(value.right)
    return frozenset({value}) if isinstance(value, Read) else frozenset()


def possible_locations(value: Value, everything: frozenset[str]) -> frozenset[str]:
    """Points-to set: the locations into which `value` may point, where a read may give the address of any of
    `everything`.
    """
    if isinstance(value, Pointer):
        return frozenset({value.name})
    if isinstance(value, Read):
        return everything
    if isinstance(value, Apply) and value.operation in _KEEPS_ADDRESSES:
        return possible_locations(value.left, everything) | possible_locations(value.right, everything)
    return frozenset()


_KEEPS_ADDRESSES: Final = {
    "add",
    "sub",
    "and",
    "or",
    "xor",
    "andn",
    "czero.eqz",
    "czero.nez",
    "min",
    "max",
    "minu",
    "maxu",
    "sext32",
    "zext32",
}


def _shift(value: int, amount: int, bits: int, *, left: bool, arithmetic: bool = False) -> int:
    amount %= bits
    if left:
        return signed(value << amount, bits)
    return signed((signed(value, bits) if arithmetic else unsigned(value, bits)) >> amount, bits)


def _rotate(value: int, amount: int, bits: int) -> int:
    twice = unsigned(value, bits) << bits | unsigned(value, bits)
    return signed(twice >> amount % bits, bits)


def _leading_zeros(value: int, bits: int) -> int:
    return bits - unsigned(value, bits).bit_length()


def _trailing_zeros(value: int, bits: int) -> int:
    low = unsigned(value, bits)
    return (low & -low).bit_length() - 1 if low else bits


def _bytes(value: int) -> bytes:
    return unsigned(value).to_bytes(8, "little")


OPERATIONS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "andn": lambda a, b: a & ~b,
    "orn": lambda a, b: a | ~b,
    "xnor": lambda a, b: ~(a ^ b),
    "sll": lambda a, b: _shift(a, b, 64, left=True),
    "srl": lambda a, b: _shift(a, b, 64, left=False),
    "sra": lambda a, b: _shift(a, b, 64, left=False, arithmetic=True),
    "addw": lambda a, b: signed(a + b, 32),
    "subw": lambda a, b: signed(a - b, 32),
    "sllw": lambda a, b: _shift(a, b, 32, left=True),
    "srlw": lambda a, b: _shift(a, b, 32, left=False),
    "sraw": lambda a, b: _shift(a, b, 32, left=False, arithmetic=True),
    "eq": lambda a, b: int(a == b),
    "slt": lambda a, b: int(a < b),
    "sltu": lambda a, b: int(unsigned(a) < unsigned(b)),
    "min": min,
    "max": max,
    "minu": lambda a, b: min(a, b, key=unsigned),
    "maxu": lambda a, b: max(a, b, key=unsigned),
    "rol": lambda a, b: _rotate(a, -b, 64),
    "ror": lambda a, b: _rotate(a, b, 64),
    "rolw": lambda a, b: _rotate(a, -b, 32),
    "rorw": lambda a, b: _rotate(a, b, 32),
    "clz": lambda a, _: _leading_zeros(a, 64),
    "ctz": lambda a, _: _trailing_zeros(a, 64),
    "cpop": lambda a, _: unsigned(a).bit_count(),
    "clzw": lambda a, _: _leading_zeros(a, 32),
    "ctzw": lambda a, _: _trailing_zeros(a, 32),
    "cpopw": lambda a, _: unsigned(a, 32).bit_count(),
    "orc.b": lambda a, _: int.from_bytes(bytes(255 if byte else 0 for byte in _bytes(a)), "little"),
    "rev8": lambda a, _: int.from_bytes(_bytes(a), "big"),
    "sext.b": lambda a, _: signed(a, 8),
    "sext.h": lambda a, _: signed(a, 16),
    "zext.h": lambda a, _: unsigned(a, 16),
    "czero.eqz": lambda a, b: a if b else 0,
    "czero.nez": lambda a, b: 0 if b else a,
    **{f"sext{bits}": lambda a, _, bits=bits: signed(a, bits) for bits in (8, 16, 32)},
    **{f"zext{bits}": lambda a, _, bits=bits: unsigned(a, bits) for bits in (8, 16, 32)},
}
"""Two-operand meanings by mnemonic, without the `i` of immediates; unary ones ignore the second operand."""
