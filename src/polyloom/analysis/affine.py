# SPDX-License-Identifier: Apache-2.0
"""Affine forms of integers and addresses of `ir.ssa`: a constant, plus the sum of coefficient times value.

All is modulo two to the width of an address, where sums, differences and products with constants are exact whatever
wraps. Values at which a form stops are its atoms. In a loop a parameter that grows by a constant is a basic induction
variable (Aho, Sethi, Ullman, "Compilers", section 10.7): what it begins with, plus its step times the number of the
iteration, an atom of its own, `ITERATION`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from polyloom.analysis.superblocks import Superblock, entry_edge
from polyloom.ir.ssa import Address, Block, Constant, Edge, Function, Instruction, Operand, Value, successor_edges
from polyloom.ir.ssa_types import I32, PTR
from polyloom.twos_complement import sign_extend

Atom = Operand
ITERATION: Final = Value("", I32)
"""No value has this name."""
_SAME: Final = ("copy", "ptrtoint", "inttoptr")
_DEPTH: Final = 64
"""Definitions that are followed: bounds the recursion in long chains of sums."""


@dataclass(frozen=True, slots=True)
class Affine:
    """Coefficients are not 0; terms are sorted by their atoms' text."""

    constant: int = 0
    terms: tuple[tuple[Atom, int], ...] = ()

    def __add__(self, other: Affine) -> Affine:
        if not other.terms:
            return Affine(self.constant + other.constant, self.terms)
        found = dict(self.terms)
        for atom, coefficient in other.terms:
            found[atom] = found.get(atom, 0) + coefficient
        return affine(self.constant + other.constant, found)

    def __mul__(self, factor: int) -> Affine:
        return affine(self.constant * factor, {atom: c * factor for atom, c in self.terms})

    def __sub__(self, other: Affine) -> Affine:
        return self + other * -1

    @property
    def zeros(self) -> int:
        """Low bits that are 0 whatever the atoms are, the constant's too; 64 at most."""
        numbers = [self.constant, *(c for _, c in self.terms)]
        return min((n & -n).bit_length() - 1 if n else 64 for n in numbers)

    def coefficient(self, atom: Atom) -> int:
        return dict(self.terms).get(atom, 0)


def affine(constant: int, terms: Mapping[Atom, int] | Iterable[tuple[Atom, int]]) -> Affine:
    """The form with terms in their order."""
    kept = [(atom, c) for atom, c in dict(terms).items() if c]
    return Affine(constant, tuple(sorted(kept, key=lambda term: str(term[0]))))


def atom_form(atom: Atom) -> Affine:
    """The atom itself."""
    return Affine(0, ((atom, 1),))


@dataclass(slots=True)
class AffineForms:
    """Forms of a function's values. `inside` limits what is followed to the instructions of a loop or of blocks;
    without it all definitions are, and parameters of blocks with one edge to them. At `leaves` a form stops."""

    function: Function
    inside: Superblock | Block | Sequence[Block] | None = None
    leaves: Set[str] = frozenset()
    makers: dict[str, Instruction] = field(default_factory=dict[str, Instruction])
    arguments: dict[str, Operand] = field(default_factory=dict[str, Operand])
    known: dict[str, Affine] = field(default_factory=dict[str, Affine])

    def __post_init__(self) -> None:
        inside = self.function.blocks if self.inside is None else self.inside
        lines = inside if isinstance(inside, Sequence) else [inside]
        self.makers.update({r.name: i for line in lines for i in line.instructions for r in i.results})
        if self.inside is None:
            self.arguments.update(_single_arguments(self.function))

    def form(self, operand: Operand, depth: int = _DEPTH) -> Affine:
        match operand:
            case Constant(_, value):
                return Affine(sign_extend(value, self.function.pointers))
            case Address(name, offset):
                return Affine(offset, ((Address(name), 1),))
            case Value(name):
                if name not in self.known:
                    self.known[name] = atom_form(operand)  # a cycle, which only unreached blocks have, ends here
                    self.known[name] = self._value(operand, depth - 1) if depth else atom_form(operand)
                return self.known[name]
            case _:
                return atom_form(operand)

    def _value(self, value: Value, depth: int) -> Affine:
        """Affine form of a value by what defines it: sums, differences, and products with constants (scalar evolution
        restricted to what is exact modulo two to the width; Muchnick 1997, section 14.1).
        """
        if value.name in self.leaves:
            return atom_form(value)
        # One edge leads to the block: its parameter is the argument, as a copy would be.
        if value.name in self.arguments:
            return self.form(self.arguments[value.name], depth)
        i = self.makers.get(value.name)
        if i is None or value.type not in (self.function.address, PTR):
            return atom_form(value)
        if i.operation in _SAME:
            return self.form(i.operands[0], depth)
        if len(i.operands) != 2:
            return atom_form(value)
        a, b = i.operands
        match i.operation:
            case "add" | "offset":
                return self.form(a, depth) + self.form(b, depth)
            case "sub":
                return self.form(a, depth) - self.form(b, depth)
            case "shl" if isinstance(b, Constant) and 0 <= b.value < self.function.pointers:
                return self.form(a, depth) * (1 << b.value)
            case "mul" if isinstance(b, Constant):
                return self.form(a, depth) * b.value
            # Bits that are 0 in the form: the or is a sum, as compilers write offsets into aligned data.
            case "or" if isinstance(b, Constant) and 0 <= b.value < 1 << self.form(a, depth).zeros:
                return self.form(a, depth) + Affine(b.value)
            case _:
                return atom_form(value)

    def address(self, access: Instruction) -> Affine:
        """Of a load or a store."""
        return self.form(access.operands[access.operation == "store"])


def _single_arguments(function: Function) -> dict[str, Operand]:
    """Copies by control flow: arguments of parameters of blocks to which one edge goes."""
    arriving: dict[str, list[Edge]] = {}
    for block in function.blocks:
        for edge in successor_edges(block.terminator):
            arriving.setdefault(edge.block, []).append(edge)
    return {
        p.name: a
        for block in function.blocks[1:]
        if len(ways := arriving.get(block.name, [])) == 1
        for p, a in zip(block.parameters, ways[0].arguments, strict=True)
    }


def initial_values(function: Function, loop: Superblock) -> dict[Value, Operand]:
    """Initial values of a loop's parameters, by parameter: the arguments of the edge that enters it."""
    return dict(zip(loop.parameters, entry_edge(function, loop)[1].arguments, strict=True))


def induction_steps(loop: Superblock, forms: AffineForms) -> dict[Value, int]:
    """Basic induction variables of a loop with their steps, in bytes or whatever they count (Aho, Lam, Sethi, Ullman
    2006, section 9.1.8).
    """
    found: dict[Value, int] = {}
    for parameter, following in zip(loop.parameters, loop.following, strict=True):
        if parameter.type in (forms.function.address, PTR):
            step = forms.form(following) - atom_form(parameter)
            # Only a constant is left of the difference: the parameter grows by it in each iteration.
            if not step.terms:
                found[parameter] = sign_extend(step.constant, forms.function.pointers)
    return found


def in_iteration_numbers(form: Affine, loop: Superblock, forms: AffineForms) -> Affine:
    """Normal form for dependence tests: basic induction variables become what they begin with plus a multiple of
    `ITERATION` (Goff, Kennedy, Tseng 1991).
    """
    basic, first = induction_steps(loop, forms), initial_values(forms.function, loop)
    found = Affine(form.constant)
    for atom, coefficient in form.terms:
        if isinstance(atom, Value) and atom in basic:
            found = found + (forms.form(first[atom]) + Affine(0, ((ITERATION, basic[atom]),))) * coefficient
        else:
            found = found + Affine(0, ((atom, coefficient),))
    return found
