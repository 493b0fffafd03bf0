# SPDX-License-Identifier: Apache-2.0
"""Dialects that are read: those of xDSL, and what it lacks, defined with its own facilities (IRDL definitions, parsing
methods); the context of a reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects import affine, arith, bufferization, builtin, func, linalg, math, memref, scf, tensor
from xdsl.dialects.builtin import UnregisteredAttr
from xdsl.ir import Attribute, Dialect

from polyloom.frontend.mlir.dialects import affine_ops, forall_ops, linalg_ops, packing_ops, reshape_ops, scf_ops
from polyloom.frontend.mlir.dialects.index_ops import ARITH, INDEX


def _override(dialect: Dialect, operations: Sequence[Any]) -> Dialect:
    """A dialect with operations in the place of those of the same name, and more."""
    own = {op.name for op in operations}
    kept = [op for op in dialect.operations if op.name not in own]
    return Dialect(dialect.name, [*kept, *operations], list(dialect.attributes))


class _Context(Context):
    """Registered operations and types alone; attributes of other dialects are kept as text, for operations may have any
    (MLIR language reference, discardable attributes)."""

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        found = super().get_optional_attr(name)
        own = {dialect.name for dialect in self.loaded_dialects}
        # An attribute that a dialect of ours lacks would have a meaning that is not known here.
        if found is None and name.partition(".")[0] not in own:
            found = self._loaded_attrs[name] = UnregisteredAttr.with_name_and_type(name, False)
        return found


def make_context() -> Context:
    """The context in which a file is read; nothing else is registered."""
    context = _Context()
    for dialect in (
        *(builtin.Builtin, func.Func, math.Math, INDEX),
        _override(tensor.Tensor, (*forall_ops.TENSOR, *reshape_ops.TENSOR, *packing_ops.TENSOR)),
        _override(arith.Arith, ARITH),
        _override(affine.Affine, affine_ops.OPERATIONS),
        _override(bufferization.Bufferization, scf_ops.BUFFERIZATION),
        _override(scf.Scf, (*scf_ops.SCF, *forall_ops.SCF)),
        _override(memref.MemRef, (*scf_ops.MEMREF, *reshape_ops.MEMREF)),
        _override(linalg.Linalg, (*linalg_ops.OPERATIONS, *packing_ops.LINALG)),
    ):
        context.load_dialect(dialect)
    return context
