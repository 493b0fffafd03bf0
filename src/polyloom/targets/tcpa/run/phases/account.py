# SPDX-License-Identifier: Apache-2.0
"""Cycle account of a run on the array: that of each step, one after another, with what the whole time has besides
(docs/targets/tcpa.md, Whole time): configurations, transfers and the waits for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from polyloom.diagnostics import PolyloomError
from polyloom.targets.account import Account, Category, Row, join_accounts
from polyloom.targets.account_advice import advise
from polyloom.targets.account_timeline import Parts, fold_timeline, join_parts, uniform_parts
from polyloom.targets.target import Execution, Program
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.place import Place, region
from polyloom.targets.tcpa.run.account import account_words
from polyloom.targets.tcpa.run.phases.memory_traffic import measure_time
from polyloom.targets.tcpa.run.phases.plan_execution import Execution as Ran
from polyloom.targets.tcpa.run.phases.step_sequence import Run, run
from polyloom.targets.tcpa.run.program import load_machine
from polyloom.targets.tcpa.words import concrete_file, event_resolution
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.event_resolution import Known, evaluate_bound

_KEPT = 16
"""Configurations that are kept decoded: steps of one loop share a few."""


def account(program: Program, execution: Execution) -> Account:
    """Account of a file that ran."""
    ran, found = cast(Ran, execution.detail), run(program.data)
    where = cast("Place | None", program.place)
    # A program without any step has nothing to account for.
    if not found.steps:
        return Account(0, 0, ())
    machine = load_machine(found.steps[0].data, where.member if where else None)
    elements = _elements(program, found)
    steps = [
        account_words(*_decode_configuration(own.data), seen.executed, machine, seen.cycles, elements, seen.held)
        for own, seen in zip(found.steps, ran.phases, strict=True)
    ]
    around = _surroundings(elements * len(machine.units), machine, found, ran)
    whole = join_accounts([*(made for made, _ in steps), *around.accounts])
    advice = advise(whole, {"imbalance": text} if (text := _sizes(found, ran)) else None)
    parts = [parts for _, parts in steps if parts is not None]
    # A step that took no cycle has no part.
    ran_all = len(parts) == sum(made.cycles > 0 for made, _ in steps)
    timeline = fold_timeline(join_parts(list(around.parts(parts)))) if ran_all and whole.cycles else None
    return replace(whole, advice=advice, timeline=timeline)


@lru_cache(_KEPT)
def _decode_configuration(data: bytes) -> tuple[Concrete, Known | None]:
    concrete = concrete_file.decode(data)
    try:
        return concrete, event_resolution.find_origin(concrete)
    except PolyloomError:
        # One whose words are others than what it says that it was made of runs all the same.
        return concrete, None


def _elements(program: Program, found: Run) -> int:
    """Elements of the region that was asked for; of a file that was loaded, the most that a step uses."""
    if program.options.pes is not None:
        rows, columns = region(program.options.pes)
        return rows * columns
    if program.place is not None:
        rows, columns = cast(Place, program.place).region
        return rows * columns
    return max(c.rows * c.columns for c in (_decode_configuration(own.data)[0] for own in found.steps))


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """Accounts of the cycles around steps, in which no unit of the array issues: before the first one, between them,
    and after the last one.
    """

    before: tuple[Account, ...]
    between: tuple[Account, ...]
    after: tuple[Account, ...]

    @property
    def accounts(self) -> tuple[Account, ...]:
        return (*self.between[:1], *self.before, *self.between[1:], *self.after)

    def parts(self, steps: Sequence[Parts]) -> Iterator[Parts]:
        """Parts in the order of time. What is between steps is known as a sum, of which each step has an equal share in
        front of it.
        """
        yield from (uniform_parts(made) for made in self.before)
        for number, own in enumerate(steps):
            for made in self.between:
                whole = made.cycles
                # The first ones have what the others leave, so that a single step has all.
                cycles = whole * (number + 1) // len(steps) - whole * number // len(steps)
                yield uniform_parts(_idle(made.units, made.rows[0].category, "", cycles))
            yield own
        yield from (uniform_parts(made) for made in self.after)


def _surroundings(units: int, machine: Machine, found: Run, ran: Ran) -> _Surroundings:
    own = [phase.cycles for phase in ran.phases]
    time = measure_time(found, machine, own) if machine.has_whole_time else None
    moved = sum(ran.transfers) if time is None else time.array - sum(own)
    exchange = _idle(units, "memory", "exchange between banks", moved)
    if time is None:
        return _Surroundings((), (exchange,), ())
    before = (
        _idle(units, "configuration", "words of configurations", time.configuration),
        _idle(units, "fill and drain", "loads before the first step", time.fill),
    )
    waits = _idle(units, "memory", "transfers from and to memory", time.wait)
    return _Surroundings(
        before, (exchange, waits), (_idle(units, "fill and drain", "stores after the last step", time.drain),)
    )


def _idle(units: int, category: Category, detail: str, cycles: int) -> Account:
    return Account(units, cycles, (Row(category, detail, 0, "", "all units", units * cycles),))


def _sizes(found: Run, ran: Ran) -> str:
    """Sentence about the sizes of the longest step that its elements do not divide; empty where they all do."""
    longest = max(range(len(found.steps)), key=lambda n: ran.phases[n].cycles)
    concrete, known = _decode_configuration(found.steps[longest].data)
    if known is None:
        return ""
    axes = (("row", concrete.rows, known.candidate.rows), ("column", concrete.columns, known.candidate.columns))
    return ", ".join(filter(None, (_uneven(name, count, axis, known) for name, count, axis in axes)))


def _uneven(name: str, count: int, axis: int | None, known: Known) -> str:
    """Such as `25 iterations of j on 4 columns of elements, of which 24 or 28 would be equal shares`."""
    if axis is None or count < 2:
        return ""
    extent = known.symbolic.extents[axis]
    size = evaluate_bound(extent.upper, known) - evaluate_bound(extent.lower, known) + 1
    if size % count == 0:
        return ""
    # With fewer iterations than elements the lower multiple is 0, which is no size.
    choices: Sequence[int] = [n for n in (size // count * count, -(-size // count) * count) if n]
    loop = known.symbolic.dimensions[axis]
    return (
        f"{size} iterations of {loop} on {count} {name}s of elements; "
        f"{' or '.join(map(str, choices))} would be equal shares"
    )
