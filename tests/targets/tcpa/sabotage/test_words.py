# SPDX-License-Identifier: Apache-2.0
"""Every single changed word is noticed: of compiled configurations by `verify` or else, whatever the data are, by the
comparison with the source; of ten that are mapped by hand by `verify`, a fault, or other outputs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest
from tests.targets.tcpa.instantiate import samples
from tests.targets.tcpa.instantiate.library import instantiate
from tests.targets.tcpa.instantiate.naive import UNLIMITED, Program, symbolic
from tests.targets.tcpa.oracle.naive_machine import fitting
from tests.targets.tcpa.sabotage.cases import CASES, FOLDER, Case, mapped
from tests.targets.tcpa.sabotage.words import (
    CHECKSUM,
    Subject,
    damages,
    difference,
    noticed_at_rest,
    noticed_by,
    noticed_by_running,
    runs_of,
)

from polyloom import frontend
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.run import equivalence
from polyloom.targets.tcpa.words import concrete_file

SEEDS = range(16)
# Nobody can notice a changed operation on a neutral constant, or one whose value nothing takes: these have neither.
SUMS = Program(
    ("i",),
    ("N",),
    ("N",),
    {"in": ("N",), "out": ("N",)},
    ("s = mul in(i) #3 if -i >= 0", "s = add in(i) s[-1] if i - 1 >= 0", "out(i) = and s #-2"),
)
DOWN = replace(
    SUMS, equations=("s = mul in(i) #3 if i - N + 1 >= 0", "s = add in(i) s[1] if N - 2 - i >= 0", "out(i) = shr s #2")
)
PRODUCT = replace(
    samples.MATMUL, equations=tuple(e.replace("c = add m #0", "c = move m") for e in samples.MATMUL.equations)
)


def _mapped(
    name: str, program: Program, values: dict[str, int], region: tuple[int, int], hop_delay: int = 0, **mapping: object
) -> Subject:
    limits = replace(UNLIMITED, hop_delay=hop_delay)
    bound, machine = fitting(symbolic(program, limits=limits, **mapping))  # pyright: ignore[reportArgumentType]
    data = concrete_file.encode(instantiate(bound, values, *region))
    return Subject(name, data, machine, runs_of(data, machine, SEEDS))


SUBJECTS = (
    partial(
        _mapped,
        "bits",
        replace(samples.BITS, equations=(*samples.BITS.equations[:3], "bits(i) = and y #1")),
        {"N": 8},
        (1, 2),
        rows=None,
        columns=0,
        order=(0,),
        interval=2,
    ),
    partial(_mapped, "sums", SUMS, {"N": 7}, (3, 1), rows=0, columns=None, order=(0,), interval=3),
    partial(_mapped, "sums, downwards", DOWN, {"N": 5}, (1, 2), 2, rows=None, columns=0, order=(0,), reflected=(True,)),
    partial(_mapped, "product", PRODUCT, {"N": 3, "M": 3, "K": 2}, (2, 2), rows=0, columns=1, order=(0, 1, 2)),
    partial(
        _mapped, "product, full tiles", PRODUCT, {"N": 2, "M": 4, "K": 2}, (1, 2), 1, rows=0, columns=1, order=(2, 1, 0)
    ),
    partial(_mapped, "fir", samples.FIR, {"N": 5, "T": 3}, (1, 2), rows=0, columns=1, order=(1, 0), interval=2),
    partial(_mapped, "fir, one element", samples.FIR, {"N": 4, "T": 3}, (1, 1), rows=0, columns=1, order=(0, 1)),
    partial(
        _mapped, "jacobi", samples.JACOBI, {"T": 4, "N": 6}, (1, 2), rows=None, columns=1, order=(1, 0), interval=3
    ),
    partial(_mapped, "triangle", samples.TRIANGLE, {"N": 6}, (2, 2), 1, rows=0, columns=1, order=(0, 1), interval=2),
    partial(_mapped, "one iteration", SUMS, {"N": 1}, (1, 2), rows=None, columns=0, order=(0,), interval=2),
)


# What computes the same for all data: the line of the listing, and what became of it.
EQUAL = {
    # An operation whose value nothing takes, in the last iteration.
    "bits on paper": {
        "shri - rd0 1 / next -> shli - rd0 1 / next",
        "shri - rd0 1 / next -> eqi - rd0 1 / next",
    },
    # The first element of the table is the greatest of zeros.
    "lcs on unit": {
        "max rd0 rd0 rd1 / next -> min rd0 rd0 rd1 / next",
        "movei rd0 0 / next -> movei rd0 -1 / next",
        "movei rd0 0 / next -> movei rd0 -2147483648 / next",
    },
}


def _compiled(case: Case) -> Subject:
    name, member, values, region = case
    data = concrete_file.encode(instantiate(mapped(name, member), values, *region))
    return Subject(f"{name} on {member}", data, machine_file.load(member), ())


def _damaged(subject: Subject, step: int = 1) -> list[tuple[bytes, str | None]]:
    """The files with one word of every `step` damaged, and who notices it."""
    rng = random.Random(subject.name)
    assert noticed_by(subject, subject.data) is None
    words = [w for w in range(len(subject.data) // 4) if w not in CHECKSUM][::step]
    return [(d, noticed_at_rest(subject, d)) for w in words for d in damages(subject.data, w, rng)]


def _unnoticed(subject: Subject, damaged: Sequence[tuple[bytes, str | None]]) -> set[str]:
    verdicts = [(d, code or noticed_by_running(subject.runs, subject.machine, d)) for d, code in damaged]
    print(subject.name, len(verdicts), dict(Counter(verdict for _, verdict in verdicts)))
    return {difference(subject.data, d) for d, verdict in verdicts if verdict is None}


def _proved(subject: Subject, case: Case, damaged: Sequence[tuple[bytes, str | None]]) -> set[str]:
    """Of the files in which `verify` finds nothing: those that compute what the source does, for all data."""
    name, _, values, _ = case
    source = frontend.load(str(FOLDER / f"{name}.pla"))

    def holds(data: bytes) -> bool:
        try:
            return bool(equivalence.prove(data, None, source, values))
        except PolyloomError:
            return False

    assert holds(subject.data)
    return {difference(subject.data, d) for d, code in damaged if code is None and holds(d)}


def test_there_are_nine_and_ten_without_exception() -> None:
    assert (len(SUBJECTS), len(CASES) - len(EQUAL)) == (10, 9)


# By default one of the paper's machine, one and several units, two and three dimensions, recurrences, a stencil, no
# iteration at all; these are the same words of other programs.
MORE = {("fir", "unit"), ("matmul", "wide"), ("conv", "unit"), ("matvec", "wide")}


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, marks=pytest.mark.long if c[:2] in MORE else (), id=f"{c[0]} on {c[1]}") for c in CASES],
)
def test_changed_words_of_a_compiled_configuration_are_noticed(case: Case) -> None:
    """One word of three; generators, programs and connections have more words than that each."""
    subject = _compiled(case)
    assert _proved(subject, case, _damaged(subject, 3)) <= EQUAL.get(subject.name, set())


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]} on {c[1]}")
def test_every_changed_word_of_a_compiled_configuration_is_noticed(case: Case) -> None:
    subject = _compiled(case)
    assert _proved(subject, case, _damaged(subject)) == EQUAL.get(subject.name, set())


@pytest.mark.long
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: s.args[0])
def test_every_changed_word_of_a_configuration_mapped_by_hand_is_noticed(subject: Callable[[], Subject]) -> None:
    made = subject()
    assert _unnoticed(made, _damaged(made)) == set()
