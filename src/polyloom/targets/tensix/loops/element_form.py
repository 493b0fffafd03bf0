# SPDX-License-Identifier: Apache-2.0
"""An element-wise program as a subject, with two oracles.

`arithmetic` evaluates the formula by the meaning of vector operations, bit for bit; `equations` is the program, from
which floats may be as far as the roundings of formula and format allow. Integers must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import input_error
from polyloom.frontend.source import Arrays, Source
from polyloom.ir import signature
from polyloom.ir.plan_interpret import interpret
from polyloom.ir.signature import Signature
from polyloom.targets.provenance import texts
from polyloom.targets.subject import Subject
from polyloom.targets.tensix.loops.elements import ELEMENTS, Elements, vectors
from polyloom.targets.tensix.loops.judgement import help_with, oracles
from polyloom.targets.tensix.loops.spread import spread_all
from polyloom.targets.tensix.loops.steps import Pointwise
from polyloom.targets.tensix.loops.vector import ADDING, Error, errors, evaluate, unbounded

Array = NDArray[Any]
_FORMATS: Final = {("f32", None): "fp32", ("f32", "tf32"): "fp32", ("f32", "bf16"): "bf16", ("f32", "fp16"): "fp16"}
_FIDELITY: Final = 4
"""What is said if nothing is said."""
_HELP: Final = "choose a format that holds these values, or leave them out: --format tf32 goes through FP32"


@dataclass(frozen=True, slots=True)
class Content:
    """What is compiled."""

    pointwise: Pointwise
    format: str

    @property
    def elements(self) -> Elements:
        return ELEMENTS[self.format]


@dataclass(frozen=True, slots=True)
class _Shaped:
    content: Content
    signature: Signature
    source: Source

    def shape(self, values: Mapping[str, int]) -> tuple[int, ...]:
        found = self.signature.argument(self.content.pointwise.result)
        assert found is not None
        return found.extents(values)


def _arithmetic(s: _Shaped, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    p, e, shape = s.content.pointwise, s.content.elements, s.shape(values)
    arrays = [e.encode(array) for array in spread_all(p.arrays, inputs, shape)]
    return {p.result: e.decode(computed(p, e, arrays, inputs, shape))}


def computed(p: Pointwise, e: Elements, datums: Sequence[Array], inputs: Arrays, shape: tuple[int, ...]) -> Array:
    """Datums of the result, of those of the arrays in its shape; scalars are inputs."""
    scalars = [int(np.asarray(inputs[name]).reshape(1).view(np.uint32)[0]) for name in p.scalars]
    size = int(np.prod(shape))
    if not size:
        return e.store(np.zeros(shape, np.uint32))
    values = evaluate(p, [vectors(e.load(array)) for array in datums], scalars)
    found = np.broadcast_to(values, (-(-size // 32), 32)).ravel()[:size]
    return e.store(np.ascontiguousarray(found)).reshape(shape)


def missed(p: Pointwise, e: Elements, arrays: Sequence[Error], inputs: Arrays, adding: float = ADDING) -> Error:
    """The result in numbers, and its error with what the store cuts off."""
    scalars = [float(inputs[name]) for name in p.scalars]  # pyright: ignore[reportArgumentType]: scalars are of rank 0
    value, error = errors(p, arrays, scalars, adding)
    return value, unbounded(error + (np.abs(value) + error) * e.storing + e.least, error)


def given(array: Array, e: Elements) -> Error:
    """An input: its error is that of the format."""
    wide = array.astype(np.float64)
    return wide, np.abs(wide) * e.rounding + e.least


def _equations(s: _Shaped, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    return interpret(s.source.plan, values, inputs)


def _bounds(s: _Shaped, values: Mapping[str, int], inputs: Arrays, expected: Arrays) -> Arrays:
    p, e, shape = s.content.pointwise, s.content.elements, s.shape(values)
    if p.dtype == "i32":
        return {name: np.zeros(array.shape) for name, array in expected.items()}
    with np.errstate(all="ignore"):
        arrays = [given(array, e) for array in spread_all(p.arrays, inputs, shape)]
        return {p.result: np.broadcast_to(missed(p, e, arrays, inputs)[1], shape)}


def subject(source: Source, found: Pointwise, options: Any) -> Subject:
    """Errors: PL1232 for a format that does not fit."""
    of = signature.of_plan(source.plan, source.nest)
    content = Content(found, _format(found, options))
    shaped = _Shaped(content, of, source)
    judges = oracles(
        source,
        partial(_arithmetic, shaped),
        partial(_equations, shaped),
        partial(_bounds, shaped),
        content.elements.packed,
        help_with(found.steps, _HELP),
    )
    known = texts(e.span for phase in source.plan.phases for e in phase.program.equations)
    return Subject("loops", content, source.path, of, judges, source.seconds, source=source, texts=known)


def _format(found: Pointwise, options: Any) -> str:
    if options.fidelity != _FIDELITY:
        message = "the fidelity is that of products, and an element-wise program has none"
        raise input_error("PL1232", message, help="leave --fidelity out")
    if found.dtype == "i32" and options.format is None:
        return "i32"
    name = _FORMATS.get((found.dtype, options.format))
    if name is None:
        help = "leave --format out" + ("" if found.dtype == "i32" else ", or write --format bf16 or fp16")
        message = f"--format {options.format} is not for element-wise programs of {found.dtype}"
        raise input_error("PL1232", message, help=help)
    if options.dest not in (None, 8 * ELEMENTS[name].width):
        message = f"element-wise programs in {name} have a Dst of {8 * ELEMENTS[name].width} bits"
        raise input_error("PL1232", message, help="leave --dest out")
    return name
