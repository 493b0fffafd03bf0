# SPDX-License-Identifier: Apache-2.0
"""Tracing of Python kernels, `@pl.tensix.kernel`: a Python function over Dst is executed once and becomes the SSA form
of a vector kernel.

    kernel.trace(slope=0.1) -> Function

Its first parameter is Dst. Parameters that are annotated `pl.i32` or `pl.f32` are known when it runs; all others are
constants, given when it is traced, or by their defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, update_wrapper
from types import FunctionType, TracebackType
from typing import Any, ParamSpec, TypeVar, cast

from polyloom.diagnostics import Diagnostic, PolyloomError, input_error
from polyloom.frontend.python.types import f32, i32
from polyloom.ir.ssa import Function, Place
from polyloom.ir.ssa_types import I32
from polyloom.targets.tensix.source.build import Builder
from polyloom.targets.tensix.source.language.rewrite import rewrite_function
from polyloom.targets.tensix.source.language.trace import Tracer, activate_tracer
from polyloom.targets.tensix.source.language.values import Dst, Runtime
from polyloom.targets.tensix.source.locate import error
from polyloom.targets.tensix.source.verify import verify
from polyloom.targets.tensix.words.isa import Member

_ELEMENTS = (i32, f32)
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class TracedKernel:
    """Result of tracing: the form, its warnings, and the names of variables by those of values."""

    function: Function
    warnings: tuple[Diagnostic, ...]
    variables: Mapping[str, str]


class VectorKernel:
    """A kernel by its name in its file. Tracing raises PL1250 to PL1254 at the user's line, and what `verify` does."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.name = function.__name__
        update_wrapper(cast(Callable[..., None], self), function)

    def __repr__(self) -> str:
        return f"<vector kernel {self.name}>"

    @property
    def path(self) -> str:
        return self.function.__code__.co_filename

    @property
    def place(self) -> Place:
        return Place(self.path, self.function.__code__.co_firstlineno, 1)

    @cached_property
    def _recording_function(self) -> FunctionType:
        return rewrite_function(self.function)

    @cached_property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """Parameters behind Dst."""
        try:
            signature = inspect.signature(self.function, eval_str=True)
        # A postponed annotation may name what the module does not have at run time.
        except NameError:  # of an annotation as text
            signature = inspect.signature(self.function)
        found = tuple(signature.parameters.values())
        if not found:
            raise error(
                "PL1253", f"`{self.name}` has no parameter", self.place, help="its first one is Dst: `def f(dst):`"
            )
        return found[1:]

    @property
    def runtime(self) -> tuple[str, ...]:
        """Run-time parameters, integers and bits of floats, in their order."""
        return tuple(p.name for p in self.parameters if p.annotation in _ELEMENTS)

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the other parameters, in their order."""
        return tuple(p.name for p in self.parameters if p.name not in self.runtime)

    def trace(self, member: Member = "wormhole", **constants: object) -> Function:
        """Form of the kernel, verified; its parameters are those of `runtime`."""
        return self.traced(member, constants).function

    def traced(self, member: Member, constants: Mapping[str, object]) -> TracedKernel:
        """Trace of the kernel, with warnings and names."""
        given = self._bind_constants(constants)
        builder = Builder(self.name, tuple((name, I32) for name in self.runtime), self.place)
        values = dict(zip(self.runtime, builder.entry, strict=True))
        for p in self.parameters:
            if p.annotation in _ELEMENTS:
                given[p.name] = Runtime(values[p.name], p.annotation is f32)
        # A kernel may be traced many times, with other constants or for another member.
        tracer = Tracer(builder, member)
        with activate_tracer(tracer):
            self._record(given)
        function = builder.finish()
        return TracedKernel(function, verify(function, member), dict(tracer.names))

    def _bind_constants(self, constants: Mapping[str, object]) -> dict[str, Any]:
        """Binding of the constants. Errors: PL1253 for an unknown or a missing one."""
        names = self.constants
        for name in constants:
            if name not in names:
                help = f"its constants are {', '.join(names)}" if names else "it has none"
                raise error("PL1253", f"`{self.name}` has no constant `{name}`", self.place, help=help)
        missing = [
            p.name for p in self.parameters if p.name in names and p.name not in constants and p.default is p.empty
        ]
        if missing:
            message = f"`{self.name}` needs {' and '.join(f'`{name}`' for name in missing)}"
            raise error("PL1253", message, self.place, help=f"give it: `{missing[0]}=1`")
        return dict(constants)

    def _record(self, given: dict[str, Any]) -> None:
        """Recording run of the function; whatever it raises becomes PL1254 at the user's last line."""
        try:
            result = self._recording_function(Dst(), **given)
        except PolyloomError:
            raise
        except Exception as fault:
            place = _user_place(fault.__traceback__, self.path) or self.place
            message = f"the kernel cannot be traced: {type(fault).__name__}: {fault}"
            raise error(
                "PL1254", message, place, help="Python executes a kernel once, with vectors for values"
            ) from None
        if result is not None:
            raise error("PL1254", f"`{self.name}` returns a value", self.place, help="store it: `dst[0] = x`")


def _user_place(trace: TracebackType | None, path: str) -> Place | None:
    """Last place of the file in a traceback."""
    found = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = Place(path, trace.tb_lineno, 0)
        trace = trace.tb_next
    return found


def kernel(function: Callable[..., None]) -> VectorKernel:
    """Decorator of a vector kernel."""
    return VectorKernel(_require_def(function))


def function(given: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a function that kernels call, which may use conditions and assign within them."""
    plain = _require_def(given)
    made: list[FunctionType] = []

    def call(*arguments: P.args, **named: P.kwargs) -> R:
        # Names that are defined below the function are not known when the decorator runs.
        if not made:  # at the first call: what follows it in its file is known then
            made.append(rewrite_function(plain))
        return cast(R, made[0](*arguments, **named))

    return update_wrapper(call, given)


def _require_def(given: object) -> FunctionType:
    if not isinstance(given, FunctionType):
        raise input_error(
            "PL1252", f"{given!r} is not a function that `def` defines", help="write the decorator above a `def`"
        )
    return given
