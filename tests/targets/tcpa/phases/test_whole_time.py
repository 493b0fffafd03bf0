# SPDX-License-Identifier: Apache-2.0
"""Whole time: its closed form against a queue of DMA simulated cycle by cycle, its traffic against element-by-element
counting, its words against those that the circuit's bus carries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.targets.tcpa.rtl.conftest import TINY

import polyloom as pl
from polyloom.cli import main
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.rtl.bus_words import configuration_words
from polyloom.targets.tcpa.rtl.circuit import build_circuit
from polyloom.targets.tcpa.run.configuration_size import count_words
from polyloom.targets.tcpa.run.phases.integer_sets import SetTable
from polyloom.targets.tcpa.run.phases.memory_traffic import measure_time
from polyloom.targets.tcpa.run.phases.reconfiguration import configuration_cycles
from polyloom.targets.tcpa.run.phases.step_overlap import Slot, WholeTime, overlap_steps
from polyloom.targets.tcpa.run.phases.step_sequence import Run, run
from polyloom.targets.tcpa.run.phases.transfers import transfer_cycles
from polyloom.targets.tcpa.words import concrete_file

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

_slots = st.lists(st.builds(Slot, *[st.integers(0, 5)] * 4), max_size=6)
MEMORY = 'name = "memory"\nbased_on = "wide"\ndma_words = 2\ndma_request_cycles = 3\nconfiguration_words = 1\n'
N, M, K, T = pl.sizes("N M K T")


@pl.kernel
def product(A: pl.i32[N, K], B: pl.i32[K, M], C: pl.i32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]


@pl.kernel
def sweeps(x: pl.i32[N]) -> None:
    for t in range(T):
        for i in range(1, N - 1):
            x[i] = t + x[i - 1] + x[i + 1]


@pl.kernel
def paths(path: pl.i32[N, N]) -> None:
    for k in range(N):
        for i in range(N):
            for j in range(N):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


def simulate_queue(slots: Sequence[Slot], halves: int) -> int:
    """Cycles of the array, of one queue of DMA, and of the configuration bus, beside which nothing else moves."""
    last = len(slots)
    # A half is filled when what was in it has left.
    behind = ((name, n) for step in range(last) for name, n in (("store", step), ("load", step + halves)) if n < last)
    queue = [*(("load", n) for n in range(min(halves, last))), *behind]
    clock, done, loaded = 0, 0, set[int]()
    array = bus = transfer = None
    while queue or array is not None or done < last:
        # What takes no time happens at once; what has ended makes room before anything begins.
        if transfer == 0:
            name, step = queue.pop(0)
            loaded |= {step} if name == "load" else set()
            transfer = None
        elif bus == 0:
            bus, array = None, slots[done].array
        elif array == 0:
            array, done = None, done + 1
        elif array is None and bus is None and done in loaded and transfer is None:
            bus = slots[done].configuration
            loaded -= {done}
        elif bus is None and transfer is None and queue and (queue[0][0] == "load" or queue[0][1] < done):
            name, step = queue[0]
            transfer = slots[step].load if name == "load" else slots[step].store
        elif bus is not None:
            clock, bus = clock + 1, bus - 1
        else:
            clock += 1
            array = None if array is None else array - 1
            transfer = None if transfer is None else transfer - 1
    return clock


@given(_slots, st.integers(1, 2))
@settings(max_examples=300)
def test_the_closed_form_is_that_of_the_simulated_queue(slots: list[Slot], halves: int) -> None:
    assert overlap_steps(slots, halves).total == simulate_queue(slots, halves)


def test_steps_alike_take_the_greater_of_both() -> None:
    for array, dma in ((9, 4), (3, 8)):
        found = overlap_steps([Slot(1, dma, array, 0)] * 10, 2)
        assert found.total == 10 + dma + 9 * max(array, dma) + array
    serial = overlap_steps([Slot(0, 4, 9, 2)] * 10, 1)
    assert (serial.wait, serial.total) == (9 * 6, 10 * 15) and overlap_steps((), 2) == WholeTime()


def count_traffic(found: Run, machine: Machine) -> list[tuple[int, int]]:
    """Cycles of loads and stores by step, element by element."""
    touched = [own.accesses_of_step(found.shapes, a) for own, a in zip(found.steps, found.around, strict=True)]
    sets = [[{(n, int(e)) for n, (_, es) in part.items() for e in es} for part in pair] for pair in touched]
    outputs = {a.name for a in found.phased.outputs}

    def cycles(elements: set[tuple[str, int]]) -> int:
        taken, run_length = 0, 0
        for name, element in sorted(elements):
            run_length += 1
            if (name, element + 1) not in elements:
                words = machine.dma_words
                taken += machine.dma_request_cycles + (0 if words is None else -(-run_length // words))
                run_length = 0
        return taken

    loads = [cycles(reads - set().union(*before)) for before, (reads, _) in pairwise([[set(), set()], *sets])]
    stores, dirty = list[int](), set[tuple[str, int]]()
    for (_, writes), (reads, more) in pairwise([*sets, [set[tuple[str, int]](), set[tuple[str, int]]()]]):
        dirty |= writes
        left = dirty - reads - more
        stores.append(cycles({e for e in left if len(stores) + 1 < len(sets) or e[0] in outputs}))
        dirty -= left
    return list(zip(loads, stores, strict=True))


CASES = [
    (product, {"i": 3, "j": 4, "k": 3}, {"N": 7, "M": 8, "K": 6}),
    (product, {"i": 2, "k": 4}, {"N": 4, "M": 3, "K": 9}),
    (sweeps, {"t": 1, "i": 4}, {"N": 13, "T": 3}),
    (paths, None, {"N": 5}),
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("memory") / "memory.toml"
    path.write_text(MEMORY, encoding="utf-8")
    return path


@pytest.mark.parametrize(("kernel", "block", "sizes"), CASES)
def test_traffic_is_that_of_counted_elements(
    memory: Path, kernel: object, block: Mapping[str, int] | None, sizes: Mapping[str, int]
) -> None:
    machine = machine_file.load(str(memory))
    made = pl.compile(kernel, on=f"tcpa:{memory}:2x2", block=block).instantiate(sizes)
    found = run(made.data)
    touched = [own.accesses_of_step(found.shapes, a) for own, a in zip(found.steps, found.around, strict=True)]
    # Banks exchange what they have held since the step before; what others held earlier comes from memory.
    exchanged = [0, *(list(transfer_cycles(pair, found.shapes))[1] for pair in pairwise(touched))]
    rows = zip(count_traffic(found, machine), found.steps, exchanged, configuration_cycles(found, machine), strict=True)
    slots = [Slot(words, load, own.cycles + moved, store) for (load, store), own, moved, words in rows]
    assert measure_time(found, machine) == overlap_steps(slots, 1) and len(slots) > 1
    result = made.run()
    assert result.verified and result.data["time"] == overlap_steps(slots, 1).as_dict()
    assert overlap_steps(slots, 1).array <= (result.cycles or 0)


def test_sets_are_equal_up_to_translation() -> None:
    table = SetTable()
    a, b = table.make(np.array([9, 5, 6])), table.make(np.array([5, 1, 2]))
    assert a.number == b.number and (a.shift, b.shift) == (5, 1)
    assert table.difference(a, b) == table.make(np.array([6, 9])) and table.run_lengths(a).tolist() == [2, 1]
    assert table.run_lengths(table.make(np.array([], np.int64))).tolist() == []


def test_configurations_are_loaded_where_more_than_bases_change(memory: Path) -> None:
    """Blocks of a product differ in their windows; steps of shortest paths in some words of what an element does."""
    machine = machine_file.load(str(memory))
    blocks = run(pl.compile(product, on=f"tcpa:{memory}:2x2", block={"i": 4, "j": 4}).instantiate(N=8, M=8, K=5).data)
    first, *others = configuration_cycles(blocks, machine)
    # Blocks follow one another along j: B and C move, and A too where a row of blocks begins.
    generators = concrete_file.decode(blocks.steps[0].data)
    by_array = {n: sum(generators.arrays[g.array].name == n for g in generators.generators) for n in ("A", "B")}
    assert first == count_words(machine, generators) > 300
    assert others[0] == others[2] == len(generators.generators) - by_array["A"] and others[1] == len(
        generators.generators
    )
    steps = run(pl.compile(paths, on=f"tcpa:{memory}:2x2").instantiate(N=5).data)
    first, *others = configuration_cycles(steps, machine)
    assert first == count_words(machine, concrete_file.decode(steps.steps[0].data)) > 300
    assert all(0 < words < first for words in others)


@pytest.mark.parametrize(("name", "member"), [("gemm", str(TINY)), ("tri", "mid")])
def test_words_are_those_of_the_bus(name: str, member: str) -> None:
    """Slanted faces, routes inwards and several classes included."""
    path = Path(__file__).parents[1] / "rtl" / "kernels" / f"{name}.c"
    compiled = pl.compile(path, on=f"tcpa:{member}:2x2")
    circuit = build_circuit(replace(machine_file.load(member), generator_dimensions=4), 2, 2)
    for size in (4, 5, 7):
        made = compiled.instantiate(dict.fromkeys(compiled.signature.sizes, size))
        concrete = concrete_file.decode(made.data)
        assert count_words(circuit.machine, concrete) == len(configuration_words(circuit, concrete))


def test_run_prints_the_parts_of_the_whole_time(
    memory: Path, tmp_path: Path, golden: Golden, capsys: pytest.CaptureFixture[str]
) -> None:
    timed = tmp_path / "timed.toml"
    timed.write_text(MEMORY + "bank_halves = 2\nclock_mhz = 50\n", encoding="utf-8")
    source = tmp_path / "product.py"
    source.write_text(PRODUCT, encoding="utf-8")
    asked = [str(source), "N=8", "M=8", "K=8", "--on", f"tcpa:{timed}:2x2", "--block", "i=4,j=4"]
    assert main(["run", *asked]) == 0
    shown = capsys.readouterr().out
    assert main(["run", *asked, "--json"]) == 0
    time = json.loads(capsys.readouterr().out)["time"]
    assert time["total"] == sum(time[n] for n in ("configuration", "fill", "array", "wait", "drain"))
    assert time["seconds"] == time["total"] / 50e6
    assert main(["compare", *asked[:4], "--on", f"tcpa:{timed}:2x2,tcpa:2x2", "--json"]) == 0
    here, there = json.loads(capsys.readouterr().out)["rows"]
    assert here["stated_seconds"] == here["whole_time"]["total"] / 50e6 and there["whole_time"] is None
    assert main(["run", *asked[:-2], "--json"]) == 0
    time = json.loads(capsys.readouterr().out)["time"]
    assert main(["explore", *asked[:-2], "--level", "predict", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    parts = {name: cycles for name, cycles in time.items() if name != "seconds"}
    assert {name: row[f"time_{name}"] for name in parts} == parts
    assert main(["run", *asked[:-2], "--report", str(tmp_path / "page.html")]) == 0
    assert f"whole time</dt><dd><b>{time['total']}</b>cycles" in (tmp_path / "page.html").read_text(encoding="utf-8")
    capsys.readouterr()
    golden("whole_time", next(line for line in shown.splitlines() if "whole time" in line))


PRODUCT = """import polyloom as pl

N, M, K = pl.sizes("N M K")


@pl.kernel
def product(A: pl.i32[N, K], B: pl.i32[K, M], C: pl.i32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]
"""
