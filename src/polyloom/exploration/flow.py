# SPDX-License-Identifier: Apache-2.0
"""Control flow of a sweep: which rows are asked for, in which order, until none is missing (docs/explore.md).

Without a level, every point is predicted. Then rows are verified whose prediction is only a bound, or that cannot be
predicted, and the Pareto front, again and again until all that is on it is verified. A source is read, and a unit
compiled, only where a row of it is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from polyloom import api
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.exploration import machines
from polyloom.exploration.executor import Executor
from polyloom.exploration.front import pareto_front
from polyloom.exploration.request import Keys, Request, collect_options, select_values
from polyloom.exploration.row import Level, Row, decode, encode, refusal_row
from polyloom.exploration.space import Point, Words
from polyloom.exploration.store import Store
from polyloom.exploration.work import Task, Unit, locate_sources, target_takes
from polyloom.targets import registry
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Target

Made = tuple[str, Words]
"""A machine: `--on`, and the keys that are set."""


@dataclass(slots=True)
class Flow:
    """One exploration; `folder` is temporary. `asked` counts the rows that had to be computed."""

    request: Request
    store: Store
    keys: Keys
    executor: Executor
    folder: Path
    descriptions: Mapping[Made, str | None]
    """By machine: its description where keys are set."""
    resolved: Mapping[Made, str]
    progress: Progress
    asked: int = 0

    _subjects: dict[str, Subject | PolyloomError] = field(default_factory=dict[str, Subject | PolyloomError])
    """By target."""
    _units: dict[Made, Unit | str] = field(default_factory=dict[Made, Unit | str])
    """By machine: what was compiled, or the row that says why it could not be."""

    def rows(self) -> list[Row]:
        """Fixpoint of verification: the row of every point that the condition takes, in their order."""
        points = [p for p in self.request.space.points() if self._is_candidate(p)]
        if self.request.level is not None:
            return self._filter_rows(self._ask(points, self.request.level))
        rows = self._ask(points, None)
        by_number = {p.number: p for p in points}
        while True:
            # Verified cycles can be less than a bound, and move the front: what is new on it is verified too. Each
            # round verifies at least one row more, so this ends.
            wanted = self._to_verify(rows)
            if not wanted:
                return self._filter_rows(rows)
            rows |= self._ask([by_number[n] for n in wanted], "verify")

    def _is_candidate(self, point: Point) -> bool:
        """Partial evaluation of the condition: whether it may hold, as far as is known before anything is computed."""
        where = self.request.where
        known = point.row()
        # A name that is no value of the point may be a figure of its row; that is asked again by `_kept`.
        return where is None or not where.names <= known.keys() or where(known)

    def _filter_rows(self, rows: Mapping[int, Row]) -> list[Row]:
        where = self.request.where
        return [row for _, row in sorted(rows.items()) if where is None or where(row.columns())]

    def _to_verify(self, rows: Mapping[int, Row]) -> list[int]:
        """Numbers of predicted rows."""
        # By identity: rows hold dictionaries, and have no hash.
        kept = {id(row): number for number, row in rows.items()}
        taken = self._filter_rows(rows)
        bounds = [row for row in taken if row.is_ok and row.exact is False]
        best = pareto_front(taken, self.request.objectives, self.problem())
        return sorted({kept[id(row)] for row in (*bounds, *best) if row.level == "predict"})

    def problem(self) -> tuple[str, ...]:
        """The names of values that decide what is computed, and not how: all but options of the targets."""
        options = frozenset[str]().union(*collect_options(self.request.space.on).values())
        return tuple(name for name in self.request.space.names if name not in options)

    def _ask(self, points: Iterable[Point], level: Level | None) -> dict[int, Row]:
        """The rows of points, computed where they are missing; by the points' numbers. Without a level, points are
        predicted where that can be done, and verified elsewhere."""
        first: dict[str, Level] = {on: level or _default_level(on) for on in self.request.space.on}
        asked: list[tuple[Point, Level]] = [(p, first[p.on]) for p in points]
        by_key = {p.number: self._key(p, own) for p, own in asked}
        # Of points that ask for the same the first one is computed.
        missing: dict[str, tuple[Point, Level]] = {}
        for point, own in asked:
            if self.store.get(key := by_key[point.number]) is None:
                missing.setdefault(key, (point, own))
        # Stored row by row: an interrupted sweep has what it computed.
        self._compute(missing)
        return {p.number: decode(p.row(), self.store.get(by_key[p.number]) or "{}") for p, _ in asked}

    def _key(self, point: Point, level: Level) -> str:
        return self.keys.of(point, level, self.resolved[point.on, point.settings])

    def _compute(self, missing: Mapping[str, tuple[Point, Level]]) -> None:
        """Computation of missing rows: stores the row of each key."""
        needed = dict.fromkeys((p.on, p.settings) for p, _ in missing.values())
        # Compiled once per machine, before the points: a symbolic configuration serves all sizes of one machine.
        self._compile([made for made in needed if made not in self._units])
        numbers = {made: str(n) for n, made in enumerate(self._units)}
        problem = self.problem()
        tasks, keys = list[Task](), list[str]()
        for key, (point, level) in missing.items():
            unit = self._units[point.on, point.settings]
            if isinstance(unit, str):
                self._put(key, encode(replace(decode({}, unit), level=level)))
                continue
            # Predictions interpret nothing, so that they need no group; other levels share the outputs of equal
            # problems.
            group = "" if level == "predict" else str([pair for pair in point.values if pair[0] in problem])
            own = select_values(point, self.keys.foreign)
            tasks.append(Task(len(keys), numbers[point.on, point.settings], level, own, group))
            keys.append(key)
        units = {numbers[made]: unit for made, unit in self._units.items() if isinstance(unit, Unit)}
        # One interpretation serves all rows of a group, which therefore follow each other.
        tasks.sort(key=lambda task: (task.group, task.number))
        for done, (task, answer) in enumerate(self.executor.answers(units, tasks), 1):
            assert isinstance(answer, str)
            self._put(keys[task.number], answer)
            self.progress("exploring", done / len(tasks))

    def _put(self, key: str, row: str) -> None:
        self.store.put(key, row)
        self.asked += 1

    def _compile(self, wanted: list[Made]) -> None:
        """Compilation of units: fills `_units`; what could not be compiled is the row of all its points."""
        tasks, units = list[Task](), dict[str, Unit]()
        for number, (on, settings) in enumerate(wanted):
            made = self._open_unit(on, settings)
            self._units[on, settings] = made
            if isinstance(made, Unit):
                units[f"source {len(self._units)} {number}"] = made
                tasks.append(Task(number, f"source {len(self._units)} {number}", "compile"))
        for done, (task, answer) in enumerate(self.executor.answers(units, tasks), 1):
            own = units[task.unit]
            self._units[wanted[task.number]] = answer if isinstance(answer, str) else replace(own, data=answer)
            self.progress("compiling", done / len(tasks))

    def _open_unit(self, on: str, settings: Words) -> Unit | str:
        """What is to be compiled, or the row that says why it cannot be."""
        target, place = locate_sources(on, self.descriptions[on, settings], self.folder)
        if target.name not in self._subjects:
            self._subjects[target.name] = self._read(target, place)
        subject = self._subjects[target.name]
        if isinstance(subject, PolyloomError):
            # One target of several may lack what the source needs, which is a result of the sweep; if all do, the
            # source is wrong.
            if all(isinstance(each, PolyloomError) for each in self._list_subjects()):
                raise subject
            return encode(refusal_row({}, "predict", subject))
        self._check_names(target, subject, on)
        return Unit(self.keys.source, on, self.descriptions[on, settings], subject, target.options(), self.request.seed)

    def _list_subjects(self) -> Iterator[Subject | PolyloomError]:
        """Of all targets of the sweep: one that none of them can read is an error, and no row."""
        for on in self.request.space.on:
            target, place = registry.split_place(on)
            if target.name not in self._subjects:
                self._subjects[target.name] = self._read(target, place)
            yield self._subjects[target.name]

    def _read(self, target: Target, place: object) -> Subject | PolyloomError:
        try:
            return api.read_subject(self.request.source, target, place, self.request.reading, target.options())
        except PolyloomError as error:
            return error

    def _check_names(self, target: Target, subject: Subject, on: str) -> None:
        """PL1404 for a name that is nothing here."""
        known = target_takes(target, subject)
        for name in self.request.space.names:
            if name not in known and name not in self.keys.foreign[on]:
                message = f"`{subject.signature.name}` has no parameter `{name}`, and {target.name} no such option"
                raise PolyloomError(Diagnostic("PL1404", message, USAGE, help=nearest(name, sorted(known), "name")))


def _default_level(on: str) -> Level:
    return "predict" if registry.split_place(on)[0].predict is not None else "verify"


def describe_machines(request: Request, folder: Path) -> tuple[dict[Made, str | None], dict[Made, str]]:
    """Machine descriptions of a sweep: the description where keys are set, and what its rows' keys have to know.
    Errors: those of places, PL1409, and those of machine files.
    """
    own: dict[Made, str | None] = {}
    resolved: dict[Made, str] = {}
    # Only machines and their settings are left, so that each machine comes once.
    for point in replace(request.space, axes=(), fixed=()).points():
        made = point.on, point.settings
        target, place = registry.split_place(point.on)
        own[made] = machines.change_machine(target, place, point.settings)
        changed, place = locate_sources(point.on, own[made], folder)
        resolved[made] = machines.machine_description(changed, place)
    return own, resolved
