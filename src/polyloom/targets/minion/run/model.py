# SPDX-License-Identifier: Apache-2.0
"""Interface to the native model (native/minion): what is put into memory, how long a program runs, what it comes to.

The model has one flat memory and the harts of some minions, which all start at one entry. Its answer is plain data;
this module gives it types. Results and cycles do not depend on the number of threads of the host.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, cast

from polyloom.targets.minion.options import MAX_CYCLES, Hazards
from polyloom.targets.minion.place import Place
from polyloom.targets.minion.run import timing
from polyloom.targets.minion.run.account import CycleCounts, read_counts
from polyloom.targets.minion.words.program import Program
from polyloom.targets.target import Json

if TYPE_CHECKING:
    from polyloom._native.minion import Chip, Event, Finding, Result, Wait

Stop = Literal["passed", "failed", "deadlock", "trap", "hazard", "max-cycles", "tensor-error"]
MOST_SPANS = 1 << 21
"""Of a trace. What happens later is left out, and said to be."""
_POLICIES: Final[Mapping[Hazards, int]] = {"off": 0, "report": 1, "error": 2, "poison": 3}


@dataclass(frozen=True, slots=True)
class Setup:
    """Set-up of a run."""

    place: Place
    hazards: Hazards = "error"
    functional: bool = False
    threads: int = 1
    max_cycles: int = MAX_CYCLES
    errata: bool = False
    trace: bool = False
    account: bool = False


@dataclass(frozen=True, slots=True)
class Trap:
    """Trap of a hart that had no handler; `word` is the instruction (cause and value as in the RISC-V privileged
    manual, mcause and mtval).
    """

    hart: int
    pc: int
    cause: int
    value: int
    word: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a run. `cycles` is None without time. `hart` is the one that failed, trapped, or was running when the
    cycles had passed, -1 where there is none; `pc` is where it was. `events` are the trace, whole up to the cycle
    `cut`, and `counted` is for the account of cycles.
    """

    stop: Stop
    cycles: int | None
    instructions: int
    hart: int = -1
    pc: int = 0
    trap: Trap | None = None
    printed: bytes = b""
    findings: Sequence[Finding] = ()
    waits: Sequence[Wait] = ()
    counters: Mapping[str, int] = field(default_factory=dict[str, int])
    extrapolated: Sequence[str] = ()
    events: Sequence[Event] = ()
    cut: int | None = None
    counted: CycleCounts | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Machine after its run, whose memory can be read."""

    chip: Chip
    outcome: Outcome

    def read(self, address: int, size: int) -> bytes:
        """Bytes of memory, which the caller has checked against the memory map."""
        return self.chip.read(address, size)


def run(program: Program, inputs: Iterable[tuple[int, bytes]], setup: Setup) -> Run:
    """Run of a program that `program.load` checked: loads it and then the inputs, and runs it to its end."""
    chip = load_chip(program, inputs, setup)
    return Run(chip, read_outcome(chip.run(program.entry), setup))


def load_chip(program: Program, inputs: Iterable[tuple[int, bytes]], setup: Setup) -> Chip:
    """Machine with a program and then its inputs in memory."""
    # Loaded by the first run: listing and compiling programs do not need the model.
    from polyloom._native.minion import Chip

    machine = setup.place.machine
    sizes = {key: getattr(machine, key) for key in ("shires", "l2_kib", "l3_kib", "scratchpad_kib")}
    sizes["erbium"] = int(machine.is_erbium)
    chip = Chip(setup.place.minions, sizes, timing.parameters(), _options(setup))
    for segment in program.segments:
        _write(chip, segment.address, segment.data)
    # Inputs are written last, because they may replace bytes of the program's own data.
    for address, data in inputs:
        _write(chip, address, data)
    return chip


def _write(chip: Chip, address: int, data: bytes) -> None:
    lack = chip.write(address, data) if data else ""
    assert not lack, f"{address:#x} was checked, and is {lack}"


def _options(setup: Setup) -> dict[str, int]:
    """Options of the native model, by its names."""
    return {
        "hazards": _POLICIES[setup.hazards],
        "functional": setup.functional,
        "threads": setup.threads,
        "max_cycles": setup.max_cycles,
        "errata": setup.errata,
        "trace": setup.trace,
        "account": setup.account,
        "most_spans": MOST_SPANS,
    }


def read_outcome(found: Result, setup: Setup) -> Outcome:
    """Outcome of the native model's plain data; what has no meaning after such an end is left empty."""
    stop, hart = cast(Stop, found["stop"]), found["hart"]
    trap = Trap(hart, found["pc"], found["cause"], found["value"], found["word"]) if stop == "trap" else None
    return Outcome(
        stop,
        None if setup.functional else found["cycles"],
        found["instructions"],
        hart if stop in ("trap", "failed", "max-cycles") else -1,
        found["pc"],
        trap,
        found["printed"],
        found["findings"],
        found["waits"],
        found["counters"],
        timing.extrapolated_parameters(found["used"]),
        found["events"],
        found["cut"],
        read_counts(found["account"], found["lives"], found["over_time"])
        if setup.account and not setup.functional
        else None,
    )


def sorted_counters(outcome: Outcome) -> dict[str, Json]:
    """Counters of a run for JSON, sorted by name."""
    return dict(sorted(outcome.counters.items()))
