# SPDX-License-Identifier: Apache-2.0
"""Several programs side by side on one machine, each compared with its own oracles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.run.inputs import Fill
from polyloom.run.instance import Instance, Result
from polyloom.targets import registry
from polyloom.targets.target import need


def measure_together(
    instances: Sequence[Instance],
    given: Sequence[Mapping[str, Any]],
    own: Sequence[Mapping[str, Any]],
    *,
    seed: int = 0,
    trace: bool = False,
    fill: Fill | None = None,
) -> list[Result]:
    """Results, with differences in them; of every instance what is `given`, and its `own` options of the target."""
    target = _target(instances)
    run = need(target, "run_together", registry.having(lambda t: t.run_together is not None))
    jobs = [
        instance.job(arrays, seed=seed, trace=trace, fill=fill, **options)
        for instance, arrays, options in zip(instances, given, own, strict=True)
    ]
    executions = run([(instance.data, job) for instance, job in zip(instances, jobs, strict=True)])
    return [instance.done(job, execution) for instance, job, execution in zip(instances, jobs, executions, strict=True)]


def _target(instances: Sequence[Instance]) -> Any:
    targets = list({instance.target.name: instance.target for instance in instances}.values())
    if len(targets) == 1:
        return targets[0]
    what = " and ".join(t.name for t in targets) or "no target"
    message = f"programs for {what} do not run together"
    raise PolyloomError(Diagnostic("PL0801", message, USAGE, help="give programs for one target"))
