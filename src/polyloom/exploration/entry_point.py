# SPDX-License-Identifier: Apache-2.0
"""Entry point of design-space exploration (docs/explore.md): every point of a sweep, computed by whom the caller
chooses, kept where the caller says.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast

from polyloom import temporary
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.exploration import store
from polyloom.exploration.executor import Executor, Here
from polyloom.exploration.flow import Flow, describe_machines
from polyloom.exploration.point_condition import parse_condition
from polyloom.exploration.ranges import parse_axes
from polyloom.exploration.request import Keys, Request, collect_text, specification
from polyloom.exploration.row import LEVELS, OBJECTIVES
from polyloom.exploration.space import Space
from polyloom.exploration.sweep import Sweep
from polyloom.frontend.source import Options
from polyloom.targets import registry
from polyloom.targets.subject import Progress, silent


def explore(
    source: Any,
    on: str | Sequence[str] | None = None,
    *,
    sweep: Mapping[str, Any] | Sequence[str] | None = None,
    set: Mapping[str, Any] | Sequence[str] | None = None,
    where: str | None = None,
    objective: str | Sequence[str] = OBJECTIVES,
    level: str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    resume: str | PathLike[str] | None = None,
    seed: int = 0,
    timeout: float | None = None,
    function: str | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
    values: Mapping[str, Any] | None = None,
    **fixed: Any,
) -> Sweep:
    """Explore a program on machines: `sweep` and `set` are axes, such as {"N": [16, 64], "pes": "1x1..8x8"}; `values`
    and `fixed` are values that all points share. Points that `where` refuses are left out.

    Without a `level`, all points are predicted; those on the front of the `objective`s, and those whose prediction is
    only a bound, are run and verified. `jobs` processes compute, or the workers of a Dask `scheduler`. `resume` is a
    folder that keeps the rows: what it has is not computed again. A point may take `timeout` seconds.

    Errors: PL1401 to PL1412, and those of reading the source; what a point gets wrong is its row."""
    # A keyword that is a typing mistake of `on` would be a parameter, and the default target be swept unasked.
    if on is None:
        registry.check_place_keyword(fixed)
    reading = options or Options()
    request = Request(
        fspath(cast("PathLike[str]", source)) if isinstance(source, PathLike) else source,
        Space(_targets(on), parse_axes(sweep), parse_axes(set), _parse_fixed({**(values or {}), **fixed})),
        reading if function is None else replace(reading, function=function),
        None if where is None else parse_condition(where),
        (objective,) if isinstance(objective, str) else tuple(objective),
        _level(level),
        seed,
        timeout,
    )
    request.space.check()
    return run(request, jobs, scheduler, None if resume is None else fspath(resume), progress or silent)


def run(request: Request, jobs: int, scheduler: str | None, resume: str | None, progress: Progress) -> Sweep:
    """`explore` for a request."""
    with temporary.temporary_folder() as folder:
        text = collect_text(request.source, request.reading)
        own, resolved = describe_machines(request, folder)
        # Several settings of one `--on`: reversed, its first description is entered last, and stays.
        bases = {on: machine for (on, _), machine in reversed(resolved.items())}
        keys = Keys(request, text)
        with (
            store.open_store(resume, specification(request, text, bases)) as rows,
            _executor(request, jobs, scheduler, folder) as executor,
        ):
            flow = Flow(request, rows, keys, executor, folder, own, resolved, progress)
            found = flow.rows()
            return Sweep(request.title, tuple(found), request.objectives, flow.problem(), flow.asked)


@contextmanager
def _executor(request: Request, jobs: int, scheduler: str | None, folder: Path) -> Generator[Executor]:
    if scheduler is not None:
        # Dask is an extra, and NumPy's, Dask's and the pool's start-up time is only for those who use them.
        from polyloom.exploration.cluster import cluster

        with cluster(scheduler, request.timeout) as found:
            yield found
    # A limit of time needs a process that can be ended: a thread, or this process, cannot be.
    elif jobs > 1 or request.timeout is not None:
        from polyloom.exploration.pool import pool

        with pool(jobs, folder, request.timeout) as found:
            yield found
    else:
        yield Here(folder)


def _targets(on: str | Sequence[str] | None) -> tuple[str, ...]:
    given = on.split(",") if isinstance(on, str) else list(on or (registry.default_target().name,))
    return tuple(dict.fromkeys(given))


def _parse_fixed(given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((axis.names[0], axis.values[0]) for axis in parse_axes({n: (v,) for n, v in given.items()}))


def _level(text: str | None) -> Any:
    if text is None or text in LEVELS:
        return text
    raise PolyloomError(
        Diagnostic("PL1401", f"there is no level '{text}'", USAGE, help=f"write one of {', '.join(LEVELS)}")
    )
