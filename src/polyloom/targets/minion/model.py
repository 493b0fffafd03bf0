# SPDX-License-Identifier: Apache-2.0
"""Programs on the native model (native/minion): what is put into memory, how long it runs, what it comes to.

The model has one flat memory and the harts of some minions, which all start at one entry. Its answer is plain data;
this module gives it types. Results and cycles do not depend on the number of threads of the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from polyloom._native import minion as native
from polyloom.targets.minion.options import MAX_CYCLES, Hazards
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.program import Program
from polyloom.targets.target import Json

Stop = Literal["passed", "failed", "deadlock", "trap", "hazard", "max-cycles"]
_POLICIES: Final[Mapping[Hazards, int]] = {"off": 0, "report": 1, "error": 2, "poison": 3}
Row = Mapping[str, Any]
"""A finding, a wait or a counter as the model gives it."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How a program is run."""

    place: Place
    hazards: Hazards = "error"
    functional: bool = False
    threads: int = 1
    max_cycles: int = MAX_CYCLES
    errata: bool = False
    trace: bool = False


@dataclass(frozen=True, slots=True)
class Trap:
    """Of a hart that had no handler; `word` is the instruction."""

    hart: int
    pc: int
    cause: int
    value: int
    word: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """`cycles` is None without time. `hart` is the one that failed or trapped, -1 where there is none."""

    stop: Stop
    cycles: int | None
    instructions: int
    hart: int = -1
    trap: Trap | None = None
    printed: bytes = b""
    findings: Sequence[Row] = ()
    waits: Sequence[Row] = ()
    counters: Mapping[str, int] = field(default_factory=dict[str, int])
    extrapolated: Sequence[str] = ()
    events: Sequence[tuple[Any, ...]] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """A machine after its run, whose memory can be read."""

    chip: native.Chip
    outcome: Outcome

    def read(self, address: int, size: int) -> bytes:
        """Bytes of memory that `memory_map.lacking` has no objection to."""
        return self.chip.read(address, size)


def run(program: Program, inputs: Sequence[tuple[int, bytes]], setup: Setup) -> Run:
    """Loads a program that `program.load` checked and then the inputs, and runs it to its end."""
    machine = setup.place.machine
    sizes = {key: getattr(machine, key) for key in ("shires", "l2_kib", "l3_kib", "scratchpad_kib")}
    chip = native.Chip(setup.place.minions, sizes, timing(), _options(setup))
    for segment in program.segments:
        _write(chip, segment.address, segment.data)
    for address, data in inputs:
        _write(chip, address, data)
    return Run(chip, _outcome(cast("dict[str, Any]", chip.run(program.entry))))


def timing() -> dict[str, float]:
    """The table of parameters, by name."""
    return {}


def _write(chip: native.Chip, address: int, data: bytes) -> None:
    lack = chip.write(address, data) if data else ""
    assert not lack, f"{address:#x} was checked, and is {lack}"


def _options(setup: Setup) -> dict[str, int]:
    return {
        "hazards": _POLICIES[setup.hazards],
        "functional": setup.functional,
        "threads": setup.threads,
        "max_cycles": setup.max_cycles,
        "errata": setup.errata,
        "trace": setup.trace,
    }


def _outcome(found: dict[str, Any]) -> Outcome:
    stop: Stop = found["stop"]
    hart = int(found.get("hart", -1))
    trap = None
    if stop == "trap":
        trap = Trap(hart, found["pc"], found["cause"], found["value"], found.get("word", 0))
    return Outcome(
        stop,
        found["cycles"],
        found["instructions"],
        hart if stop in ("trap", "failed") else -1,
        trap,
        bytes(found["printed"]),
        tuple(found["findings"]),
        tuple(found["waits"]),
        dict(found["counters"]),
        tuple(found["extrapolated"]),
        tuple(found["events"]),
    )


def counters(outcome: Outcome) -> dict[str, Json]:
    """For JSON."""
    return {name: value for name, value in sorted(outcome.counters.items())}
