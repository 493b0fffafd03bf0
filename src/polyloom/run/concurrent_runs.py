# SPDX-License-Identifier: Apache-2.0
"""Concurrent runs: several programs side by side on one machine, each compared with its own oracles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.report import run_page
from polyloom.run.inputs import Fill
from polyloom.run.instance import Instance, Result
from polyloom.run.verdict import Compared, severity, verdict_keys
from polyloom.targets import registry
from polyloom.targets.report import Report
from polyloom.targets.target import Json, need
from polyloom.targets.trace import Trace, trace_activity, traces_side_by_side


def measure_concurrent(
    instances: Sequence[Instance],
    given: Sequence[Mapping[str, Any]],
    own: Sequence[Mapping[str, Any]],
    *,
    seed: int = 0,
    trace: bool = False,
    fill: Fill | None = None,
) -> list[Result]:
    """Results of programs that run side by side, with differences in them; of every instance what is `given`, and its
    `own` options of the target."""
    target = _target(instances)
    run = need(target, "run_together", registry.target_names(lambda t: t.run_together is not None))
    jobs = [
        instance.job(arrays, seed=seed, trace=trace, fill=fill, **options)
        for instance, arrays, options in zip(instances, given, own, strict=True)
    ]
    executions = run([(instance.data, job) for instance, job in zip(instances, jobs, strict=True)])
    return [
        instance.finish_job(job, execution)
        for instance, job, execution in zip(instances, jobs, executions, strict=True)
    ]


def combined_trace(results: Sequence[Result]) -> Trace:
    """Combined trace: all programs on one clock."""
    before = [_group_prefix(number) for number in range(len(results))]
    return traces_side_by_side([r.trace for r in results], before, [len(r.views) for r in results])


def concurrent_page(results: Sequence[Result], on: str | None = None) -> str:
    """HTML page of programs that ran together: what the machine did, then each program's phases."""
    names = _numbered_names(results)
    data: Mapping[str, Json] = {"kernel": ", ".join(names), "parameters": None, "on": on, **_combined_verdict(results)}
    rows = [
        (name, f"{r.cycles} cycles, {r.execution.operations} operations")
        for name, r in zip(names, results, strict=True)
    ]
    views = [view for n, r in enumerate(results) for view in _program_views(n, names[n], r.views)]
    listing = "\n".join(f"{name}\n\n{r.instance.listing}" for name, r in zip(names, results, strict=True))
    return run_page.page(run_page.Shown(data, rows, views, trace_activity(combined_trace(results)), listing))


def _combined_verdict(results: Sequence[Result]) -> Mapping[str, Json]:
    """Verdict of all programs together: nothing where one was not compared, else with every oracle the worst of what
    came."""
    found: dict[str, Compared] = {}
    for each in (compared for result in results for compared in result.outcome.comparisons):
        # The worst per oracle: a list per program would hide that one of them differs.
        found[each.what] = max(found.get(each.what, each), each, key=severity)
    return verdict_keys([] if any(r.verdict is None for r in results) else list(found.values()))


def _program_views(program: int, name: str, views: Sequence[Report]) -> Iterator[Report]:
    for number, view in enumerate(views, 1):
        title = f"{name}, phase {number} of {len(views)}" if len(views) > 1 else name
        yield replace(view, program=_group_prefix(program), title=title)


def _group_prefix(program: int) -> str:
    """Prefix of the groups of a program's trace."""
    return f"{program + 1}:"


def _numbered_names(results: Sequence[Result]) -> list[str]:
    """Names by number, since programs may have one name."""
    return [f"{number}: {result.instance.kernel}" for number, result in enumerate(results, 1)]


def _target(instances: Sequence[Instance]) -> Any:
    """Target of all programs; PL0801 where they have several."""
    targets = list({instance.target.name: instance.target for instance in instances}.values())
    if len(targets) == 1:
        return targets[0]
    what = " and ".join(t.name for t in targets) or "no target"
    message = f"programs for {what} do not run together"
    raise PolyloomError(Diagnostic("PL0801", message, USAGE, help="give programs for one target"))
