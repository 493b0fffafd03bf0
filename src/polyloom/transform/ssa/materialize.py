# SPDX-License-Identifier: Apache-2.0
"""Materialization: instructions that compute an affine form, appended to a list."""

from __future__ import annotations

from collections.abc import Callable

from polyloom.analysis.affine import Affine, Atom
from polyloom.ir.ssa import Address, Instruction, Operand, Value, integer_constant
from polyloom.ir.ssa_types import PTR, Type

Fresh = Callable[[str], str]


def materialize(form: Affine, to: list[Instruction], fresh: Fresh, address: Type) -> Operand:
    """The value of a form over integers as wide as an address and pointers: a pointer where one stands in it once, the
    others as its distance; else an integer. Products by powers of two are shifts, what is negative is subtracted
    last."""
    # Values with the coefficient 1 first: one of them is the pointer, and sums begin without a product.
    terms = sorted(form.terms, key=lambda term: (term[1] != 1, str(term[0])))
    root = next((atom for atom, c in terms if c == 1 and atom.type == PTR), None)
    # An address constant of the linker's: no instruction.
    if isinstance(root, Address) and len(terms) == 1:
        return Address(root.name, form.constant)

    def emit(operation: str, *operands: Operand, type: Type = address) -> Operand:
        to.append(Instruction(operation, operands, (Value(fresh("a"), type),)))
        return to[-1].results[0]

    def part(atom: Atom, size: int) -> Operand:
        whole = emit("ptrtoint", atom) if atom.type == PTR else atom
        if size == 1:
            return whole
        if size & (size - 1) == 0:
            return emit("shl", whole, integer_constant(address, size.bit_length() - 1))
        return emit("mul", whole, integer_constant(address, size))

    total: Operand | None = root

    def plus(by: Operand) -> Operand:
        if total is None:
            return by
        return emit("offset", total, by, type=PTR) if total.type == PTR else emit("add", total, by)

    negative: list[Operand] = []
    for atom, coefficient in terms:
        if atom is root:
            continue
        found = part(atom, abs(coefficient))
        if coefficient < 0:
            negative.append(found)
        else:
            total = plus(found)
    if form.constant or total is None:
        total = plus(integer_constant(address, form.constant))
    for by in negative:
        less = emit("sub", integer_constant(address, 0), by) if total.type == PTR else by
        total = plus(less) if total.type == PTR else emit("sub", total, less)
    return total
