# SPDX-License-Identifier: Apache-2.0
"""Kernels, `@pl.kernel`: an ordinary function that stays callable on NumPy arrays, and that compiles to a loop nest.

Nothing is compiled before it is needed. Calls bind sizes to the shapes of arrays (or to keywords), give scalars the
declared types, and execute the function itself (`execute.py`); `reference` does the same on copies, as the oracle of a
run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cached_property, update_wrapper
from types import FunctionType, TracebackType
from typing import Any, cast

import numpy as np

from polyloom.diagnostics import PolyloomError, Span, input_error
from polyloom.frontend.prints import Observed, Print, check_accesses
from polyloom.frontend.python.arrays.agreement import Agreement, agreement
from polyloom.frontend.python.arrays.detect import is_array_function
from polyloom.frontend.python.arrays.native import bind_arguments, call_function
from polyloom.frontend.python.arrays.reference import ArrayReference
from polyloom.frontend.python.arrays.signature import ArrayFunction, read_arrays
from polyloom.frontend.python.bind_arguments import bind_arguments as bind
from polyloom.frontend.python.execute import Executable
from polyloom.frontend.python.infer import Types
from polyloom.frontend.python.infer_statements import infer_types
from polyloom.frontend.python.lower_kernel import lower_kernel
from polyloom.frontend.python.prints import assign_prints, is_builtin_print, read_prints, remove_prints
from polyloom.frontend.python.resolve_names import Function, resolve_names
from polyloom.frontend.python.syntax_tree import Text, find_definition
from polyloom.frontend.source import Arrays, Reference
from polyloom.ir.arrays.program import Program, find_gather
from polyloom.ir.nest import Nest, assignments
from polyloom.ir.numbers import NUMPY
from polyloom.recursion import nesting_error, with_deep_stack
from polyloom.transform.arrays import lower_arrays
from polyloom.transform.library import expand_calls


class Kernel:
    """A function over arrays of declared types and sizes. `name` is its name, `source` its text, `nest` its meaning as
    a loop nest.

    Compiling raises PL0131 to PL0148, at the line that is at fault.
    """

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.name = function.__name__
        self.called: dict[str, object] | None = None
        # With the function's name, docstring and module, by which help and pickling find it.
        update_wrapper(cast(Callable[..., None], self), function)

    def __call__(self, /, *arguments: object, **named: object) -> Any:
        """Execute on NumPy arrays, in place; sizes that no shape gives go by keyword. Raises PL0145."""
        if self.is_array_function:
            if self.called is None:
                self.called = bind_arguments(self.function, arguments, self._argument_arrays(named))
            return call_function(self.function, self.arrays.program, arguments, named)
        assumptions = self._nest.assumptions
        parameters, values = bind(self._resolved_function, assumptions, arguments, named)
        self._execute(parameters, values)
        return None

    @property
    def path(self) -> str:
        """The file that defines the function."""
        return self.function.__code__.co_filename

    @cached_property
    def source(self) -> str:
        """The text of the function."""
        text, node = find_definition(self.function)
        return ast.get_source_segment(text.source.text, node) or ""

    @cached_property
    def is_array_function(self) -> bool:
        """Whether it is read as a program of whole arrays."""
        # A print of an array is a mistake, and makes no program of whole arrays.
        return is_array_function(self.function, self._replaced_prints(remove_prints)[1])

    @property
    def program(self) -> Program | None:
        """The whole-array program that it is; None for loops."""
        return self.arrays.program if self.is_array_function else None

    @property
    def data(self) -> Arrays:
        """A function brings no elements of its arguments."""
        return {}

    @property
    def arrays(self) -> ArrayFunction:
        """The whole-array program that it is; where annotations are missing, with the types of its first call."""
        return self._array_function

    @cached_property
    def _array_function(self) -> ArrayFunction:
        return with_deep_stack(read_arrays)(self.function, self.called)

    def _argument_arrays(self, named: Mapping[str, object]) -> dict[str, object]:
        code = self.function.__code__
        known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return {name: value for name, value in named.items() if name in known}

    @cached_property
    def nest(self) -> Nest:
        try:
            if self.is_array_function:
                return self._affine_array_nest
            # On a stack of its own size: expressions may be nested deeper than Python's limit.
            return with_deep_stack(lambda: expand_calls(lower_kernel(self._resolved_function, self._types)))()
        except RecursionError:
            raise nesting_error(self.path, self._line) from None

    @cached_property
    def indirect(self) -> Nest:
        """`nest`, in which indices, bounds of loops and branches may be data (`ir.nest.data`)."""
        try:
            if self.is_array_function:
                return with_deep_stack(lambda: expand_calls(lower_arrays(self.arrays.program)))()
            return with_deep_stack(
                lambda: expand_calls(lower_kernel(self._resolved_function, self._types, indirect=True))
            )()
        except RecursionError:
            raise nesting_error(self.path, self._line) from None

    @property
    def _affine_array_nest(self) -> Nest:
        """Nest of whole arrays without gathers. Errors: PL0137 at the first one."""
        gather = find_gather(self.arrays.program)
        if gather is None:
            return self.indirect
        help = "run it on RISC-V or the belt machine, `--on riscv`, or access a fixed range and select: `np.where`"
        raise input_error("PL0137", "the elements that a gather reads depend on data", span=gather.span, help=help)

    @property
    def _line(self) -> Span:
        text, node = find_definition(self.function)
        return text.line(node.lineno)

    @property
    def _nest(self) -> Nest:
        """The nest that is there, or else the more general one."""
        return self.__dict__.get("nest") or self.indirect

    @property
    def reference(self) -> Reference:
        """Reference: each array that the function assigns, from copies of the arrays (zeros where none is given)."""
        return ArrayReference(self) if self.is_array_function else self._execute_loops

    def _execute_loops(self, parameters: Mapping[str, int], arrays: Arrays) -> Arrays:
        values = {name: self._copy_argument(name, parameters, arrays) for name in self._resolved_function.storage}
        self._execute(
            parameters,
            values | {name: parameters[name] for name in self._resolved_function.order if name in parameters},
        )
        written = {assign.target.name for assign in assignments(self._nest.body)}
        return {
            storage.name: values[storage.name]
            for storage in self._nest.storage
            if storage.writable and storage.role == "argument" and storage.name in written
        }

    def compare_with_numpy(self, parameters: Mapping[str, int], arrays: Arrays) -> dict[str, Agreement]:
        """For each result of a kernel of whole arrays, how far NumPy, which runs the function itself, is from the
        ordered meaning, and the bound of that which follows from rounding. Raises PL0812 where it is further."""
        reference = ArrayReference(self)
        found, bounds = reference.run_numpy(parameters, arrays), reference.bounds(parameters, arrays)
        ordered = reference(parameters, arrays)
        return {name: agreement(name, want, found[name], bounds[name]) for name, want in ordered.items()}

    def _copy_argument(self, name: str, parameters: Mapping[str, int], arrays: Arrays) -> Any:
        storage = self._resolved_function.storage[name]
        shape = tuple(extent.evaluate(parameters) for extent in storage.shape)
        value = np.array(arrays[name] if name in arrays else np.zeros(shape), dtype=NUMPY[storage.dtype])
        return value if shape or storage.shape else value[()]

    @cached_property
    def prints(self) -> tuple[Print, ...]:
        """Observation points, which are no part of what is compiled. Errors: PL1510."""
        text, node = find_definition(self.function)
        is_silent = self.is_array_function or not is_builtin_print(self.function, node)
        return () if is_silent else read_prints(text, node)

    def _replaced_prints(self, replace: Callable[[ast.FunctionDef], ast.FunctionDef]) -> tuple[Text, ast.FunctionDef]:
        """Definition in which prints are replaced; another `print` than Python's own is a call like any other."""
        text, node = find_definition(self.function)
        return text, replace(node) if is_builtin_print(self.function, node) else node

    @cached_property
    def observed(self) -> Observed | None:
        """Function with its observation points; None where it has none. Errors: PL1510, those of expressions."""
        if not self.prints:
            return None
        try:
            return self._observe()
        except PolyloomError as error:
            # Each value is assigned twice, and would be wrong twice.
            raise PolyloomError(*dict.fromkeys(error.diagnostics)) from None

    def _observe(self) -> Observed:
        function = self._resolve(*self._replaced_prints(assign_prints))
        types = with_deep_stack(infer_types)(function)
        lower = with_deep_stack(lower_kernel)
        try:
            nest, without = expand_calls(lower(function, types)), self.nest
        except PolyloomError:
            # Indices that are data: what is wrong otherwise is met again.
            nest, without = expand_calls(lower(function, types, indirect=True)), self.indirect
        return Observed(check_accesses(nest), without, self.prints)

    @cached_property
    def _resolved_function(self) -> Function:
        # What cannot be printed is refused with the rest, though no code comes of it.
        _ = self.prints
        return self._resolve(*self._replaced_prints(remove_prints))

    def _resolve(self, text: Text, node: ast.FunctionDef) -> Function:
        cells = zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True)
        return with_deep_stack(resolve_names)(
            text, node, {**self.function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
        )

    @cached_property
    def _types(self) -> Types:
        return with_deep_stack(infer_types)(self._resolved_function)

    @cached_property
    def _executable(self) -> Executable:
        return with_deep_stack(Executable)(self._resolved_function, self._types)

    def _execute(self, parameters: Mapping[str, int], values: Mapping[str, Any]) -> None:
        # Overflow, NaN and division of floats by zero are values, as on every target (IEEE 754, section 7).
        with np.errstate(all="ignore"):
            try:
                self._executable.bind(parameters)(**values)
            except (ZeroDivisionError, IndexError, UnboundLocalError) as error:
                raise self._fault(error) from None

    def _fault(self, error: Exception) -> PolyloomError:
        # The user's own line: the traceback itself ends in NumPy or in the runtime.
        span = self._fault_span(error.__traceback__)
        match error:
            case ZeroDivisionError():
                return input_error(
                    "PL0233",
                    "an integer division by zero",
                    span=span,
                    help="guard the divisor: `a // b if b != 0 else 0`",
                )
            case IndexError():
                return input_error(
                    "PL0221",
                    f"an access outside of its array: {error}",
                    span=span,
                    help="restrict the loop, or declare a larger array",
                )
            case _:
                return input_error(
                    "PL0148", f"a variable without a value: {error}", span=span, help="assign it before it is read"
                )

    def _fault_span(self, trace: TracebackType | None) -> Span | None:
        line = None
        while trace is not None:
            line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == self.path else line
            trace = trace.tb_next
        return None if line is None else self._resolved_function.text.line(line)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


def kernel(function: Callable[..., Any]) -> Kernel:
    """The kernel that a function is; its arguments are annotated with element types and sizes."""
    if not isinstance(function, FunctionType):
        raise input_error(
            "PL0132", f"{function!r} is not a function that `def` defines", help="write `@pl.kernel` above a `def`"
        )
    return Kernel(function)
