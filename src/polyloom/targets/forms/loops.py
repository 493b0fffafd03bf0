# SPDX-License-Identifier: Apache-2.0
"""Loop forms: loops as a plan of equations, or as the nest that the user's function is.

Two oracles: the interpreter of the equations, bit for bit, and the user's own function, which may differ where
`--reassociate` let an f32 reduction change its order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom import frontend
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.array_source import ArraySource
from polyloom.frontend.python.kernel import Kernel
from polyloom.frontend.source import Arrays, Options, Source
from polyloom.ir import signature
from polyloom.ir.nest import Nest
from polyloom.ir.pla import Program
from polyloom.ir.plan import Plan
from polyloom.ir.plan_interpret import interpret
from polyloom.ir.steps import warnings
from polyloom.passes import Watch
from polyloom.targets.forms.numpy_oracle import numpy_oracles
from polyloom.targets.provenance import source_texts
from polyloom.targets.subject import Form, Oracle, Subject, Written
from polyloom.transform.writers import runs_in_place

EQUATIONS: Final = "equations"
"""The name of the oracle that interprets them."""
CLOSE: Final = 1e-5
"""Where the order of an f32 reduction was changed, outputs may differ from the source's by this part of the array's
largest magnitude (at least 1)."""


def load_source(
    source: Any, options: Options | None = None, watch: Watch | None = None, *, has_steps: bool = True
) -> Source:
    """Source that a value of any kind is, or that a file holds; `has_steps` as for `transform.plan`. Errors: PL0810,
    and those of its front end."""
    if isinstance(source, Source):
        return source
    if isinstance(source, Kernel | ArraySource):
        reassociate = bool(options and options.reassociate)
        return frontend.function_plan(source, reassociate=reassociate, watch=watch, has_steps=has_steps)
    if isinstance(source, Plan | Program):
        return frontend.plan_source(source)
    path = Written(source).path
    if path is None:
        help = "give the path of one, or a function with `@pl.kernel` above it"
        raise input_error("PL0810", f"{source!r} is not a program", help=help)
    return frontend.load(path, options, watch, has_steps=has_steps)


def loop_subject(source: Source, form: str = "plan", watch: Watch | None = None) -> Subject:
    """Subject of a loaded source, as a plan or as a nest."""
    content = source.plan if form == "plan" else source.nest
    explain = partial(_explain, source.plan)
    return Subject(
        form,
        content,
        source.path,
        signature.plan_signature(source.plan, source.nest),
        _oracles(source),
        source.seconds,
        explain,
        source=source,
        watch=watch,
        warnings=tuple(warnings(source.plan.body)) if form == "plan" else (),
        texts=source_texts(e.span for phase in source.plan.phases for e in phase.program.equations),
        in_place=None if source.nest is None else partial(runs_in_place, source.nest),
        data=source.data,
        nest=partial(_source_nest, source),
    )


def _source_nest(source: Source) -> Nest | None:
    return source.nest


def _explain(plan: Plan, error: PolyloomError, values: Mapping[str, int], inputs: Arrays) -> PolyloomError:
    """Better error, where the data are to blame: the equations refuse them at the user's line."""
    try:
        # The interpreter checks each element, such as a division by zero or an index out of range, at its source line.
        interpret(plan, values, inputs)
    except PolyloomError as better:
        return better
    return error


def _oracles(source: Source) -> tuple[Oracle, ...]:
    """Oracles of a source: its equations, and the user's own function where there is one."""
    first = equations_oracle(source, source.plan)
    if source.nest is None:
        return (first,)
    # Only a reduction whose order was changed may differ from the source at all.
    bounds = None if source.exact else reassociation_bounds
    own = Oracle("source", "the source", source.reference, bounds, common=True)
    return first, own, *numpy_oracles(source.reference, own)


def equations_oracle(source: Source, plan: Plan) -> Oracle:
    """Oracle that interprets a plan of the source, bit for bit; that of the source's own plan is common."""
    return Oracle(EQUATIONS, equations_name(source), partial(_equations, plan), common=plan is source.plan)


def equations_name(source: Source) -> str:
    """Name of the source's equations in sentences."""
    return "the source" if source.nest is None else "the source's equations"


def _equations(plan: Plan, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    """Results by the order-free interpreter of equations."""
    return interpret(plan, values, inputs)


def reassociation_bounds(values: Mapping[str, int], inputs: Arrays, expected: Arrays) -> Arrays:
    """Error bounds of f32 results whose order was changed; other types are exact."""
    del values, inputs
    return {name: _reassociation_bound(array) for name, array in expected.items()}


def _reassociation_bound(expected: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Error bound of an f32 array, a part of its largest magnitude."""
    if expected.dtype != np.float32:
        return np.zeros(expected.shape)
    # The error of a sum grows with its terms, of which the largest result is what can be seen here.
    finite = np.abs(expected[np.isfinite(expected)].astype(np.float64))
    return np.full(expected.shape, CLOSE * max(1.0, float(finite.max(initial=0))))


def _accepts_plan(written: Written) -> bool:
    if (path := written.path) is not None:
        return frontend.is_source(path)
    return isinstance(written.value, Source | Kernel | ArraySource | Plan | Program)


def _accepts_nest(written: Written) -> bool:
    if (path := written.path) is not None:
        return frontend.is_source(path) and not frontend.source_file(path).endswith(".pla")
    return isinstance(written.value, Kernel | ArraySource) or (
        isinstance(written.value, Source) and written.value.nest is not None
    )


def _load_plan(written: Written, place: Any, options: Any) -> Subject:
    del place, options
    return loop_subject(load_source(written.value, written.options, written.watch), watch=written.watch)


def _load_nest(written: Written, place: Any, options: Any) -> Subject:
    del place, options
    return loop_subject(load_source(written.value, written.options, written.watch), "nest", written.watch)


PLAN: Final = Form("plan", "loops or equations (.py, .c, .mlir, .pla, .onnx)", _accepts_plan, _load_plan)
NEST: Final = Form("nest", "loops (.py, .c, .mlir, .onnx)", _accepts_nest, _load_nest)
