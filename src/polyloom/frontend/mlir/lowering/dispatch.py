# SPDX-License-Identifier: Apache-2.0
"""Dispatch: which part lowers an operation; calls, which are expanded, and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from polyloom.frontend.mlir.dialects.linalg_ops import NAMED
from polyloom.frontend.mlir.lowering.builder import Frame
from polyloom.frontend.mlir.lowering.forall import Forall
from polyloom.frontend.mlir.lowering.values import Number, Value, View
from polyloom.frontend.mlir.reader import Module
from polyloom.ir.nest_mlir import CALLED
from polyloom.ir.operations import ALL_TYPES, BY_NAME, ElementType


class Lowering(Forall):
    """Lowering of a function and of all that it calls."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.counters_of = {}

    def lower(self, operation: Operation) -> None:
        handler = HANDLERS.get(operation.name)
        if handler is None and operation.name.partition(".")[0] in ("arith", "math"):
            handler = Lowering.scalar_operation
        elif handler is None and operation.name.startswith("index."):
            handler = Lowering.index_operation
        if handler is None:
            message = f"the operation `{operation.name}` has no meaning here"
            help = "docs/mlir.md lists the operations; write it with these"
            raise self.refuse("PL0172", message, operation, help)
        handler(self, operation)

    def ignore(self, operation: Operation) -> None:
        """What changes no element: deallocations, terminators, assumptions on memory."""

    def call(self, operation: Any) -> None:
        """func.call: the body of the function in the place of the call (inline expansion; Muchnick 1997, 15.2)."""
        name = operation.properties["callee"].string_value()
        called = self.module.functions.get(name)
        if called is None:
            own = called_operation(name)
            if own is not None:
                values = [self.number(o) for o in operation.operands]
                if len(values) != BY_NAME[own[0]].arity or len(operation.results) != 1:
                    help = f"declare it with the operands and the result of `{own[0]}`"
                    raise self.refuse("PL0176", f"@{name} has other operands than its operation", operation, help)
                self.define(operation.results[0], self.apply_typed(*own, values, operation), operation)
                return
            if name in self.module.refused:
                raise self.module.refused[name]
            help = "define it in the same file"
            raise self.refuse("PL0176", f"the function @{name} has no body", operation, help)
        if name in self.active:
            help = "write the recursion as a loop"
            raise self.refuse("PL0176", f"the function @{name} calls itself", operation, help)
        self.flush(self.written_roots(operation), operation)
        for operand in operation.operands:
            found = self.frame.values[operand]
            # In the function they have other names: what they read may change there.
            if isinstance(found, Number) and found.reads:
                self.materialize(operand, self.span(operation))
        values = [self.frame.values[o] for o in operation.operands]
        # The body does not see who else uses a tensor: it may replace its elements only where this call is the last.
        kept = {v.identity for v in values if isinstance(v, View) and not self.is_last_use(v, operation)} & self.owned
        self.owned -= kept
        results = self.expand(called, values)
        self.owned |= kept
        for result, value in zip(operation.results, results, strict=True):
            self.frame.values[result] = value

    def expand(self, function: FuncOp, values: list[Value]) -> tuple[Value, ...]:
        """The results of a function's body on values."""
        if len(function.body.blocks) != 1:
            help = "lower it to structured loops and branches: scf or affine"
            raise self.refuse("PL0176", "the function has several blocks", function, help)
        block = function.body.block
        # A frame of its own for each call: the same operations mean other values in each expansion.
        outer, self.frame = self.frame, Frame(dict(zip(block.args, values, strict=True)))
        self.active.append(function.sym_name.data)
        self.run_block(block)
        found = self.frame.results
        self.active.pop()
        self.frame = outer
        return found

    def return_values(self, operation: Operation) -> None:
        self.frame.results = tuple(self.frame.values[o] for o in operation.operands)


def called_operation(name: str) -> tuple[str, ElementType] | None:
    """The operation and the type that a function `polyloom_OPERATION_TYPE` without a body means (`ir.nest_mlir`)."""
    known, _, dtype = name.removeprefix(CALLED).rpartition("_")
    return (known, dtype) if name.startswith(CALLED) and known in BY_NAME and dtype in ALL_TYPES else None


Handler = Callable[[Any, Any], None]
HANDLERS: Final[dict[str, Handler]] = {
    **{f"affine.{name}": Lowering.apply_map for name in ("apply", "min", "max")},
    **{f"{name}.load": Lowering.load for name in ("affine", "memref")},
    **{f"{name}.store": Lowering.store for name in ("affine", "memref")},
    "tensor.extract": Lowering.load,
    **{f"{name}.dim": Lowering.dimension for name in ("memref", "tensor")},
    **{f"memref.{name}": Lowering.allocate for name in ("alloc", "alloca")},
    **dict.fromkeys(("memref.dealloc", "memref.assume_alignment", "bufferization.dealloc_tensor"), Lowering.ignore),
    **dict.fromkeys(("affine.yield", "scf.yield", "scf.reduce", "scf.reduce.return"), Lowering.ignore),
    **dict.fromkeys(("linalg.yield", "tensor.yield", "memref.alloca_scope.return"), Lowering.ignore),
    **dict.fromkeys(("memref.cast", "tensor.cast", "memref.memory_space_cast"), Lowering.forward),
    "memref.rank": Lowering.rank,
    "memref.subview": Lowering.subview,
    **{f"{name}.collapse_shape": Lowering.collapse for name in ("memref", "tensor")},
    **{f"{name}.expand_shape": Lowering.expand_axes for name in ("memref", "tensor")},
    "memref.get_global": Lowering.get_global,
    "memref.copy": Lowering.copy,
    **dict.fromkeys(("tensor.empty", "linalg.init_tensor"), Lowering.empty_tensor),
    "tensor.insert": Lowering.insert,
    "tensor.splat": Lowering.splat,
    "tensor.from_elements": Lowering.from_elements,
    "tensor.extract_slice": Lowering.extract_slice,
    "tensor.insert_slice": Lowering.insert_slice,
    "tensor.concat": Lowering.concatenate,
    "tensor.pad": Lowering.pad,
    **{f"{name}.pack": Lowering.pack for name in ("linalg", "tensor")},
    **{f"{name}.unpack": Lowering.unpack for name in ("linalg", "tensor")},
    "linalg.softmax": Lowering.softmax,
    "bufferization.alloc_tensor": Lowering.alloc_tensor,
    "bufferization.to_tensor": Lowering.to_tensor,
    **{f"bufferization.{name}": Lowering.to_buffer for name in ("to_buffer", "to_memref")},
    "bufferization.clone": Lowering.clone,
    "bufferization.materialize_in_destination": Lowering.materialize_in_destination,
    **{f"linalg.{name}": Lowering.lower_structure for name in (*NAMED, "generic", "map", "reduce", "transpose")},
    "linalg.broadcast": Lowering.lower_structure,
    "linalg.index": Lowering.loop_index,
    "affine.for": Lowering.lower_affine_loop,
    "scf.for": Lowering.lower_scf_loop,
    **dict.fromkeys(("affine.if", "scf.if"), Lowering.branch),
    "affine.parallel": Lowering.affine_parallel,
    "scf.parallel": Lowering.lower_parallel,
    "scf.index_switch": Lowering.switch,
    "scf.forall": Lowering.lower_forall,
    "scf.forall.in_parallel": Lowering.in_parallel,
    "tensor.parallel_insert_slice": Lowering.parallel_insert_slice,
    **dict.fromkeys(("scf.execute_region", "memref.alloca_scope"), Lowering.region),
    "func.call": Lowering.call,
    "func.return": Lowering.return_values,
}
"""By operation, the method that lowers it; arith, math and index have tables of their own."""
