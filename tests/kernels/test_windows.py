# SPDX-License-Identifier: Apache-2.0
"""Sums over windows of constant extent run on the array as they run on the processor, whatever the extents: 2 as well
as 3.

Where two loops have two iterations each, isl describes the previous iteration by one function of both, at no constant
distance.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.kernels.running import LANGUAGES, Language, run
from tests.kernels.windows import TARGETS, Around, Target, Window, c_text, python_text, window

from polyloom import api, frontend
from polyloom.ir.recurrence import Produced, System
from polyloom.sets import Affine

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

HAS_C = find_spec("ziglang") is not None
REGIONS = ((1, 1), (1, 2), (2, 2), (2, 1))
EXTENTS = ((2,), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (2, 2, 2), (1, 2, 2), (2, 1, 2), (4, 2, 2))
IMAGE = (Around("y", "N", 2), Around("x", "M", 2))


def written(folder: Path, w: Window, language: Language) -> Path:
    path = folder / f"f.{language}"
    path.write_text(c_text(w) if language == "c" else python_text(w), encoding="utf-8")
    return path


def languages(w: Window) -> Iterator[Language]:
    """Those that can express `w` here: Python has no local arrays."""
    return (n for n in LANGUAGES if (HAS_C if n == "c" else w.target != "local"))


def varying(system: System) -> list[str]:
    """Statements that read themselves at a distance that is not constant."""
    return [
        e.name
        for e in system.equations
        for p in (p for read in e.reads for p in read)
        if isinstance(p.origin, Produced) and p.origin.statement == e.name
        if not all((a - Affine.symbol(loop)).is_constant for a, loop in zip(p.origin.index, e.loops, strict=True))
    ]


def check(folder: Path, seeds: range) -> None:
    """Every window runs, from either language."""
    for seed in seeds:
        w = window(seed)
        for language in languages(w):
            made = api.compile(written(folder, w, language), on="tcpa:wide")
            run(made, {"N": 3 + seed % 2, "M": 2 + seed % 3}, REGIONS[seed % len(REGIONS)])


@pytest.mark.parametrize(
    ("within", "dtype"),
    [
        *((within, "f32") for within in EXTENTS),
        *(pytest.param(within, "i32", marks=() if within == (2, 2) else pytest.mark.long) for within in EXTENTS),
    ],
)
@pytest.mark.parametrize("target", TARGETS)
def test_the_previous_iteration_is_at_a_constant_distance(
    within: tuple[int, ...], target: Target, dtype: str, tmp_path: Path
) -> None:
    w = Window(dtype, target, IMAGE, within, 0, tuple(f"d{n}" for n in range(len(within))))
    for language in languages(w):
        source = frontend.load(str(written(tmp_path, w, language)))
        assert source.system is not None
        assert varying(source.system) == []
        assert not source.system.reasons, "a sum at constant distances keeps its order"


@pytest.mark.skipif(not HAS_C, reason="C needs the extra `c`")
def test_a_pooling_of_two_by_two_in_single_precision(tmp_path: Path) -> None:
    made = api.compile(written(tmp_path, Window("f32", "scalar", IMAGE, (2, 2), 0, ("d0", "d1")), "c"), on="tcpa:wide")
    run(made, {"N": 3, "M": 4}, (2, 2))


def test_windows_of_every_kind_are_accepted(tmp_path: Path) -> None:
    for seed in range(40):
        w = window(seed)
        if w.target != "local":
            frontend.load(str(written(tmp_path, w, "py")))


def test_windows_run(tmp_path: Path) -> None:
    check(tmp_path, range(8))


@pytest.mark.long
@pytest.mark.parametrize("block", range(1, 11))
def test_many_windows_run(block: int, tmp_path: Path) -> None:
    check(tmp_path, range(50 * block, 50 * block + 50))
