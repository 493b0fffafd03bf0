# SPDX-License-Identifier: Apache-2.0
"""References of a kernel of whole arrays: its ordered meaning, and NumPy, which runs the function itself and may differ
from it by rounding (Higham 2002, section 3.3), within bounds that `ir.arrays.error_bound` derives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Protocol

import numpy as np

from polyloom.diagnostics import input_error
from polyloom.frontend.python.arrays.native import call_function
from polyloom.frontend.python.arrays.signature import ArrayFunction
from polyloom.frontend.python.arrays.values import as_items
from polyloom.frontend.source import Arrays
from polyloom.ir.arrays.error_bound import error_bounds
from polyloom.ir.arrays.interpret import extents, interpret
from polyloom.ir.nest import Storage
from polyloom.ir.numbers import NUMPY
from polyloom.recursion import with_deep_stack


class ArrayKernel(Protocol):
    """A kernel of whole arrays."""

    @property
    def function(self) -> FunctionType: ...

    @property
    def arrays(self) -> ArrayFunction: ...


@dataclass(frozen=True, slots=True)
class ArrayReference:
    """Reference of a kernel of whole arrays; called, it gives the ordered meaning."""

    kernel: ArrayKernel

    def __call__(self, parameters: Mapping[str, int], arrays: Arrays) -> Arrays:
        program = self.kernel.arrays.program
        try:
            return with_deep_stack(interpret)(program, parameters, arrays)
        except IndexError as error:
            message = f"an access outside of its array: {error}"
            help = "an index of an axis of n elements is from -n to n - 1"
            raise input_error("PL0221", message, span=program.span, help=help) from None
        except ZeroDivisionError:
            help = "guard the divisor: `np.where(b != 0, b, 1)`"
            raise input_error("PL0233", "an integer division by zero", span=program.span, help=help) from None

    def run_numpy(self, parameters: Mapping[str, int], arrays: Arrays) -> Arrays:
        """Results of the function, which NumPy executes on copies, in the element types and shapes of the program."""
        read, sizes = self.kernel.arrays, self._sizes(parameters, arrays)
        passed = [s for s in read.program.storage if s.name in read.order]
        taken: dict[str, Any] = {s.name: _copy_argument(s, sizes, arrays) for s in passed}
        returned = call_function(self.kernel.function, read.program, (), {**taken, **read.fixed, **sizes})
        found: dict[str, Any] = {**taken, **dict(zip(read.results, as_items(returned), strict=False))}
        return {name: self._convert_result(name, sizes, found[name]) for name in read.program.written_arguments}

    def bounds(self, parameters: Mapping[str, int], arrays: Arrays, *, contracts: bool = False) -> Arrays:
        """Bounds of the distance of each element by NumPy from the ordered one, or that of a machine that contracts
        products and sums; NaN, where it may be any."""
        sizes = self._sizes(parameters, arrays)
        found = with_deep_stack(error_bounds)(self.kernel.arrays.program, sizes, arrays, contracts=contracts)
        return {name: np.where(np.isfinite(bound), bound, np.nan) for name, bound in found.items()}

    def _sizes(self, parameters: Mapping[str, int], arrays: Arrays) -> dict[str, int]:
        """Values of all parameters; on a processor some are arguments among the arrays."""
        names = self.kernel.arrays.program.parameters
        return {name: int(parameters[name] if name in parameters else arrays[name]) for name in names}

    def _convert_result(self, name: str, parameters: Mapping[str, int], value: Any) -> Any:
        storage = self.kernel.arrays.program[name]
        # Of what is 64 bits in NumPy alone, a kernel keeps the low ones only where no other is asked for (PL0139).
        return np.asarray(value).astype(NUMPY[storage.dtype]).reshape(extents(storage.shape, parameters))


def _copy_argument(storage: Storage, parameters: Mapping[str, int], arrays: Arrays) -> Any:
    """Copy of an argument, with zeros where nothing is given; NumPy takes numbers in the place of arrays of rank 0."""
    size = extents(storage.shape, parameters)
    given = np.array(arrays[storage.name]) if storage.name in arrays else np.zeros(size, NUMPY[storage.dtype])
    return given if size else given[()]
