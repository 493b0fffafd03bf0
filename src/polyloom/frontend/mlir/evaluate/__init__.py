# SPDX-License-Identifier: Apache-2.0
"""What the operations of an MLIR function compute, as Python over NumPy: the oracle of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from polyloom.diagnostics import input_error
from polyloom.frontend.mlir.element_types import is_array_type
from polyloom.frontend.source import Arrays
from polyloom.ir.nest import Nest, assignments
from polyloom.ir.numbers import NUMPY

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.dialects.func import FuncOp

    from polyloom.frontend.mlir.reader import Module


class Evaluation:
    """The function itself: arrays that it writes and results, of copies of the arguments."""

    def __init__(self, module: Module, function: FuncOp, nest: Nest) -> None:
        self.module, self.function, self.nest = module, function, nest
        self.compiled: Callable[..., tuple[Any, ...]] | None = None

    def __call__(self, parameters: Mapping[str, int], arrays: Arrays) -> Arrays:
        if self.compiled is None:
            self.compiled = self.compile()
        names = self.argument_names
        given = dict[str, Any]()
        for s in self.nest.storage:
            if s.role == "argument":
                shape = tuple(max(0, e.evaluate(parameters)) for e in s.shape)
                value = arrays.get(s.name)
                found = np.zeros(shape, NUMPY[s.dtype]) if value is None else np.array(value, NUMPY[s.dtype])
                given[s.name] = found.reshape(shape)
        passed = [self.argument_value(name, parameters, given) for name in names]
        span = self.module.span(self.function)
        try:
            with np.errstate(all="ignore"):
                results = self.compiled(*passed)
        except IndexError as error:
            message = f"an access outside of its array: {error}"
            raise input_error(
                "PL0221", message, span=span, help="restrict the loop, or declare a larger array"
            ) from None
        except ZeroDivisionError:
            help = "guard the divisor: `arith.select` another one where it is 0"
            raise input_error("PL0233", "an integer division by zero", span=span, help=help) from None
        # Results are the arguments behind those of the text.
        behind = [s for s in self.nest.storage if s.role == "argument" and s.name not in names]
        returned = [r for r in results if not any(r is p for p in passed)] if len(behind) < len(results) else results
        for s, value in zip(sorted(behind, key=lambda s: s.name), returned, strict=False):
            given[s.name] = np.asarray(value).astype(NUMPY[s.dtype]).reshape(given[s.name].shape)
        written = {assign.target.name for assign in assignments(self.nest.body)}
        return {name: array for name, array in given.items() if name in written and self.nest[name].writable}

    @property
    def argument_names(self) -> list[str]:
        from polyloom.frontend.mlir.lowering.dispatch import Lowering

        lowering = Lowering(self.module)
        return [lowering.fresh_value_name(a, f"arg{a.index}") for a in self.function.body.block.args]

    def argument_value(self, name: str, parameters: Mapping[str, int], given: Mapping[str, Any]) -> Any:
        if name in given:
            found: Any = given[name]
            kind: Any = self.function.body.block.args[self.argument_names.index(name)].type
            rank = len(kind.get_shape()) if is_array_type(kind) else 0
            # What has rank 0 is passed as an array of one element, or by value.
            return found.reshape(()) if is_array_type(kind) and rank == 0 else found if rank else found[()]
        value = int(parameters.get(name, 0))
        kind = self.kinds[name]
        return value if kind is int else np.asarray(value).astype(kind)[()]

    @property
    def kinds(self) -> dict[str, Any]:
        from polyloom.frontend.mlir.evaluate.source import numpy_type

        return {n: numpy_type(a.type) for n, a in zip(self.argument_names, self.function.body.block.args, strict=True)}

    def compile(self) -> Callable[..., tuple[Any, ...]]:
        """The function in Python."""
        from polyloom.frontend.mlir.evaluate.operations import Operations

        builder = Operations(self.module)
        block = self.function.body.block
        names = [builder.name(a) for a in block.args]
        for operation in block.ops:
            builder.operation(operation)
        text = "\n".join([f"def function({', '.join(names)}):", *builder.lines])
        exec(compile(text, "<mlir>", "exec"), builder.objects)
        return builder.objects["function"]
