# SPDX-License-Identifier: Apache-2.0
"""Regions: one block each, whose terminator gives what the operation around it returns (MLIR language reference,
dialects scf, affine, func, memref and tensor).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from polyloom.frontend.mlir.element_types import is_array_type, scalar_type
from polyloom.frontend.mlir.verify.violation import Violation

_RETURNING: Final = frozenset(
    (
        *("scf.for", "scf.if", "scf.index_switch", "scf.execute_region"),
        *("affine.for", "affine.if", "affine.parallel", "memref.alloca_scope"),
    )
)
"""Operations whose results are the operands of the terminator of each region."""


def block_violations(operation: Operation) -> Iterator[Violation]:
    """Regions of several blocks within a function; the function's own are refused where it is lowered."""
    if not isinstance(operation, FuncOp) and any(len(region.blocks) > 1 for region in operation.regions):
        help = "lower it to structured loops and branches"
        yield Violation(operation, f"{operation.name} has several blocks", "PL0176", help)


def verify_terminators(operation: Any) -> Iterator[str]:
    """What is wrong with the terminators of an operation's regions, and with the arguments of its blocks."""
    if isinstance(operation, FuncOp):
        yield from _verify_yields(operation, operation.function_type.outputs.data)
        count = len(operation.function_type.inputs.data)
        if operation.arg_attrs is not None and len(operation.arg_attrs.data) != count:
            yield f"{count} arguments have {len(operation.arg_attrs.data)} lists of attributes"
    elif operation.name in _RETURNING:
        yield from _verify_yields(operation, operation.result_types)
    elif operation.name == "tensor.pad":
        yield from _verify_yields(operation, [scalar_type(operation.results[0].type)])
        if len(operation.regions[0].block.args) != len(operation.results[0].type.get_shape()):
            yield "its region has not one argument for each axis"
    elif operation.name == "scf.parallel":
        yield from _verify_reductions(operation)


def _verify_yields(operation: Operation, wanted: Sequence[Any]) -> Iterator[str]:
    for region in operation.regions:
        # A declaration has no body, and `scf.if` may be without its second region.
        if not region.blocks:
            continue
        last = region.block.last_op
        if last is None or last.operand_types != tuple(wanted):
            given = "nothing" if last is None else ", ".join(map(str, last.operand_types)) or "nothing"
            yield f"a region gives {given}, and {', '.join(map(str, wanted)) or 'nothing'} is expected"


def _verify_reductions(operation: Any) -> Iterator[str]:
    """scf.parallel: a region of two arguments for each result (MLIR language reference, scf.reduce)."""
    last = operation.regions[0].block.last_op
    if last is None or last.name != "scf.reduce" or last.operand_types != operation.result_types:
        yield "scf.reduce at its end has not one value for each result"
        return
    for operand, region in zip(last.operands, last.regions, strict=False):
        if is_array_type(operand.type):
            yield "it reduces arrays"
        end = region.block.last_op
        if len(region.block.args) != 2 or end is None or end.operand_types != (operand.type,):
            yield "a reduction has not two arguments and one result of their type"
    if len(last.regions) != len(last.operands):
        yield "scf.reduce has not one region for each value"
