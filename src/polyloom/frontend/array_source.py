# SPDX-License-Identifier: Apache-2.0
"""Programs of whole arrays that a file is: what a front end of array languages gives to targets, and to Python.

Like a kernel, it is compiled for targets and called on arrays. `data` are elements of arguments that the file brings:
weights of a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.source import Arrays, Reference
from polyloom.ir.arrays.interpret import extents, interpret
from polyloom.ir.arrays.program import Program, find_gather
from polyloom.ir.nest import Nest
from polyloom.recursion import nesting_error, with_deep_stack
from polyloom.transform.arrays import lower_arrays
from polyloom.transform.library import expand_calls


@dataclass(frozen=True)
class ArraySource:
    """A program, the path of its file, and elements of arguments that need not be given."""

    path: str
    program: Program
    data: Arrays = field(default_factory=dict[str, Any], repr=False)

    @property
    def name(self) -> str:
        return self.program.name

    @cached_property
    def indirect(self) -> Nest:
        """The nest, in which indices may be data."""
        try:
            return with_deep_stack(lambda: expand_calls(lower_arrays(self.program)))()
        except RecursionError:
            raise nesting_error(self.path, self.program.span) from None

    @property
    def nest(self) -> Nest:
        """The nest of a program without gathers. Errors: PL0137 at the first one."""
        gather = find_gather(self.program)
        if gather is None:
            return self.indirect
        help = "run it on RISC-V or the belt machine, `--on riscv`, or make the indices constants"
        span = gather.span or self.program.span
        raise input_error("PL0137", "the elements that a gather reads depend on data", span=span, help=help)

    @property
    def reference(self) -> Reference:
        return self.interpret

    def interpret(self, parameters: Mapping[str, int], arrays: Arrays) -> Arrays:
        """Every output by the ordered meaning of the program. Errors: PL0221, PL0233."""
        sizes = {n: int(parameters[n] if n in parameters else arrays[n]) for n in self.program.parameters}
        try:
            return with_deep_stack(interpret)(self.program, sizes, {**self.data, **arrays})
        except IndexError as error:
            message, span = f"an access outside of its array: {error}", self.program.span
            raise input_error("PL0221", message, span=span, help="give indices that the array has") from None
        except ZeroDivisionError:
            help, span = "give divisors other than 0", self.program.span
            raise input_error("PL0233", "an integer division by zero", span=span, help=help) from None

    def __call__(self, **arrays: Any) -> Arrays:
        """Outputs by name for inputs by name; sizes follow from shapes. Errors: PL0230 to PL0232."""
        given = {name: np.asarray(array) for name, array in arrays.items()}
        return self.interpret(self._sizes(given), given)

    def _sizes(self, arrays: Arrays) -> dict[str, int]:
        found = dict[str, int]()
        for storage in (s for s in self.program.storage if s.role == "argument"):
            array = arrays.get(storage.name)
            if array is None:
                continue
            if array.ndim != len(storage.shape):
                raise self._shape_error(storage.name, array.shape)
            for extent, number in zip(storage.shape, array.shape, strict=True):
                # An extent that is a size of its own says what the size is.
                if len(extent.terms) == 1 and extent.terms[0][1] == 1:
                    found.setdefault(extent.terms[0][0], number - extent.constant)
        for name in self.program.parameters:
            if name not in found:
                raise input_error("PL0230", f"the parameter `{name}` has no value", help="give the array that has it")
        for storage in self.program.storage:
            array = arrays.get(storage.name) if storage.role == "argument" else None
            if array is not None and array.shape != extents(storage.shape, found):
                raise self._shape_error(storage.name, array.shape)
        missing = [s.name for s in self.program.storage if self._lacks_input(s.name, arrays)]
        if missing:
            raise input_error("PL0231", f"the input `{missing[0]}` is missing", help="give every input by its name")
        return found

    def _lacks_input(self, name: str, arrays: Arrays) -> bool:
        storage = self.program[name]
        is_input = storage.role == "argument" and name not in self.program.written_arguments
        return is_input and name not in arrays and name not in self.data

    def _shape_error(self, name: str, shape: tuple[int, ...]) -> PolyloomError:
        declared = ", ".join(map(str, self.program[name].shape))
        message = f"the input `{name}` has the shape {shape}"
        return input_error("PL0232", message, help=f"it is declared as `{name}[{declared}]`")

    def __repr__(self) -> str:
        return f"<model {self.name} of {self.path}>"
