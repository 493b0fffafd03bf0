# SPDX-License-Identifier: Apache-2.0
"""Dialects that are read: those of xDSL, and what it lacks, defined with its own facilities (IRDL definitions, parsing
methods); the context of a reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects import affine, arith, bufferization, builtin, func, linalg, math, memref, scf, tensor
from xdsl.ir import Dialect

from polyloom.frontend.mlir.dialects import affine_ops, linalg_ops, scf_ops
from polyloom.frontend.mlir.dialects.index_ops import ARITH, INDEX


def _override(dialect: Dialect, operations: Sequence[Any]) -> Dialect:
    """A dialect with operations in the place of those of the same name, and more."""
    own = {op.name for op in operations}
    kept = [op for op in dialect.operations if op.name not in own]
    return Dialect(dialect.name, [*kept, *operations], list(dialect.attributes))


def make_context() -> Context:
    """The context in which a file is read; nothing else is registered."""
    context = Context()
    for dialect in (
        *(builtin.Builtin, func.Func, math.Math, tensor.Tensor, INDEX),
        _override(arith.Arith, ARITH),
        _override(affine.Affine, affine_ops.OPERATIONS),
        _override(bufferization.Bufferization, scf_ops.BUFFERIZATION),
        _override(scf.Scf, scf_ops.SCF),
        _override(memref.MemRef, scf_ops.MEMREF),
        _override(linalg.Linalg, linalg_ops.OPERATIONS),
    ):
        context.load_dialect(dialect)
    return context
