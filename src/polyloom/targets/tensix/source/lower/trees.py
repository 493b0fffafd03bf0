# SPDX-License-Identifier: Apache-2.0
"""Condition trees of what SFPSETCC tests: the sign of a value, and whether it is zero.

Comparisons with a literal 0 test the operand itself, others a difference, which is computed where it is tested: that of
floats is b·−1 + a, that of integers wraps. `<=` is `<` or `==`, `>` its complement. Unsigned comparisons are exact: the
difference decides where the operands' upper bits agree, else the upper bit of b does (Hacker's Delight, section 2-12).
Meaning of comparisons: docs/sfpi.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from polyloom.ir.ssa import Constant, Function, Instruction, Operand, Value
from polyloom.ir.ssa_verify import uses
from polyloom.targets.tensix.source.operations import CONDITIONS, PREFIX, called_operation

Test = Literal["lt", "ne", "ge", "eq"]
MODES: Final[dict[Test, int]] = {"lt": 0, "ne": 2, "ge": 4, "eq": 6}
INTEGER: Final = f"{PREFIX}int_of"
_MOST: Final = 0xFFFFFFFF
_OPPOSITE: Final[dict[Test, Test]] = {"lt": "ge", "ge": "lt", "eq": "ne", "ne": "eq"}


@dataclass(slots=True)
class Difference:
    """A difference `a - b`, of unsigned numbers a value that is negative where a is less; `b` may be bits. Mutable,
    because leaves of one comparison share the value once it is computed.
    """

    kind: Literal["float", "integer", "unsigned"]
    a: Operand
    b: Operand | int
    value: Value | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A test: lanes where the value passes it against 0."""

    test: Test
    value: Operand | Difference


@dataclass(frozen=True, slots=True)
class Both:
    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple[Tree, ...]


_MIRRORED: Final = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
Tree = Leaf | Both | Either
Defining = Callable[[Operand], Instruction | None]
"""The instruction that defines an operand."""


def negate(tree: Tree) -> Tree:
    """Negation by De Morgan's laws."""
    match tree:
        case Leaf(test, value):
            return Leaf(_OPPOSITE[test], value)
        case Both(parts):
            return Either(tuple(map(negate, parts)))
        case Either(parts):
            return Both(tuple(map(negate, parts)))


def condition_tree(mask: Operand, defining: Defining) -> Tree:
    """Condition tree of a mask; one that no comparison defines is refused by the verifier before."""
    found = defining(mask)
    row = None if found is None else called_operation(found)
    assert found is not None and row is not None, f"{mask} is no mask that an operation makes"
    match row.name:
        case "mask_and" | "mask_or":
            parts = tuple(condition_tree(part, defining) for part in found.operands)
            return _flatten(Both if row.name == "mask_and" else Either, parts)
        case "mask_not":
            return negate(condition_tree(found.operands[0], defining))
        case _:
            tested = zero_test(found, defining)
            if tested is None:
                return _comparison(row.name, found.operands, defining)
            condition, value = tested
            integer = defining(value)
            if integer is None or integer.called != INTEGER:
                return Leaf(condition, value)
            # The test of a number that a mask became is that mask, or its complement.
            tree = condition_tree(integer.operands[0], defining)
            return tree if condition == "ne" else negate(tree)


def zero_test(instruction: Instruction, defining: Defining) -> tuple[Test, Operand] | None:
    """Test whether a value is zero or not, of `mask_of` and of comparisons for equality with a literal 0."""
    row = called_operation(instruction)
    if row is not None and row.name == "mask_of":
        return "ne", instruction.operands[0]
    if row is None or not row.name.startswith("cmp_"):
        return None
    number, a, b = instruction.operands
    condition = CONDITIONS[number.value] if isinstance(number, Constant) else ""
    if condition not in ("eq", "ne"):
        return None
    return next(((condition, x) for x, y in ((a, b), (b, a)) if literal_bits(y, defining) == 0), None)


def tested_integers(function: Function) -> frozenset[str]:
    """Numbers that masks became, and that one test against 0 uses alone: no number is needed there."""
    code = [i for block in function.blocks for i in block.instructions]
    sources = {result.name: i for i in code for result in i.results}
    counts = Counter(o.name for b in function.blocks for _, group in uses(b) for o in group if isinstance(o, Value))

    def defining(operand: Operand) -> Instruction | None:
        return sources.get(operand.name) if isinstance(operand, Value) else None

    tested = (found[1] for i in code if (found := zero_test(i, defining)) is not None)
    once = (value for value in tested if isinstance(value, Value) and counts[value.name] == 1)
    return frozenset(v.name for v in once if v.name in sources and sources[v.name].called == INTEGER)


def literal_bits(operand: Operand, defining: Defining) -> int | None:
    """Bits of a literal in every lane."""
    found = defining(operand)
    row = None if found is None else called_operation(found)
    if found is None or row is None or row.name != "splat":
        return None
    bits = found.operands[0]
    return bits.value & 0xFFFFFFFF if isinstance(bits, Constant) else None


def _flatten(kind: type[Both] | type[Either], parts: tuple[Tree, ...]) -> Tree:
    """Conjunction or disjunction without parts of the same kind."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))]
    return kind(tuple(flat))


def _comparison(name: str, operands: tuple[Operand, ...], defining: Defining) -> Tree:
    """Tree of a call of `cmp_f`, `cmp_i` or `cmp_u`."""
    number, a, b = operands
    assert isinstance(number, Constant)
    condition = CONDITIONS[number.value]
    if name == "cmp_u":
        return _unsigned_comparison(condition, a, b, literal_bits(b, defining))
    if literal_bits(b, defining) == 0:
        return _signed_comparison(condition, a)
    if literal_bits(a, defining) == 0:
        return _signed_comparison(_MIRRORED[condition], b)
    return _signed_comparison(condition, Difference("float" if name == "cmp_f" else "integer", a, b))


def _signed_comparison(condition: str, value: Operand | Difference) -> Tree:
    match condition:
        case "le":
            return Either((Leaf("lt", value), Leaf("eq", value)))
        case "gt":
            return Both((Leaf("ge", value), Leaf("ne", value)))
        case _:
            return Leaf(cast("Test", condition), value)


def _unsigned_comparison(condition: str, a: Operand, b: Operand, bits: int | None) -> Tree:
    """Tree of an unsigned comparison; `b` has the bits, where they are known."""
    if condition in ("eq", "ne"):
        return Leaf(cast("Test", condition), Difference("integer", a, b))
    # Nothing is above the greatest number, and bits + 1 below would wrap to 0.
    if bits == _MOST and condition in ("gt", "le"):
        return _constant_tree(a, condition == "le")
    if condition in ("lt", "ge"):
        less = _unsigned_order(a, b, bits)
    else:
        # a <= b is a < b + 1 where that does not wrap, and else not b < a
        less = _unsigned_order(b, a, None) if bits is None else negate(_unsigned_order(a, bits + 1, bits + 1))
    return less if condition in ("lt", "gt") else negate(less)


def _unsigned_order(a: Operand, b: Operand | int, bits: int | None) -> Tree:
    """Tree of a < b, unsigned: where the upper bits are equal the wrapping difference is negative just then."""
    if bits is None:
        return Leaf("lt", Difference("unsigned", a, b))
    if bits == 0:
        return _constant_tree(a, False)
    # With a known b the sign of a alone decides where the upper bits differ.
    difference = Leaf("lt", Difference("integer", a, b))
    return Either((Leaf("ge", a), difference)) if bits >> 31 else Both((Leaf("ge", a), difference))


def _constant_tree(a: Operand, holds: bool) -> Tree:
    """All lanes, or none."""
    tests = (Leaf("lt", a), Leaf("ge", a))
    return Either(tests) if holds else Both(tests)
