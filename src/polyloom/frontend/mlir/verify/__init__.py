# SPDX-License-Identifier: Apache-2.0
"""Verifier of operations: what MLIR demands and the verifiers of xDSL 0.74 let pass (MLIR language reference).

    dominance.py   a value is used behind its definition, in the same region or in one within
    regions.py     one block, whose terminator gives what the operation around it returns
    maps.py        affine maps and sets have as many operands and results as they are used with
    arrays.py      indices, slices, reassociations, extents and tables have the rank of their array
    structured.py  structured operations: operands, maps, axes, bodies

A function that passes has all that its lowering asks for: lowering looks nothing up that may be missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from polyloom.frontend.mlir.verify import arrays, maps, regions, structured
from polyloom.frontend.mlir.verify.dominance import dominance_violations
from polyloom.frontend.mlir.verify.violation import Violation

__all__ = ["Violation", "find_violation"]


def find_violation(function: Operation) -> Violation | None:
    """The first violation in a function, in the order of its operations; None of a valid one."""
    return next(_violations(function), None)


def _violations(function: Operation) -> Iterator[Violation]:
    # Everything else assumes regions of one block.
    several = [found for operation in function.walk() for found in regions.block_violations(operation)]
    if several or (isinstance(function, FuncOp) and len(function.body.blocks) > 1):
        yield from several
        return
    yield from dominance_violations(function)
    for operation in function.walk():
        for check in (regions.verify_terminators, maps.verify_maps, arrays.verify_arrays, structured.verify_structure):
            message = next(check(operation), None)
            if message is not None:
                yield Violation(operation, message)
