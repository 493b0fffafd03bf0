# SPDX-License-Identifier: Apache-2.0
"""Undefined values get one, as LLVM's `freeze` gives it: passes then need not ask."""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.ssa import Constant, Function, Operand, Undef, replace_edges
from polyloom.transform.ssa.function_editing import on_each_function, with_operands


@on_each_function
def freeze_undefined(function: Function) -> Function:
    """Freezing of undefined values (LLVM language reference, instruction freeze): values that are not set are 0, as
    anything else would do.
    """

    def operand(of: Operand) -> Operand:
        return Constant(of.type, 0) if isinstance(of, Undef) else of

    blocks = tuple(with_operands(block, operand) for block in function.blocks)
    return replace(
        function,
        blocks=tuple(replace(b, terminator=replace_edges(b.terminator, operand, lambda edge: edge)) for b in blocks),
    )
