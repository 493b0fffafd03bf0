# SPDX-License-Identifier: Apache-2.0
"""Recording of a kernel while its Python function runs, and places in the user's file.

A place is the innermost line of the call stack that is not of this package, with its column as Python's code has it
(PEP 657 of 2021).
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import FrameType

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import NOWHERE, Place, Value
from polyloom.targets.tensix.source.build import Builder, Given
from polyloom.targets.tensix.source.locate import error
from polyloom.targets.tensix.words.isa import Member

_HERE = str(Path(__file__).parent)


@dataclass(slots=True)
class Tracer:
    """Recorder of a kernel. Mutable: the kernel so far; `depth` is the number of open conditions; `names` are the
    user's, by values'.
    """

    builder: Builder
    member: Member
    depth: int = 0
    names: dict[str, str] = field(default_factory=dict[str, str])

    def several(self, name: str, *operands: Given) -> tuple[Value, ...]:
        self.builder.place = user_place()
        return self.builder.several(name, *operands)

    def call(self, name: str, *operands: Given) -> Value:
        (result,) = self.several(name, *operands)
        return result

    def effect(self, name: str, *operands: Given) -> None:
        self.several(name, *operands)


_CURRENT: ContextVar[Tracer | None] = ContextVar("tracer", default=None)


@contextmanager
def activate_tracer(tracer: Tracer) -> Generator[None]:
    """Activation of a tracer; a context variable, so that threads can trace at once."""
    token = _CURRENT.set(tracer)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_tracer() -> Tracer:
    """Active tracer. Raises PL1252 outside of kernels."""
    found = _CURRENT.get()
    if found is None:
        raise user_error(
            "PL1252", "vectors exist only while a kernel is traced", "write it in a function under `@pl.tensix.kernel`"
        )
    return found


def user_place() -> Place:
    """Place where the user's code stands."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]: there is no other way
    # Frames of this package are skipped, so that operators point to the expression that uses them.
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return NOWHERE if frame is None else frame_place(frame)


def frame_place(frame: FrameType) -> Place:
    # An instruction of Python's code takes two bytes, so its number is half of the offset.
    line, _, column, _ = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    return Place(frame.f_code.co_filename, line or frame.f_lineno, 0 if column is None else column + 1)


def user_error(code: str, message: str, help: str) -> PolyloomError:
    """Error at the user's line."""
    return error(code, message, user_place(), help=help)
