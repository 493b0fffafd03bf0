# SPDX-License-Identifier: Apache-2.0
"""Subject of a compilation: a source in one of the forms that the target takes, with what it takes and gives, and its
oracles.

A form reads what the user gave. Those of `targets.forms` serve every target; a target may bring forms of its own, which
then supply their own oracles and, where their arithmetic asks for it, a bound of the error of every element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, cast

from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.frontend.prints import Observed
from polyloom.frontend.source import Arrays, Options
from polyloom.ir.nest import Nest
from polyloom.ir.signature import Signature
from polyloom.passes import Watch

Progress = Callable[[str, float], None]
"""Called with a step's name and the fraction that is done; `silent` where nobody looks."""
ErrorBounds = Callable[[Mapping[str, int], Arrays, Arrays], Arrays]
"""Of values of the parameters, inputs and expected outputs, fields of structures apart: by how much each element of
each output may be missed; NaN where nothing is expected."""
Figures = Callable[[Arrays, Arrays], Mapping[str, Any]]
"""Of expected and found outputs: keys of `run --json`."""


def _no_nest() -> Nest | None:
    return None


def silent(step: str, fraction: float) -> None:
    """The `Progress` that shows nothing."""
    del step, fraction


@dataclass(frozen=True, slots=True)
class Written:
    """Source as the user gave it: a path, or a value such as a kernel; `options` for reading files; `watch` sees the
    passes.
    """

    value: Any
    options: Options = field(default_factory=Options)
    watch: Watch | None = None

    @property
    def path(self) -> str | None:
        """Path of a source, None where it is no file."""
        return fspath(cast("str | PathLike[str]", self.value)) if isinstance(self.value, str | PathLike) else None


@dataclass(frozen=True, slots=True)
class Oracle:
    """Test oracle, another way to the outputs (Weyuker 1982). `name` is its name in data, `what` in sentences: "the
    host's own function". `outputs` are those for parameter values and inputs, or None where it gives up. They must be
    equal bit for bit, unless there are `bounds`.

    A difference has the `code` and the `help`. One that does not judge only tells how far outputs are, since nobody
    knows how far they may be. A `common` one gives the same outputs whatever the target, its place and its options. Of
    several oracles of a subject, the last is nearest to what the user wrote. One that is apart gives no verdict unless
    it differs: for each output it is told how far the two are.
    """

    name: str
    what: str
    outputs: Callable[[Mapping[str, int], Arrays], Arrays | None]
    bounds: ErrorBounds | None = None
    figures: Figures | None = None
    code: str = "PL0812"
    help: str | None = None
    # False where results may differ by an unknown amount: the distance is then told without a verdict.
    judges: bool = True
    # Exploration keeps the outputs of a common oracle for all places and options of a source.
    common: bool = False
    # Outputs of another order of rounding: results have equal bits by the oracles beside it.
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """Subject. `content` is what the form is about: a plan, a nest, a function, images. `explain` may find a better
    error for a run that failed, such as what the data are to blame for, at the user's line. `hidden` tells, for values
    of the parameters, the input arrays whose elements at entry show nowhere, `ranges`, for values of scalars, between
    which values inputs must lie that are used as indices.

    `seconds` is how long reading took; `source` is what a front end gave; `watch` sees what passes make of it;
    `warnings` have the exit code 0. `texts` are the files that operations come from, as `Provenance.file` calls them,
    with what they said when they were read. `in_place` tells whether a result may have the memory of an array that is
    read. `data` are elements of inputs that need not be given.
    `nest` is the source as loops in its own order, None where it is not read so; `observed` has the prints of the
    source, which are no code.
    """

    form: str
    # Any, because forms of other packages bring types of their own.
    content: Any
    path: str
    signature: Signature
    oracles: tuple[Oracle, ...] = ()
    seconds: float = 0.0
    explain: Callable[[PolyloomError, Mapping[str, int], Arrays], PolyloomError] | None = None
    hidden: Callable[[Mapping[str, int]], frozenset[str]] | None = None
    ranges: Callable[[Mapping[str, int]], Mapping[str, tuple[int, int]]] | None = None
    source: object = None
    watch: Watch | None = None
    warnings: tuple[Diagnostic, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    in_place: Callable[[str, str], bool] | None = None
    data: Arrays = field(default_factory=dict[str, Any], repr=False)
    # A function, because of C functions most runs never ask.
    nest: Callable[[], Nest | None] = _no_nest
    observed: Observed | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """Source form: `accepts` looks at what was given without reading it; `load` gets the target's own place and
    options.
    """

    name: str
    title: str
    accepts: Callable[[Written], bool]
    load: Callable[[Written, Any, Any], Subject]
