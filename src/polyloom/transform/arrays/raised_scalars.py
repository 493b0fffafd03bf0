# SPDX-License-Identifier: Apache-2.0
"""Scalars that an iteration computes for itself, in a band of loops that becomes stores: forward substitution where one
statement reads them once, and scalar expansion, an array with an element per iteration, elsewhere (Wolfe, High
Performance Compilers for Parallel Computing, chapter 9; Allen and Kennedy 2001, 5.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from polyloom.ir import nest
from polyloom.ir.nest import Assign, Expression, If, Loop, Node, Storage, accesses
from polyloom.ir.pla import Reference
from polyloom.names import fresh_name
from polyloom.sets import Affine


def expand_scalars(
    body: Sequence[Node],
    band: Sequence[Loop],
    storage: Mapping[str, Storage],
    everywhere: Mapping[str, int],
    taken: set[str],
) -> tuple[list[Node], list[Storage]] | None:
    """The assignments to arrays in a band, and the arrays that are new; None for another body, and where a scalar is
    assigned twice, or is read elsewhere, too; `everywhere` counts how often a name is read in the nest."""
    assigns, arrays, known = list[Node](), list[Storage](), dict[str, Expression]()
    scalars = {a.target.name for a in nest.assignments(body) if not storage[a.target.name].shape}
    uses = Counter(read.name for each in nest.assignments(body) for read in accesses(each.value))
    for node in body:
        match node:
            case Assign(target=target, value=value) if storage[target.name].shape:
                assigns.append(replace(node, value=substitute(value, known)))
            case Assign(target=target, value=value):
                if target.name in known or storage[target.name].role != "local":
                    return None
                if uses[target.name] != everywhere[target.name]:
                    return None
                made = substitute(value, known)
                # What an iteration takes from the one before is no value of its own.
                if any(read.name in scalars for read in accesses(made)):
                    return None
                if isinstance(made, nest.Apply) and uses[target.name] > 1:
                    array = _expanded_array(storage[target.name], band, taken)
                    index = tuple(Affine.symbol(loop.name) - loop.lower[0] for loop in band)
                    held = Reference(array.name, index, target.span)
                    arrays.append(array)
                    assigns.append(replace(node, target=held, value=made))
                    made = held
                known[target.name] = made
            case If(body=(Assign(),), orelse=() | (Assign(),)):
                sides = list(nest.assignments((node,)))
                if any(_place(each) != _place(sides[0]) or not storage[each.target.name].shape for each in sides):
                    return None
                first, *rest = [replace(each, value=substitute(each.value, known)) for each in sides]
                assigns.append(replace(node, body=(first,), orelse=tuple(rest)))
            case _:
                return None
    # A value that is computed where its name stands must find the elements as they were.
    written = {a.target.name for a in nest.assignments(assigns)} - {array.name for array in arrays}
    read = {r.name for value in known.values() for r in accesses(value)}
    if len(written) > 1 and written & read:
        return None
    return assigns, arrays


def _place(assign: Assign) -> tuple[str, tuple[Affine, ...]]:
    return assign.target.name, assign.target.index


def _expanded_array(scalar: Storage, band: Sequence[Loop], taken: set[str]) -> Storage:
    extents = tuple(loop.upper[0] - loop.lower[0] for loop in band)
    return Storage(fresh_name(scalar.name, taken), scalar.dtype, extents, "local", True, scalar.span)


def substitute(expression: Expression, known: Mapping[str, Expression]) -> Expression:
    """An expression with values in the place of scalars."""
    match expression:
        case nest.Apply(operands=operands):
            return replace(expression, operands=tuple(substitute(operand, known) for operand in operands))
        case Reference(name=name):
            return known.get(name, expression)
        case _:
            return expression
