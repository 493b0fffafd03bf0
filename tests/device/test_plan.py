# SPDX-License-Identifier: Apache-2.0
"""Walks over plans in the library: each step has the bytes that Python gives it, with the same candidates, and the
words that move take the cycles that Python counts; whatever the kind of the file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from tests.device.cases import MATMUL
from tests.in_turns import in_turns
from tests.kernels.sizes import MINI

import polyloom as pl
from polyloom._native import instantiate as native
from polyloom.ir.arguments import array_shape
from polyloom.targets.tcpa.run.phases import step_sequence
from polyloom.targets.tcpa.run.phases.step_sequence import Run
from polyloom.targets.tcpa.words.concrete_file import strip_origin
from polyloom.targets.tcpa.words.phases import stages

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

ROOT = Path(__file__).parents[2]
OUTSIDE, BEST = 4, (1 << 32) - 1
Element = tuple[str, int]
SIZES = ((8, (1, 1)), (8, (2, 3)), (13, (4, 4)))
CASES = {
    "gemm": ("examples/kernels/gemm.py", (7, 5, 6)),
    "covariance": ("examples/kernels/covariance.py", (9, 7)),
    "floyd_warshall": ("tests/kernels/steps/floyd_warshall.py", (7,)),
    "fir": ("examples/kernels/fir.py", (11, 5)),
    "matmul": ("tests/kernels/blocks/matmul.py", (7, 8, 9)),
}
BLOCKS = {"fir": {"i": 4, "j": 3}, "matmul": {"i": 3, "j": 4, "k": 5}}


@cache
def compiled(name: str) -> pl.Compiled:
    return pl.compile(ROOT / CASES[name][0], on="tcpa:wide", block=BLOCKS.get(name))


@cache
def phased(name: str) -> tuple[bytes, pl.Compiled]:
    found = pl.compile(ROOT / "examples" / "kernels" / f"{name}.py", on="tcpa:wide")
    return found.data, found


def on_host(name: str, values: Sequence[int], region: tuple[int, int]) -> Run:
    found = compiled(name)
    return step_sequence.run(found.instantiate(dict(zip(found.parameters, values, strict=True)), pes=region).data)


def assert_same(made: native.Walked, expected: Run) -> None:
    assert made.status == 0
    # What Python's words were made of is told at their end; the library leaves that out of those that it makes.
    walked = [(phase, strip_origin(words)) for phase, _, words, _, _ in made.steps]
    assert walked == [(s.number, strip_origin(s.data)) for s in expected.steps]
    assert tuple(cycles for *_, cycles in made.steps) == expected.transfers
    assert made.cycles == sum(expected.transfers)
    moves = [step for step, _, _, sender, _ in made.transfers if sender[0] != OUTSIDE]
    assert [moves.count(n) for n in range(len(made.steps))] == [count for *_, count, _ in made.steps]


@pytest.mark.parametrize(("name", "region"), in_turns(tuple(CASES), [(1, 1), (2, 3), (4, 4)], 3))
def test_steps_have_the_bytes_and_the_transfers_of_python(name: str, region: tuple[int, int]) -> None:
    values = CASES[name][1]
    assert_same(native.walk(compiled(name).data, values, *region), on_host(name, values, region))


@pytest.mark.parametrize(
    "name",
    ["atax", "bicg", *(pytest.param(name, marks=pytest.mark.long) for name in sorted({*MINI} - {"atax", "bicg"}))],
)
def test_phases_take_the_candidates_of_python(name: str) -> None:
    """Where transfers weigh much these are other ones than the best of each phase alone."""
    data, found = phased(name)
    for values, region in SIZES:
        given = {n: values + k for k, n in enumerate(found.parameters)}
        expected = step_sequence.run(found.instantiate(given, pes=region).data)
        assert_same(native.walk(data, [*given.values()], *region), expected)


def test_candidates_are_chosen_together() -> None:
    data, found = phased("atax")
    given = dict(zip(found.parameters, (8, 9), strict=True))
    together = [words for _, _, words, _, _ in native.walk(data, [*given.values()], 2, 3).steps]
    alone = [native.instantiate(file, [*given.values()], 2, 3).file for file in stages.phase_files(data)]
    assert together != alone


CONCRETE = {
    "program": lambda: pl.compile(ROOT / "examples" / "fir.pla").instantiate(N=8, T=4, pes=(2, 2)),
    "phases": lambda: phased("atax")[1].instantiate(M=5, N=6, pes=(2, 2)),
    "phases that lie": lambda: compiled("covariance").instantiate(
        dict(zip(compiled("covariance").parameters, (9, 7), strict=True)),
        pes=(2, 2),
        layouts={"data": "columns+7@3", "cov": "1,20"},
    ),
    "steps": lambda: compiled("floyd_warshall").instantiate(N=5, pes=(2, 3)),
    "steps that lie": lambda: compiled("floyd_warshall").instantiate(N=5, pes=(2, 2), layouts={"path": "1,9+30@2"}),
    "steps beside a border": lambda: compiled("floyd_warshall").instantiate(N=4, pes=(2, 2), at=(2, 2), array=(4, 4)),
    "steps of one candidate": lambda: compiled("floyd_warshall").instantiate(N=4, pes=(2, 2), candidate=1),
}


@pytest.mark.parametrize("name", CONCRETE)
def test_concrete_files_are_walked(name: str) -> None:
    data = CONCRETE[name]().data
    assert_same(native.walk(data, [], 0, 0), step_sequence.run(data))


def test_layouts_of_a_request() -> None:
    """Transfers then name the words that the array's elements have."""
    found, lying = compiled("floyd_warshall"), [((1, 9), 30, 2)]
    names = [a.name for a in stages.read_phases(found.data).arrays]
    layouts = [((1, 9), 30, 2) if name == "path" else ((), 0, n + 4) for n, name in enumerate(names)]
    assert names == ["path"] and layouts == lying
    made = native.walk(found.data, [5], 2, 2, None, 0, layouts)
    plain = native.walk(found.data, [5], 2, 2)
    assert_same(made, step_sequence.run(CONCRETE["steps that lie"]().data))
    words = [(step, 30 + element // 5 + 9 * (element % 5)) for step, _, element, _, _ in plain.transfers]
    assert sorted((step, word) for step, _, word, _, _ in made.transfers) == sorted(words)


@pytest.mark.parametrize("name", CASES)
def test_every_bank_reads_the_latest_value(name: str) -> None:
    """Banks that know only what they are told: a sender has the word, and what a step reads is what was written
    last."""
    values, region = CASES[name][1], (2, 3)
    made, run = native.walk(compiled(name).data, values, *region), on_host(name, values, region)
    names = [a.name for a in run.phased.arrays]
    shapes = {a.name: array_shape(a, {}) for a in run.phased.arrays}
    latest, banks = dict[Element, int](), dict[tuple[int, Element], int]()
    moves = [move for move in made.transfers if len(run.steps) > 1]
    for number, step in enumerate(run.steps):
        for _, array, index, sender, receiver in [move for move in moves if move[0] == number]:
            element = names[array], index
            sent = latest.get(element, 0) if sender[0] == OUTSIDE else banks[bank(*sender), element]
            assert sender[0] != OUTSIDE or element not in latest
            banks[bank(*receiver), element] = sent
        reads, writes = step.accesses_of_step(shapes, run.around[number])
        for array, (places, elements) in reads.items() if moves else ():
            for key in zip(places.tolist(), elements.tolist(), strict=True):
                assert banks[key[0], (array, key[1])] == latest.setdefault((array, key[1]), 0)
        for array, (places, elements) in writes.items():
            for place, index in zip(places.tolist(), elements.tolist(), strict=True):
                latest[array, index] = banks[place, (array, index)] = number + 1


def bank(side: int, position: int, channel: int) -> int:
    """As `bank_accesses.py` numbers them."""
    return (side << 16 | position) << 16 | channel


@pytest.mark.parametrize("values", [(7,), (7, 5, 6, 1), (7, -1, 5), (7, 5, 1 << 31)])
def test_wrong_values_are_refused(values: tuple[int, ...]) -> None:
    assert native.walk(compiled("gemm").data, values, 2, 2).status in (501, 502, 503)


def test_a_file_of_one_program_is_a_plan_of_one_step() -> None:
    made = native.walk(MATMUL, (5, 7, 3), 2, 2)
    assert [words for _, _, words, _, _ in made.steps] == [native.instantiate(MATMUL, (5, 7, 3), 2, 2).file]
    assert made.transfers == []


def test_a_plan_without_steps_fits_what_the_query_says() -> None:
    made = native.walk(compiled("floyd_warshall").data, (0,), 2, 2)
    assert (made.status, made.steps, made.output) == (0, [], 0)


def test_closed_borders_reach_every_step() -> None:
    """1 is the north, 8 the west: what remains is south and east."""
    found = compiled("floyd_warshall")
    made = native.walk(found.data, (5,), 2, 2, None, 1 | 8)
    steps = step_sequence.run(found.instantiate(N=5, pes=(2, 2), at=(2, 2), array=(4, 4)).data).steps
    assert [strip_origin(words) for _, _, words, _, _ in made.steps] == [strip_origin(step.data) for step in steps]


def test_candidates_by_phase() -> None:
    data, values = compiled("covariance").data, CASES["covariance"][1]
    files = stages.phase_files(data)
    chosen = [0, BEST, 1, BEST]
    made = native.walk(data, values, 2, 2, chosen)
    alone = [
        native.instantiate(file, values, 2, 2, None if c == BEST else c).file
        for file, c in zip(files, chosen, strict=True)
    ]
    assert [words for _, _, words, _, _ in made.steps] == alone


def test_malformed_files_end_in_a_status() -> None:
    data, values = compiled("floyd_warshall").data, CASES["floyd_warshall"][1]
    concrete = [CONCRETE[name]().data for name in ("phases", "steps that lie")]
    for file, given in ((data, values), *((file, ()) for file in concrete)):
        cut = {native.walk(file[:length], given, 2, 2).status for length in range(0, len(file), 41)}
        assert cut == {701, 702}
        altered = {
            native.walk(bytes([*file[:place], file[place] ^ 1, *file[place + 1 :]]), given, 2, 2).status
            for place in range(16, len(file), 41)
        }
        assert altered <= {702, 704}
