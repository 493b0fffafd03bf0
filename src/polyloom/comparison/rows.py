# SPDX-License-Identifier: Apache-2.0
"""Rows of a comparison: a task compiled and run on one place, and the verdict on its outputs (docs/compare.md).

They have to equal the source's own outputs, bit for bit. Where they do not, the target must say why its arithmetic
gives other bits; then its own oracles judge, which know by how much. A difference without a reason is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from polyloom.api import compile_subject, read_subject
from polyloom.comparison.figures import Figures, figures
from polyloom.comparison.reference import Task
from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.frontend.source import Arrays, Options
from polyloom.ir.signature import Signature
from polyloom.run.compare import compare, describe_array
from polyloom.run.execute import compare_oracles, execute
from polyloom.run.instance import Instance
from polyloom.run.source_loops import find_loops
from polyloom.run.verdict import Compared, Verdict, decisive
from polyloom.targets.account import Account
from polyloom.targets.costs import Costs
from polyloom.targets.forms.loops import EQUATIONS
from polyloom.targets.options import verb_options
from polyloom.targets.subject import Oracle, Progress, Subject, silent
from polyloom.targets.target import Execution, Job, Json, Place, Target

REASSOCIATED = "--reassociate lets sums change their order"
_SOURCES: Final = (EQUATIONS, "source")
"""The names of oracles that give the source's own outputs."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A target and a place of it, as `--on` has them; `own` are options of the target."""

    on: str
    target: Target
    place: Place
    own: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """How outputs were compared, and `why` they have other bits than the source's, where that is no fault."""

    comparisons: tuple[Compared, ...]
    why: str | None = None

    @property
    def verdict(self) -> Verdict | None:
        """None where there was nothing to compare with."""
        found = decisive(self.comparisons)
        return None if found is None else found.verdict

    @property
    def differences(self) -> tuple[Diagnostic, ...]:
        return tuple(each.difference for each in self.comparisons if each.difference is not None)


@dataclass(frozen=True, slots=True)
class Row:
    """A place, and either what `refused` it or all of the rest."""

    on: str
    title: str
    refused: Diagnostic | None = None
    judged: Judged | None = None
    cycles: int | None = None
    costs: Costs = field(default_factory=Costs)
    figures: Figures = field(default_factory=Figures)
    outputs: Mapping[str, Json] | None = None
    account: Account | None = None

    @property
    def verdict(self) -> Verdict | None:
        """None where there was nothing to compare with."""
        return None if self.judged is None else self.judged.verdict

    @property
    def verified(self) -> bool | None:
        """Whether no comparison differs; None where there was none."""
        return None if self.verdict is None else self.verdict != "differs"


Load = Callable[[Placed], Subject]


def loader(source: Any, options: Options) -> Load:
    """What gives the subject of a place."""

    def load(placed: Placed) -> Subject:
        return read_subject(source, placed.target, placed.place, options, placed.target.options(**placed.own))

    return load


def refusal(placed: Placed, error: PolyloomError) -> Row:
    return Row(placed.on, placed.target.title, error.diagnostics[0])


def run(placed: Placed, subject: Subject, task: Task, reassociate: bool, progress: Progress | None) -> Row:
    """The row of a place. Errors of the target: `refusal` makes a row of them."""
    target, chosen = placed.target, placed.target.options(**placed.own)
    compiled = compile_subject(subject, target, placed.place, chosen, progress)
    # Front ends may differ in what is an argument, so that each row takes from the task by its own signature.
    values, given = _select_arguments(subject.signature, task)
    later = {name: value for name, value in placed.own.items() if name in verb_options(target.options, "instantiate")}
    instance = compiled.prepare_instance(values, later, progress)
    job = instance.job(given, account=True, fill="random")
    subject = instance.origin.subject or subject
    # The outputs are compared below, and not with every oracle: these are the source again.
    outcome = execute(target, instance.data, job, replace(subject, oracles=()), job.values)
    execution = outcome.execution
    outputs = (
        {n: _reshape_output(array, task.outputs[n].shape) for n, array in execution.outputs.items()}
        if task.outputs
        else {}
    )
    account = None if target.account is None else target.account(instance.program, execution)
    # Loops have names in this text alone: a program tells lines.
    if account is not None:
        account = account.with_loops(find_loops(dict(subject.texts), account.file))
    costs = _costs(instance, execution.locate(account))
    reason = costs.arithmetic or (REASSOCIATED if reassociate else None)
    return Row(
        placed.on,
        target.title,
        None,
        judge(task, subject, job, execution.outputs, outputs, reason),
        execution.cycles,
        costs,
        figures(execution.cycles, costs, task.work),
        {name: describe_array(array) for name, array in (outputs or execution.outputs).items()},
        account,
    )


def _select_arguments(of: Signature, task: Task) -> tuple[dict[str, int], dict[str, Any]]:
    """Of the task: parameters that are no arguments, and arguments, by the row's signature."""
    values = {n: v for n, v in task.values.items() if n in of.sizes and of.argument(n) is None}
    arguments = {a.name: a for a in of.inputs}
    numbers = {n: v for n, v in task.values.items() if n in arguments}
    arrays = {n: array for n, array in task.inputs.items() if n in arguments}
    return values, {**numbers, **{n: _reshape_output(a, arguments[n].extents(task.values)) for n, a in arrays.items()}}


def _reshape_output(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The same elements in the shape that a row has them in: flat arrays of C are the matrices that they hold where
    subscripts were split."""
    return array.reshape(shape) if array.ndim != len(shape) and array.size == prod(shape) else array


def _costs(instance: Instance, execution: Execution) -> Costs:
    if instance.target.costs is None:
        return Costs(issued=execution.operations)
    return instance.target.costs(instance.program, execution)


def judge(task: Task, subject: Subject, job: Job, got: Arrays, laid: Arrays, reason: str | None) -> Judged:
    """Verdict on outputs: against the source, or, with a reason or without a source, by the target's own oracles;
    `laid` are the outputs in the shapes of the source.
    """
    if task.outputs is None:
        return Judged(_judge_by_oracles(subject, job, got))
    # An output that a target does not give was not written: it holds what was given for it.
    held = {n: task.inputs[n] for n in task.outputs if n not in got and n in task.inputs}
    oracle = Oracle("source", "the source", lambda values, inputs: None)
    found = compare(task.outputs, {**held, **laid}, oracle)
    if found.difference is None:
        return Judged((found,))
    own = _judge_by_oracles(
        subject, job, got
    )  # also where nothing excuses a difference: what C leaves undefined is refused
    if reason is None:
        return Judged((found,))
    far = _farthest(task.outputs, laid)
    if far is None:
        return Judged(own, reason)
    of_source = [each for each in own if each.name in _SOURCES]
    # The row's own reference saw the row's inputs: what is farther off than it found is not the arithmetic's fault.
    if any(each.name == "source" for each in of_source) and far > max(each.error for each in of_source):
        return Judged((*(each for each in own if each not in of_source), found), reason)
    bound = next((each.bound for each in reversed(of_source)), None)
    near = replace(found, verdict="within", error=far, bound=bound, difference=None)
    # The oracle's own verdict on a difference counts; without one the difference is within its bound.
    wrong = tuple(each for each in of_source if each.difference is not None)
    return Judged((*(each for each in own if each not in of_source), *(wrong or (near,))), reason)


def _judge_by_oracles(subject: Subject, job: Job, got: Arrays) -> tuple[Compared, ...]:
    return tuple(compared for compared, _ in compare_oracles(subject, job.values, job.inputs, got, silent))


def _farthest(expected: Arrays, got: Arrays) -> float | None:
    """The greatest difference of finite elements; None where outputs are not alike enough to tell one."""
    far = 0.0
    for name, want in expected.items():
        have = got.get(name)
        if have is None or have.shape != want.shape or want.dtype.kind not in "fiu":
            return None
        a, b = cast(Any, want).astype(np.float64), cast(Any, have).astype(np.float64)
        finite = np.isfinite(a) & np.isfinite(b)
        far = max(far, float(np.abs(a[finite] - b[finite]).max(initial=0.0)))
    return far
