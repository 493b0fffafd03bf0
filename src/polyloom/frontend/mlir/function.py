# SPDX-License-Identifier: Apache-2.0
"""A function of an MLIR module: its operations, the whole-array program that structured operations are, and its nest.

Operations of linalg are read as loops, which have all forms of maps, views and bodies, and raised to whole arrays; then
they have what programs of whole arrays have, such as fused tails. What cannot be raised stays loops.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from polyloom.frontend.mlir.evaluate import Evaluation
from polyloom.frontend.mlir.function_nest import build_nest
from polyloom.frontend.mlir.reader import Module
from polyloom.frontend.source import Arrays, Reference
from polyloom.ir.nest import Nest
from polyloom.recursion import nesting_error, with_deep_stack
from polyloom.transform.arrays import lower_arrays
from polyloom.transform.arrays.raising import raise_arrays
from polyloom.transform.library import expand_calls

if TYPE_CHECKING:
    from polyloom.ir.arrays.program import Program


@dataclass(frozen=True, eq=False)
class MlirFunction:
    """`function` of a `module`. Properties raise PL0172 to PL0176 for what is not read."""

    path: str
    module: Module = field(repr=False)
    function: FuncOp = field(repr=False)

    @property
    def name(self) -> str:
        return self.function.sym_name.data

    @property
    def data(self) -> Arrays:
        """Constants of a module are tables of its functions, and no arguments."""
        return {}

    @cached_property
    def program(self) -> Program | None:
        """The whole-array program of structured operations; None for other loops, and where indices are data."""
        if not any(operation.name.startswith("linalg.") for operation in self._operations()):
            return None
        return with_deep_stack(raise_arrays)(self._loops(indirect=True))

    @cached_property
    def nest(self) -> Nest:
        return self._lower_nest(indirect=False)

    @cached_property
    def indirect(self) -> Nest:
        return self._lower_nest(indirect=True)

    @property
    def reference(self) -> Reference:
        """What the operations themselves compute."""
        known: Any = self.__dict__.get("nest") or self.indirect
        return Evaluation(self.module, self.function, known)

    def _lower_nest(self, *, indirect: bool) -> Nest:
        try:
            program = self.program
            if program is not None:
                return with_deep_stack(lambda: expand_calls(lower_arrays(program)))()
            return with_deep_stack(expand_calls)(self._loops(indirect=indirect))
        except RecursionError:
            raise nesting_error(self.path, self.module.span(self.function)) from None

    def _loops(self, *, indirect: bool) -> Nest:
        return with_deep_stack(build_nest)(self.module, self.function, indirect=indirect)

    def _operations(self) -> list[Operation]:
        """All operations of the function and of those that it calls, whose bodies stand in the place of calls."""
        waiting, found, seen = [self.function], list[Operation](), set[str]()
        while waiting:
            for operation in waiting.pop().walk():
                found.append(operation)
                callee: Any = operation.properties.get("callee") if operation.name == "func.call" else None
                name = "" if callee is None else callee.string_value()
                if name in self.module.functions and name not in seen:
                    seen.add(name)
                    waiting.append(self.module.functions[name])
        return found
