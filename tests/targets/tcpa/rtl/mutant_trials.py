# SPDX-License-Identifier: Apache-2.0
"""Trials of mutants: configurations that run one after another on a circuit which keeps its configuration, beside what
the model does in each, computed once.

Programs are random ones, some with a changed byte, and some with a property that random ones lack: they begin late, or
a bank that reads leaves its window, reads two words in one step, or reads too late; the first unit lacks an operation,
no unit has a program, or steps end before the units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from tests.targets.tcpa.rtl.changed_words import changed_programs
from tests.targets.tcpa.rtl.random_programs import random_program

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Arrays
from polyloom.targets.tcpa import cosimulation
from polyloom.targets.tcpa.cosimulation import Step
from polyloom.targets.tcpa.rtl.circuit import Circuit
from polyloom.targets.tcpa.rtl.configuration_changes import Image, Loading, changed_words, load_image, make_image
from polyloom.targets.tcpa.rtl.observed_runs import Fault, ObservedRun, compare
from polyloom.targets.tcpa.rtl.simulator import Simulator
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import Concrete, Generator
from polyloom.targets.tcpa.words.isa import Immediate, Instruction, encode_opcode

BATCHES: Final = ((1, 0), (3, 3), (26, 3))
"""Programs that are tried one batch after another, and changed files of each: most changes are noticed at once, and a
circuit that does not end takes long in each program."""
_LATE: Final = 500
"""Cycles by which a program begins later: more than a circuit waits for its end (DRAIN of verilog_files.py)."""
_BEYOND: Final = 1000
"""Words by which an address leaves every array of a random program."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A configuration with its inputs, and what the model does."""

    data: bytes
    inputs: Arrays
    image: Image
    expected: ObservedRun | Fault


@dataclass(frozen=True, slots=True)
class Batch:
    """Trials in order, which the circuit as it is passes."""

    steps: Sequence[Step]
    expected: Sequence[ObservedRun | Fault]


def checked_batches(simulator: Simulator) -> list[Batch]:
    """Batches of trials that the circuit passes as it is: where types are mixed, the model's words are wider."""
    return [_checked(simulator, list(trials)) for trials in _batches(simulator.circuit)]


def differs(simulator: Simulator, batch: Batch) -> bool:
    """Whether a circuit does anything else than the model. Errors: PL0661 for a run that does not end."""
    seen = cosimulation.run_steps(simulator, batch.steps)
    return any(compare(*both).difference is not None for both in zip(batch.expected, seen, strict=True))


def _batches(circuit: Circuit) -> Iterator[Iterator[Trial]]:
    first = 0
    for count, changes in BATCHES:
        yield _trials(circuit, _random_files(circuit, range(first, first + count), changes))
        first += count
    yield _trials(circuit, _special_files(circuit, range(first)))


def _random_files(circuit: Circuit, seeds: Iterable[int], changes: int) -> Iterator[tuple[bytes, Arrays]]:
    for seed in seeds:
        data, inputs = random_program(circuit.machine, seed)
        yield from ((own, inputs) for own in (data, *changed_programs(data, seed, changes)))


def _special_files(circuit: Circuit, seeds: Iterable[int]) -> Iterator[tuple[bytes, Arrays]]:
    """Files of each kind, of the first programs that have a generator for it."""
    for change in (_begin_late, _leave_window, _read_twice, _read_late, _lack_operation, _drop_programs, _end_early):
        found = 0
        for seed in seeds:
            data, inputs = random_program(circuit.machine, seed)
            changed = change(concrete_file.decode(data))
            if changed is not None and found < 2:
                found += 1
                yield concrete_file.encode(changed), inputs


def _begin_late(concrete: Concrete) -> Concrete:
    control = replace(concrete.controller, start=concrete.controller.start + _LATE)
    generators = tuple(replace(g, delay=g.delay + _LATE) for g in concrete.generators)
    return replace(concrete, controller=control, generators=generators)


def _leave_window(concrete: Concrete) -> Concrete | None:
    """A generator that reads begins behind its array."""
    return _with_reader(concrete, lambda reader: replace(reader, base=reader.base + _BEYOND))


def _read_twice(concrete: Concrete) -> Concrete | None:
    """A generator that reads has one point of its domain in two convex sets."""

    def overlap(reader: Generator) -> Generator:
        whole = next(s for s in reader.domain if not s.half_spaces)
        point = replace(whole, upper=whole.lower)
        return replace(reader, domain=(point, whole))

    return _with_reader(concrete, overlap)


def _read_late(concrete: Concrete) -> Concrete | None:
    """A generator reads after elements have popped: their FIFO is empty, but something drives it (PL0611)."""
    return _with_reader(concrete, lambda reader: replace(reader, delay=reader.delay + _LATE))


def _lack_operation(concrete: Concrete) -> Concrete:
    """The first instruction of the first unit, which never moves, is a move: the unit lacks it (PL0618)."""
    moves = Instruction(encode_opcode("move", "i32"), (), (Immediate(1),))
    first, *others = concrete.classes
    (_, *rest), *units = first.programs
    return replace(concrete, classes=(replace(first, programs=((moves, *rest), *units)), *others))


def _drop_programs(concrete: Concrete) -> Concrete:
    """Nothing is issued, whatever the units did before."""
    classes = tuple(replace(c, programs=((),) * len(c.programs)) for c in concrete.classes)
    return replace(concrete, classes=classes, generators=())


def _end_early(concrete: Concrete) -> Concrete:
    """After one step, units still run (PL0624)."""
    return replace(concrete, controller=replace(concrete.controller, steps=1))


def _with_reader(concrete: Concrete, change: Callable[[Generator], Generator]) -> Concrete | None:
    """The configuration with its first generator changed that reads a box, or None if none does."""
    for n, generator in enumerate(concrete.generators):
        if not concrete.arrays[generator.array].is_output and any(not s.half_spaces for s in generator.domain):
            changed = (*concrete.generators[:n], change(generator), *concrete.generators[n + 1 :])
            return replace(concrete, generators=changed)
    return None


def _checked(simulator: Simulator, trials: Sequence[Trial]) -> Batch:
    """The trials that the circuit passes, each with the words that change from the one before it."""
    seen = cosimulation.run_steps(simulator, _steps(trials))
    kept = [t for t, own in zip(trials, seen, strict=True) if compare(t.expected, own).difference is None]
    return Batch(_steps(kept), [t.expected for t in kept])


def _steps(trials: Sequence[Trial]) -> list[Step]:
    before = (None, *(trial.image for trial in trials))
    both = zip(trials, before, strict=False)
    return [Step(t.data, t.inputs, _loading(image, t.image)) for t, image in both]


def _loading(before: Image | None, own: Image) -> Loading:
    return load_image(own) if before is None else Loading(False, changed_words(before, own))


def _trials(circuit: Circuit, files: Iterable[tuple[bytes, Arrays]]) -> Iterator[Trial]:
    for data, inputs in files:
        # A program that the circuit or the reader refuses is none.
        with suppress(PolyloomError):
            image = make_image(circuit, concrete_file.decode(data))
            yield Trial(data, inputs, image, cosimulation.run_model(circuit, data, inputs))
