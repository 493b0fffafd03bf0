# SPDX-License-Identifier: Apache-2.0
"""Reference of a comparison: what all its rows share, the inputs, the source's own outputs, its work and its compulsory
bytes (docs/compare.md).

They come from the source alone, before any machine is asked. A C function that is no loop nest has neither work nor
compulsory bytes; then `reference` is None, and each row is compared with its own oracles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from polyloom import frontend, transform
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Arrays, Options, Reference
from polyloom.frontend.source import Source as Loaded
from polyloom.ir import signature, traffic, work
from polyloom.ir.nest import Nest
from polyloom.ir.nest_interpret import nest_signature
from polyloom.ir.pla import Program
from polyloom.ir.plan import Plan
from polyloom.ir.signature import Signature
from polyloom.ir.work import Work
from polyloom.recursion import with_deep_stack
from polyloom.run import inputs as made
from polyloom.run.inputs import Fill


@dataclass(frozen=True, slots=True)
class Task:
    """A source for values of its parameters: what every row computes, and of what."""

    name: str
    path: str
    signature: Signature
    values: Mapping[str, int]
    inputs: Arrays
    outputs: Arrays | None = None
    work: Work | None = None
    compulsory: int | None = None
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Origin:
    """A source that has been read, and is not yet for any values."""

    path: str
    signature: Signature
    reference: Reference
    work: Callable[[Mapping[str, int]], Work]
    compulsory: Callable[[Mapping[str, int]], int | None]
    hidden: Callable[[Mapping[str, int]], frozenset[str]] | None = None
    text: str = field(default="", repr=False)
    data: Arrays = field(default_factory=dict[str, Any], repr=False)


def read(source: Any, options: Options) -> Origin:
    """Errors: those of reading, such as PL0104, PL013x, PL015x for what is no loop nest, and PL0810."""
    if (function := frontend.read_function(source, options)) is not None:
        is_file = isinstance(source, str | PathLike)
        nest, path = (
            (frontend.checked_nest(function), str(cast(object, source))) if is_file else (function.nest, function.path)
        )
        return replace(_nest_origin(nest, function.reference, path), data=function.data)
    if isinstance(source, Loaded):
        return _source_origin(source)
    if isinstance(source, Plan | Program):
        return _source_origin(frontend.plan_source(source))
    path = str(source)
    if frontend.source_file(path).endswith(".c"):
        return _nest_origin(*frontend.c_function(path, options), path)
    return _source_origin(frontend.load(path, options))


def _source_origin(source: Loaded) -> Origin:
    if source.nest is not None:
        return replace(_nest_origin(source.nest, source.reference, source.path), data=source.data)
    spans = (e.span for phase in source.plan.phases for e in phase.program.equations)
    text = next((span.source.text for span in spans if span is not None), "")
    taken = signature.plan_signature(source.plan)
    of_work, compulsory = partial(work.plan_work, source.plan), partial(traffic.plan_traffic, source.plan)
    return Origin(source.path, taken, source.reference, of_work, compulsory, text=text)


def _nest_origin(nest: Nest, reference: Reference, path: str) -> Origin:
    whole = nest_signature(nest)
    # A C function's result is an output of the nest, and no argument that a user could give.
    taken = signature.plan_signature(
        replace(whole, inputs=tuple(a for a in whole.inputs if a.name != signature.RESULT))
    )
    text = nest.span.source.text if nest.span is not None else ""
    hidden = partial(_hidden_arguments, nest)
    return Origin(
        path, taken, reference, partial(work.nest_work, nest), partial(traffic.nest_traffic, nest), hidden, text
    )


def _hidden_arguments(nest: Nest, values: Mapping[str, int]) -> frozenset[str]:
    """Arguments whose elements at entry show nowhere; none where that is not known."""
    del values
    try:
        return transform.write_only_arguments(nest)
    except PolyloomError:
        return frozenset()


def make_task(
    origin: Origin,
    given: Mapping[str, Any],
    seed: int,
    fill: Fill | None,
    ranges: made.Ranges | None = None,
    others: Sequence[Signature] = (),
) -> Task:
    """For these values: parameters, scalars and arrays by name, which may have the shapes that `others` declare.
    Errors: PL0230 to PL0233, PL0804, PL0819, PL0820."""
    values, taken = make_inputs(origin.signature, given, seed, fill, origin.hidden, ranges, others, origin.data)
    # Copies: a reference may write into its arguments, as C functions do, and every row needs the inputs as they were.
    expected = with_deep_stack(origin.reference)(values, {name: array.copy() for name, array in taken.items()})
    return Task(
        origin.signature.name,
        origin.path,
        origin.signature,
        values,
        taken,
        {name: np.asarray(array) for name, array in expected.items()},
        with_deep_stack(origin.work)(values),
        with_deep_stack(origin.compulsory)(values),
        origin.text,
    )


def make_unreferenced_task(
    path: str,
    of: Signature,
    given: Mapping[str, Any],
    seed: int,
    fill: Fill | None,
    ranges: made.Ranges | None = None,
) -> Task:
    """The task of a function that only targets read: of the first one's signature."""
    values, taken = make_inputs(of, given, seed, fill, None, ranges)
    return Task(of.name, path, of, values, taken)


def make_inputs(
    of: Signature,
    given: Mapping[str, Any],
    seed: int,
    fill: Fill | None,
    hidden: made.Hidden | None,
    ranges: made.Ranges | None,
    others: Sequence[Signature] = (),
    data: Arrays = MappingProxyType({}),
) -> tuple[dict[str, int], Arrays]:
    """Values of the parameters, and every input, given or made up."""
    numbers = {n: v for n, v in given.items() if not hasattr(v, "shape")}
    arrays = {n: v for n, v in given.items() if n not in numbers}
    values, scalars = made.read_values(of, numbers)
    arrays = {**scalars, **{name: _reshape_input(of, others, values, name, array) for name, array in arrays.items()}}
    return values, made.complete_inputs(
        of, values, arrays, seed=seed, fill=fill, hidden=hidden, ranges=ranges, data=data
    )


def _reshape_input(of: Signature, others: Sequence[Signature], values: Mapping[str, int], name: str, array: Any) -> Any:
    """An array in the shape of the signature, where it has one that another signature of the source declares."""
    own = of.argument(name)
    declared = {a.extents(values) for other in others if (a := other.argument(name)) is not None}
    return array if own is None or array.shape not in declared else array.reshape(own.extents(values))
