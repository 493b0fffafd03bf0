# SPDX-License-Identifier: Apache-2.0
"""Mutation analysis (DeMillo, Lipton and Sayward, Hints on test data selection, 1978) of the Verilog: each line changed
once, and whether a co-simulation notices it. `make mutations MUTATIONS=40 SEED=1` prints a sample, `MUTATIONS=0` all.

What notices is Verilator itself, a difference from the model, or a run that does not end, on a small circuit of
integers, and then, for what that does not notice, on one of floats (`mutant_trials.py`). Modules of floats are first
compared with exact arithmetic in one small format. Most mutations share a build (`mutant_schemata.py`); lines that only
synthesis reads have one of their own. What nothing notices survives, unless Yosys shows that it is the same circuit
(`mutant_equivalence.py`).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from random import Random
from subprocess import CalledProcessError
from typing import Final

from tests.targets.tcpa.rtl.conftest import FLOATS, TINY, kept_simulator, tiny_circuit
from tests.targets.tcpa.rtl.floats.floats_bench import FOLDER, build_bench, equals_golden
from tests.targets.tcpa.rtl.floats.golden_floats import E4M3
from tests.targets.tcpa.rtl.mutant_equivalence import is_equivalent
from tests.targets.tcpa.rtl.mutant_schemata import is_synthesized_alone, schema_texts, select_mutant, with_synthesis
from tests.targets.tcpa.rtl.mutant_trials import Batch, checked_batches, differs
from tests.targets.tcpa.rtl.mutations import Mutation, mutations

from polyloom import temporary
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.rtl.circuit import Circuit
from polyloom.targets.tcpa.rtl.simulator import Simulator, build_simulator
from polyloom.targets.tcpa.rtl.verilog_files import TOP, verilog_files

_PATHS: Final = (TINY, FLOATS)
_MANY: Final = 50
"""Mutations of a build that is worth optimizing."""
Reading = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Texts as a tool reads them."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A circuit with its trials."""

    circuit: Circuit
    batches: Sequence[Batch]

    def notices(self, mutant: Simulator) -> bool:
        return any(_differs(mutant, batch) for batch in self.batches)


def build_benches(paths: Iterable[Path] = _PATHS) -> Iterator[Bench]:
    """Circuits with trials that they pass as they are. What the first does not notice goes to the next one."""
    for path in paths:
        built = kept_simulator(path, int(path == FLOATS))
        yield Bench(built.circuit, checked_batches(built))


def verdicts(chosen: Sequence[Mutation], benches: Iterable[Bench]) -> Iterator[tuple[Mutation, bool]]:
    """Whether each mutation is noticed: those that some circuit notices first."""
    left = list(chosen)
    for notice in chain((_notice_floats,), (partial(_notice, bench) for bench in benches)):
        kept = list[Mutation]()
        for mutation, is_noticed in notice(left):
            if is_noticed:
                yield mutation, True
            else:
                kept.append(mutation)
        left = kept
    yield from ((mutation, False) for mutation in left)


def _notice(bench: Bench, chosen: Sequence[Mutation]) -> Iterator[tuple[Mutation, bool]]:
    """Those that share a build first."""
    yield from _shared_verdicts(bench, [m for m in chosen if not is_synthesized_alone(m)], dict)
    yield from _shared_verdicts(bench, [m for m in chosen if is_synthesized_alone(m)], with_synthesis)


def _shared_verdicts(bench: Bench, chosen: Sequence[Mutation], read: Reading) -> Iterator[tuple[Mutation, bool]]:
    if not chosen:
        return
    texts = verilog_files(bench.circuit)
    replaced, numbers = schema_texts(texts, chosen, TOP)
    with temporary.temporary_folder() as folder:
        # Of many runs of one program, optimizing takes less time than it saves.
        optimization = int(len(numbers) > _MANY)
        shared = build_simulator(bench.circuit, folder, optimization, replaced=read({**texts, **replaced}))
        for number in numbers:
            select_mutant(number)
            yield chosen[number], bench.notices(shared)
    for number, mutation in enumerate(chosen):
        if number not in numbers:
            yield mutation, is_noticed_alone(bench, read({**texts, mutation.file: mutation.text}))


def is_noticed_alone(bench: Bench, texts: Mapping[str, str]) -> bool:
    """Whether a circuit of these texts differs from the model in a build of its own."""
    with temporary.temporary_folder() as folder:
        try:
            built = build_simulator(bench.circuit, folder, 0, replaced=texts)
        except PolyloomError:
            return True
        return bench.notices(built)


def _differs(mutant: Simulator, batch: Batch) -> bool:
    try:
        return differs(mutant, batch)
    except PolyloomError:
        # A run that does not end.
        return True


def _notice_floats(mutations: Sequence[Mutation]) -> Iterator[tuple[Mutation, bool]]:
    """Modules of floats beside exact arithmetic; what is no part of them is not noticed."""
    chosen = [m for m in mutations if m.file.startswith("float_")]
    yield from ((m, False) for m in mutations if m not in chosen)
    if not chosen:
        return
    texts = {**verilog_files(tiny_circuit()), "bench.v": (FOLDER / "bench.v").read_text(encoding="utf-8")}
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


def sample(count: int, seed: int) -> list[Mutation]:
    """Some of all mutations in random order, or all of them."""
    every = list(mutations(verilog_files(tiny_circuit())))
    return Random(seed).sample(every, count or len(every))


def main(words: Sequence[str]) -> None:
    count, seed = (int(word) for word in words)
    # Files that a mutation leaves alone are compiled once (Verilator 5 manual, OBJCACHE).
    if shutil.which("ccache") is not None:
        os.environ.setdefault("OBJCACHE", "ccache")
    chosen, left = sample(count, seed), 0
    for number, (mutation, is_noticed) in enumerate(verdicts(chosen, build_benches())):
        if is_noticed:
            verdict = "noticed"
        else:
            is_same = all(is_equivalent(tiny_circuit(path), mutation) for path in _PATHS)
            verdict = "equivalent" if is_same else "SURVIVES"
            left += not is_same
        print(f"{number + 1} {mutation.file}:{mutation.line}: {mutation.shown}: {verdict}", flush=True)
    print(f"{len(chosen) - left} of {len(chosen)} noticed, or equivalent: {100 - 100 * left / len(chosen):.1f} %")


if __name__ == "__main__":
    main(sys.argv[1:])
