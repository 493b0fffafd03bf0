# SPDX-License-Identifier: Apache-2.0
"""Mutation analysis (DeMillo, Lipton and Sayward, Hints on test data selection, 1978) of the Verilog: each line changed
once, and whether a co-simulation notices it. `make mutations MUTATIONS=40 SEED=1` prints a sample, `MUTATIONS=0` all.

What notices is Verilator itself, a difference from the model, or a run that does not end. Programs are random ones,
some with a changed byte, one after another on a circuit that keeps its configuration; what the model does is computed
once. Modules of floats are compared with exact arithmetic in one small format instead. Most mutations share a build
(`mutant_schemata.py`); lines that only synthesis reads have one of their own.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from subprocess import CalledProcessError
from typing import Final

from tests.targets.tcpa.rtl.changed_words import changed_programs
from tests.targets.tcpa.rtl.conftest import tiny_circuit
from tests.targets.tcpa.rtl.floats.floats_bench import FOLDER, build_bench, equals_golden
from tests.targets.tcpa.rtl.floats.golden_floats import E4M3
from tests.targets.tcpa.rtl.mutant_schemata import is_synthesized_alone, schema_texts, select_mutant, with_synthesis
from tests.targets.tcpa.rtl.mutations import Mutation, mutations
from tests.targets.tcpa.rtl.random_programs import random_program

from polyloom import temporary
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa import cosimulation
from polyloom.targets.tcpa.cosimulation import Step, run_steps
from polyloom.targets.tcpa.rtl.configuration_changes import Image, Loading, changed_words, load_image, make_image
from polyloom.targets.tcpa.rtl.observed_runs import Fault, ObservedRun, compare
from polyloom.targets.tcpa.rtl.simulator import Simulator, build_simulator
from polyloom.targets.tcpa.rtl.verilog_files import TOP, verilog_files
from polyloom.targets.tcpa.words import concrete_file

EQUIVALENT: Final[Mapping[tuple[str, str], str]] = {
    (
        "element.v",
        "read_twice = 1;",
    ): "any number of units may read a general register",
    ("element.v", "fault = 1;"): "the lowest bit is always assigned after it",
    ("lane.v", "assign quotient = 1;"): "a lane without a divider never takes it",
    ("lane.v", "assign float_quotient = 1;"): "a lane without a divider of floats never takes it",
}
"""Changed lines that mean the same, by file and text: the reason."""
BATCHES: Final = ((1, 0), (3, 3), (26, 3))
"""Programs that are tried one batch after another, and changed files of each: most changes are noticed at once, and a
circuit that does not end takes long in each program."""
Reading = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Texts as a tool reads them."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A step of the circuit, and what the model does in it."""

    step: Step
    expected: ObservedRun | Fault


def trials() -> list[list[Trial]]:
    """Batches of programs, of each also some with a changed byte."""
    found, first = list[list[Trial]](), 0
    for count, changes in BATCHES:
        found.append(list(_batch(range(first, first + count), changes)))
        first += count
    return found


def _batch(seeds: range, changes: int) -> Iterator[Trial]:
    circuit, before = tiny_circuit(), None
    for seed in seeds:
        data, inputs = random_program(circuit.machine, seed)
        for own in (data, *changed_programs(data, seed, changes)):
            # A program that the circuit or the reader refuses is none.
            with suppress(PolyloomError):
                image = make_image(circuit, concrete_file.decode(own))
                expected = cosimulation.run_model(circuit, own, inputs)
                yield Trial(Step(own, inputs, _loading(before, image)), expected)
                before = image


def _loading(before: Image | None, own: Image) -> Loading:
    return load_image(own) if before is None else Loading(False, changed_words(before, own))


def without_differences(simulator: Simulator, batches: Sequence[Sequence[Trial]]) -> list[list[Trial]]:
    """Trials in which the circuit as it is equals the model: where types are mixed, the model's words are wider."""
    found = list[list[Trial]]()
    for batch in batches:
        seen = run_steps(simulator, [trial.step for trial in batch])
        both = zip(batch, seen, strict=True)
        kept = [trial for trial, own in both if compare(trial.expected, own).difference is None]
        images = [make_image(simulator.circuit, concrete_file.decode(trial.step.data)) for trial in kept]
        loadings = [_loading(a, b) for a, b in zip((None, *images), images, strict=False)]
        steps = [Step(t.step.data, t.step.inputs, own) for t, own in zip(kept, loadings, strict=True)]
        found.append([Trial(step, t.expected) for step, t in zip(steps, kept, strict=True)])
    return found


def verdicts(chosen: Sequence[Mutation], batches: Sequence[Sequence[Trial]]) -> Iterator[tuple[Mutation, bool]]:
    """Whether each mutation is noticed: those of a shared build first."""
    floats = [m for m in chosen if m.file.startswith("float_")]
    synthesized = [m for m in chosen if is_synthesized_alone(m)]
    simulated = [m for m in chosen if m not in floats and m not in synthesized]
    texts = verilog_files(tiny_circuit())
    yield from _shared_verdicts(simulated, batches, texts)
    yield from _shared_verdicts(synthesized, batches, texts, with_synthesis)
    yield from _float_verdicts(floats, {**texts, "bench.v": (FOLDER / "bench.v").read_text(encoding="utf-8")})


def _shared_verdicts(
    chosen: Sequence[Mutation], batches: Sequence[Sequence[Trial]], texts: Mapping[str, str], read: Reading = dict
) -> Iterator[tuple[Mutation, bool]]:
    if not chosen:
        return
    replaced, numbers = schema_texts(texts, chosen, TOP)
    with temporary.temporary_folder() as folder:
        shared = build_simulator(tiny_circuit(), folder, 0, replaced=read({**texts, **replaced}))
        for number in numbers:
            select_mutant(number)
            yield chosen[number], any(_differs(shared, batch) for batch in batches)
    for number, mutation in enumerate(chosen):
        if number not in numbers:
            yield mutation, _is_noticed_alone(read({**texts, mutation.file: mutation.text}), batches)


def _is_noticed_alone(texts: Mapping[str, str], batches: Sequence[Sequence[Trial]]) -> bool:
    with temporary.temporary_folder() as folder:
        try:
            built = build_simulator(tiny_circuit(), folder, 0, replaced=texts)
        except PolyloomError:
            return True
        return any(_differs(built, batch) for batch in batches)


def _float_verdicts(chosen: Sequence[Mutation], texts: Mapping[str, str]) -> Iterator[tuple[Mutation, bool]]:
    if not chosen:
        return
    replaced, numbers = schema_texts(texts, chosen, "bench")
    with temporary.temporary_folder() as folder:
        shared = build_bench(folder, E4M3, replaced=replaced)
        for number in numbers:
            select_mutant(number)
            yield chosen[number], not equals_golden(shared, E4M3)
    yield from ((m, _is_noticed_in_bench(m)) for n, m in enumerate(chosen) if n not in numbers)


def _is_noticed_in_bench(mutation: Mutation) -> bool:
    with temporary.temporary_folder() as folder:
        try:
            bench = build_bench(folder, E4M3, replaced={mutation.file: mutation.text})
        except CalledProcessError:
            return True
        return not equals_golden(bench, E4M3)


def _differs(simulator: Simulator, batch: Sequence[Trial]) -> bool:
    try:
        seen = run_steps(simulator, [trial.step for trial in batch])
    except PolyloomError:
        # A run that does not end.
        return True
    return any(compare(t.expected, own).difference is not None for t, own in zip(batch, seen, strict=True))


def checked_trials() -> list[list[Trial]]:
    """Trials that the circuit passes as it is."""
    with temporary.temporary_folder() as folder:
        return without_differences(build_simulator(tiny_circuit(), folder, 0), trials())


def sample(count: int, seed: int) -> list[Mutation]:
    """Some of all mutations in random order, or all of them."""
    every = list(mutations(verilog_files(tiny_circuit())))
    return Random(seed).sample(every, count or len(every))


def main(words: Sequence[str]) -> None:
    count, seed = (int(word) for word in words)
    # Files that a mutation leaves alone are compiled once (Verilator 5 manual, OBJCACHE).
    if shutil.which("ccache") is not None:
        os.environ.setdefault("OBJCACHE", "ccache")
    batches, chosen, left = checked_trials(), sample(count, seed), 0
    for number, (mutation, is_noticed) in enumerate(verdicts(chosen, batches)):
        if is_noticed:
            verdict = "noticed"
        else:
            verdict = EQUIVALENT.get((mutation.file, mutation.shown), "SURVIVES")
            left += verdict == "SURVIVES"
        print(f"{number + 1} {mutation.file}:{mutation.line}: {mutation.shown}: {verdict}", flush=True)
    print(f"{len(chosen) - left} of {len(chosen)} noticed, or equivalent: {100 - 100 * left / len(chosen):.1f} %")


if __name__ == "__main__":
    main(sys.argv[1:])
