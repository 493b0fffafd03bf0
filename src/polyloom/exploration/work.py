# SPDX-License-Identifier: Apache-2.0
"""Worker operations: compile a unit, or compute the row of a point.

A unit is a source on one machine. It goes to a worker once, with its symbolic file where it has been compiled, and is
kept there; a task names it. Answers are texts and bytes, as they are stored: the bytes of a compiled unit, or a row
without its point. Whatever goes wrong with a point is its row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import getpid
from pathlib import Path
from typing import Any, Final, Literal, cast

from polyloom import api
from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError
from polyloom.exploration.oracles import Memory, remember_oracles
from polyloom.exploration.row import Level, Row, encode, refusal_row
from polyloom.exploration.space import Words
from polyloom.run import inputs
from polyloom.run.execute import execute
from polyloom.run.verdict import verdict_keys
from polyloom.targets import registry
from polyloom.targets.options import verb_options
from polyloom.targets.prediction import Prediction
from polyloom.targets.subject import Subject
from polyloom.targets.target import Place, Target, need

Answer = bytes | str
UNITS: Final = 32
"""Units that a worker keeps: those that it got last."""


@dataclass(frozen=True, slots=True)
class Unit:
    """`source` stands for the text of the source and how it is read; `machine` is the text of a machine file whose keys
    are swept; `options` are the target's; `data` is what was compiled, None before."""

    source: str
    on: str
    machine: str | None
    subject: Subject
    options: Any
    seed: int
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """`unit` is the unit's key. Tasks of one `group` share their interpretation."""

    number: int
    unit: str
    kind: Literal["compile"] | Level
    values: Words = ()
    group: str = ""


@dataclass(frozen=True, slots=True)
class Ready:
    """A unit, opened."""

    target: Target
    place: Place
    unit: Unit
    compiled: api.Compiled | None
    options: frozenset[str]
    """The names that are the target's options, and no parameters."""


class Work:
    """The units and oracles of one worker. `folder` is shared with its siblings; machine files are written into it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memory = Memory(folder)
        self.units: dict[str, Ready] = {}

    def open_unit(self, key: str, unit: Unit) -> None:
        """Opens a unit."""
        if len(self.units) >= UNITS:
            del self.units[next(iter(self.units))]
        self.units[key] = open_subject(unit, self.folder, self.memory)

    def perform(self, task: Task) -> Answer:
        """Never raises for what a point can get wrong."""
        level: Level = "predict" if task.kind == "compile" else task.kind
        try:
            ready = self.units[task.unit]
            if task.kind == "compile":
                return api.compile_subject(ready.unit.subject, ready.target, ready.place, ready.unit.options).data
            return encode(measure(ready, task.kind, task.values))
        except PolyloomError as error:
            return encode(refusal_row({}, level, error))
        except MemoryError:
            return encode(Row({}, level, "PL1408", "there is not enough memory for it"))
        except Exception as error:  # a defect costs its own point alone
            message = f"internal error: {type(error).__name__}: {error}".splitlines()[0]
            return encode(refusal_row({}, level, PolyloomError(Diagnostic("PL0870", message, INTERNAL))))


def open_subject(unit: Unit, folder: Path, memory: Memory) -> Ready:
    """With its machine file written where the target finds it."""
    target, place = locate_sources(unit.on, unit.machine, folder)
    own = f"{unit.source} {unit.on} {unit.machine} {unit.options}"
    # An oracle of the source alone is shared by all machines; a machine's own arithmetic by the points of its unit.
    oracles = (remember_oracles(o, memory, unit.source if o.common else own) for o in unit.subject.oracles)
    subject = replace(unit.subject, oracles=tuple(oracles))
    compiled = None
    if unit.data is not None:
        compiled = api.Compiled(
            target, unit.data, registry.place_text(target, place), place, subject, 0.0, unit.options
        )
    names = frozenset(verb_options(target.options, "instantiate")).difference(_parameters(subject))
    return Ready(target, place, unit, compiled, names)


def locate_sources(on: str, machine: str | None, folder: Path) -> tuple[Target, Place]:
    """Place on a machine, which may be a text. Errors: PL0805, PL0801."""
    target, place = registry.split_place(on)
    if machine is None:
        return target, place
    having = registry.target_names(lambda t: t.with_machine is not None)
    path = folder / f"{hashlib.sha256(machine.encode()).hexdigest()[:16]}.toml"
    if not path.exists():
        new = path.with_suffix(f".{getpid()}")
        new.write_text(machine, encoding="utf-8")
        # Several workers may write the same machine: renaming never shows half a file.
        new.rename(path)
    return target, need(target, "with_machine", having)(place, str(path))


def _parameters(subject: Subject) -> tuple[str, ...]:
    return (*subject.signature.sizes, *(a.name for a in subject.signature.inputs))


def target_takes(target: Target, subject: Subject) -> frozenset[str]:
    """Every name that a point may have."""
    scalars = (a.name for a in subject.signature.inputs if a.is_scalar)
    return frozenset((*subject.signature.sizes, *scalars, *verb_options(target.options, "instantiate")))


def measure(ready: Ready, level: Level, values: Words) -> Row:
    """Measurement of a point: its row, without the point. Errors: those of the target."""
    compiled, target = ready.compiled, ready.target
    assert compiled is not None
    words = {name: text for name, text in values if name not in ready.options}
    known = verb_options(target.options, "instantiate")
    own = {
        name: known[name].read([text] if known[name].repeatable else text)
        for name, text in values
        if name in ready.options
    }
    checked, _ = inputs.read_values(compiled.signature, words)
    sizes = {name: value for name, value in checked.items() if compiled.signature.argument(name) is None}
    prediction = None
    # Predicted at every level: a row has both figures where it is run, so that predictions are checked too.
    if target.predict is not None:
        prediction = target.predict(compiled.data, sizes, ready.place, replace(ready.unit.options, **own))
    if level == "predict":
        if prediction is None:
            need(target, "predict", registry.target_names(lambda t: t.predict is not None))
        return _row(level, prediction, None)
    instance = compiled.prepare_instance(sizes, own)
    job = instance.job({name: words[name] for name in words if name not in sizes}, seed=ready.unit.seed)
    if level == "run":
        return _row(level, prediction, target.run(instance.data, job).cycles)
    outcome = execute(target, instance.data, job, compiled.subject, job.values)
    row = _row(level, prediction, outcome.execution.cycles)
    if outcome.differences:
        first = outcome.differences[0]
        row = replace(row, code=first.code, message=first.message)
    keys = verdict_keys(outcome.comparisons)
    verdict, error, bound = (keys.get(key) for key in ("verdict", "error", "bound"))
    return replace(row, verified=outcome.verified, verdict=cast("str | None", verdict), error=error, bound=bound)


def _row(level: Level, prediction: Prediction | None, cycles: int | None) -> Row:
    """Of a run where its cycles are known, else as predicted."""
    facts: Mapping[str, Any] = {} if prediction is None else prediction.facts
    predicted = None if prediction is None else prediction.cycles
    elements = None if prediction is None else prediction.elements
    if level != "predict":
        return Row({}, level, None, None, None, cycles, predicted, cycles is not None or None, elements, facts)
    exact = None if prediction is None else prediction.exact
    return Row({}, level, None, None, None, predicted, predicted, exact, elements, facts)
