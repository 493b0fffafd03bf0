# SPDX-License-Identifier: Apache-2.0
"""Addresses as affine forms over values: constant + sum of coefficient * value, modulo 2^32.

A form follows additions, subtractions and products with constants. Values that it stops at are its atoms. Within a loop
a parameter that grows by a constant is basic: it is what it begins with, plus its step times the iteration's number,
which is an atom of its own, `ITERATION`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from polyloom.targets.belt.ir import Address, Block, Constant, Edge, Function, Loop, Op, Operand, Type, Value
from polyloom.targets.belt.ir_verify import edges

W: Final = Type("w")
MODULUS: Final = 1 << 32
ITERATION: Final = ""
Atom = str
"""A value's name; `@` and the name for an address of a datum; or `ITERATION`."""


def signed(number: int) -> int:
    number %= MODULUS
    return number - MODULUS if number >> 31 else number


@dataclass(frozen=True, slots=True)
class Form:
    """Coefficients are signed and not 0, sorted by atom."""

    constant: int
    terms: tuple[tuple[Atom, int], ...] = ()

    def __add__(self, other: Form) -> Form:
        found = dict(self.terms)
        for atom, coefficient in other.terms:
            found[atom] = found.get(atom, 0) + coefficient
        return form(self.constant + other.constant, found)

    def __mul__(self, factor: int) -> Form:
        return form(self.constant * factor, {atom: c * factor for atom, c in self.terms})

    def __sub__(self, other: Form) -> Form:
        return self + other * -1

    @property
    def zeros(self) -> int:
        """Low bits that are 0 whatever the atoms are, the constant's too."""
        numbers = [self.constant, *(c for _, c in self.terms)]
        return min((n & -n).bit_length() - 1 if n else 32 for n in numbers)

    def coefficient(self, atom: Atom) -> int:
        return dict(self.terms).get(atom, 0)


def form(constant: int, terms: Mapping[Atom, int]) -> Form:
    kept = {atom: signed(c) for atom, c in terms.items() if c % MODULUS}
    return Form(signed(constant), tuple(sorted(kept.items())))


@dataclass(slots=True)
class Forms:
    """Forms of a function's values. `inside` limits what is followed to the operations of one block; without it all
    definitions are, and parameters of blocks with one edge to them."""

    function: Function
    inside: Block | Loop | None = None
    made: dict[str, Op] = field(default_factory=dict[str, Op])
    arguments: dict[str, Operand] = field(default_factory=dict[str, Operand])
    known: dict[str, Form] = field(default_factory=dict[str, Form])

    def __post_init__(self) -> None:
        blocks = (self.inside,) if self.inside is not None else self.function.blocks
        self.made.update({r.name: op for block in blocks for op in block.ops for r in op.results})
        if self.inside is None:
            self.arguments.update(_single(self.function))

    def named(self, atom: Atom) -> Form:
        """Of an atom of another form."""
        return self.of(Value(atom, W)) if atom[:1] not in ("@", "?", ITERATION) else Form(0, ((atom, 1),))

    def of(self, operand: Operand) -> Form:
        match operand:
            case Constant(_, bits):
                return Form(signed(bits))
            case Address(name, offset):
                return Form(signed(offset), ((f"@{name}", 1),))
            case Value(name):
                if name not in self.known:
                    self.known[name] = Form(0, ((name, 1),))  # a cycle, which only unreached blocks have, ends here
                    self.known[name] = self._value(operand)
                return self.known[name]
            case _:
                return Form(0, (("?", 1),))

    def _value(self, value: Value) -> Form:
        alone = Form(0, ((value.name, 1),))
        if value.name in self.arguments:
            return self.of(self.arguments[value.name])
        op = self.made.get(value.name)
        if op is None or value.type != W or len(op.operands) != 2:
            return alone
        a, b = op.operands
        match op.name:
            case "add":
                return self.of(a) + self.of(b)
            case "sub":
                return self.of(a) - self.of(b)
            case "shl" if isinstance(b, Constant):
                return self.of(a) * (1 << b.bits % 32)
            case "mul" if isinstance(b, Constant):
                return self.of(a) * signed(b.bits)
            case "or" if isinstance(b, Constant) and b.bits < 1 << self.of(a).zeros:
                return self.of(a) + Form(b.bits)
            case _:
                return alone

    def address(self, op: Op) -> Form:
        """Of a load or a store."""
        found = self.of(op.operands[0]) + Form(op.offset)
        return found + self.of(op.operands[1]) * op.scale if op.scale else found


def _single(function: Function) -> dict[str, Operand]:
    """Parameters of blocks (loops left out) to which one edge goes: its arguments."""
    arriving: dict[str, list[Edge]] = {}
    for block in function.blocks:
        for edge in edges(block):
            arriving.setdefault(edge.target, []).append(edge)
    found: dict[str, Operand] = {}
    for block in function.blocks[1:]:
        if isinstance(block, Block) and len(ways := arriving.get(block.name, [])) == 1:
            found |= {p.name: a for p, a in zip(block.parameters, ways[0].arguments, strict=True)}
    return found


def entry(function: Function, loop: Loop) -> Edge:
    """The one edge into a loop from outside."""
    return next(edge for block in function.blocks for edge in edges(block) if edge.target == loop.name)


def steps(loop: Loop, forms: Forms) -> dict[str, int]:
    """Basic parameters by name, with their steps in bytes or whatever they count."""
    found: dict[str, int] = {}
    for parameter, following in zip(loop.parameters, loop.next, strict=True):
        if parameter.type != W:
            continue
        step = forms.of(following) - Form(0, ((parameter.name, 1),))
        if not step.terms:
            found[parameter.name] = step.constant
    return found


def by_iteration(address: Form, loop: Loop, function: Function, forms: Forms) -> Form:
    """The form with basic parameters as what they begin with plus a multiple of `ITERATION`."""
    basic = steps(loop, forms)
    first = dict(zip((p.name for p in loop.parameters), entry(function, loop).arguments, strict=True))
    found = Form(address.constant)
    for atom, coefficient in address.terms:
        if atom in basic:
            found = found + (forms.of(first[atom]) + Form(0, ((ITERATION, basic[atom]),))) * coefficient
        else:
            found = found + Form(0, ((atom, coefficient),))
    return found
