# SPDX-License-Identifier: Apache-2.0
"""Configurations on parts of a larger array: banks stand at its borders, results are those of a run alone, and what
cannot stand there is refused."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden

import polyloom as pl
from polyloom.cli.entry import main
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.run.phases import descriptions, step_sequence
from polyloom.targets.tcpa.words import concrete_file

ROOT = Path(__file__).parents[4]
SIZES: dict[str, dict[str, int]] = {
    "gemm": {"NI": 7, "NJ": 6, "NK": 5},
    "floyd_warshall": {"N": 5},
    "covariance": {"M": 5, "N": 6},
}
QUADRANTS = {(0, 0): {"north", "west"}, (0, 4): {"north", "east"}, (4, 0): {"south", "west"}, (4, 4): {"south", "east"}}


@cache
def compiled(name: str) -> pl.Compiled:
    folder = "tests/kernels/steps" if name == "floyd_warshall" else "examples/kernels"
    return pl.compile(ROOT / folder / f"{name}.py", on="tcpa:wide")


def placed(name: str, at: tuple[int, int], array: tuple[int, int], pes: tuple[int, int] = (4, 4)) -> pl.Instance:
    return compiled(name).instantiate(SIZES[name], pes=pes, at=at, array=array)


@pytest.mark.parametrize("at", QUADRANTS)
@pytest.mark.parametrize("name", ["gemm", "floyd_warshall"])
def test_banks_stand_at_the_borders_of_the_array(name: str, at: tuple[int, int]) -> None:
    instance = placed(name, at, (8, 8))
    files = [step.data for step in step_sequence.run(instance.data).configurations]
    sides = {g.side for file in files for g in concrete_file.decode(file).generators}
    assert sides <= QUADRANTS[at]
    assert descriptions.verify(instance.data, None) == ()
    assert instance.run().verified


def test_a_whole_array_is_as_without_a_position() -> None:
    assert placed("gemm", (0, 0), (4, 4)).data == compiled("gemm").instantiate(SIZES["gemm"], pes=(4, 4)).data


def test_together_as_alone() -> None:
    """Plans with phases and steps beside each other, which take different numbers of steps."""
    places = {(0, 0): "floyd_warshall", (0, 4): "gemm", (4, 0): "gemm"}
    parts = [placed(name, at, (8, 8)) for at, name in places.items()]
    found = pl.run_together(parts, at=list(places), array=(8, 8), seed=3)
    for instance, result in zip(parts, found, strict=True):
        alone = instance.run(seed=3)
        assert result.verified
        assert result.cycles == alone.cycles
        assert all(np.array_equal(result.outputs[n], alone.outputs[n]) for n in alone.outputs)


def test_given_arrays_and_differences() -> None:
    part = compiled("floyd_warshall").instantiate(N=3, pes=(2, 2), at=(1, 1), array=(3, 3))
    path = np.array([[0, 1, 9], [9, 0, 1], [1, 9, 0]], np.int32)
    (result,) = pl.run_together([part], [{"path": path}], at=[(1, 1)], array=(3, 3))
    assert result.outputs["path"].tolist() == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]


def _together(*at: tuple[int, int], array: tuple[int, int] | None = None) -> object:
    return pl.run_together([compiled("gemm").instantiate(SIZES["gemm"], pes=(2, 2)) for _ in at], at=at, array=array)


REFUSALS: dict[str, Callable[[], object]] = {
    "inside": lambda: _together((0, 0), (0, 2), array=(4, 4)),
    "between": lambda: placed("gemm", (0, 2), (8, 8)),
    "step": lambda: compiled("floyd_warshall").instantiate(N=5, pes=(2, 2)).run(at=(1, 1), array=(5, 5)),
    "together-overlap": lambda: _together((0, 0), (1, 1)),
    "together-outside": lambda: _together((0, 0), (2, 2), array=(3, 3)),
    "position": lambda: placed("gemm", "0,0", (8, 8)),  # pyright: ignore[reportArgumentType]
    "positions": lambda: pl.run_together([compiled("gemm").instantiate(SIZES["gemm"])], at=[(0, 0), (0, 4)]),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_name_side_and_array(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as refusal:
        REFUSALS[name]()
    golden(name, str(refusal.value))


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = np.array([[0, 1, 9], [9, 0, 1], [1, 9, 0]], np.int32)
    np.save(tmp_path / "path.npy", path)
    words = ["simulate"]
    for number, at in ((1, (0, 0)), (2, (0, 2))):
        file = tmp_path / f"{number}.plcc"
        compiled("floyd_warshall").instantiate(N=3, pes=(2, 2), at=at, array=(2, 4)).save(file)
        words += [str(file), "--at", f"{at[0]},{at[1]}", "--in", f"{number}:path={tmp_path / 'path.npy'}"]
    assert main([*words, "--array", "2x4", "--out", f"2:path={tmp_path / 'out.npy'}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in lines] == ["floyd_warshall"] * 2
    assert np.load(tmp_path / "out.npy").tolist() == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]


def test_trace_and_page(tmp_path: Path) -> None:
    """Each program's elements are groups of their own, and each of its phases a section."""
    np.save(tmp_path / "path.npy", np.array([[0, 1, 9], [9, 0, 1], [1, 9, 0]], np.int32))
    words = ["simulate", "--array", "2x4"]
    for number, at in ((1, (0, 0)), (2, (0, 2))):
        file = tmp_path / f"{number}.plcc"
        compiled("floyd_warshall").instantiate(N=3, pes=(2, 2), at=at, array=(2, 4)).save(file)
        words += [str(file), "--at", f"{at[0]},{at[1]}", "--in", f"{number}:path={tmp_path / 'path.npy'}"]
    trace, page = tmp_path / "run.json.gz", tmp_path / "page.html"
    assert main([*words, "--trace", str(trace), "--report", str(page)]) == 0
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    named = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert {"1: element (0, 0)", "2: element (0, 0)"} <= named
    assert sum(e["ph"] == "X" for e in events) == 270
    text = page.read_text(encoding="utf-8")
    assert all(f'<h2 class="part" id="phase-{n}">{n}: floyd_warshall</h2>' in text for n in (1, 2))
    assert "not compared: no source" in text
    assert 'data-program="2:"' in text


BOTH = ["--at", "0,0", "--at", "0,2"]
MALFORMED: dict[str, list[str]] = {
    "one-position": ["--at", "0,0"],
    "no-position": ["--at", "0,0", "--at", "0-2"],
    "no-number": [*BOTH, "--in", "path=x.npy"],
    "no-file": [*BOTH, "--in", "3:path=x.npy"],
    "trace": [*BOTH, "--trace", "run.txt"],
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_commands(name: str, tmp_path: Path, golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "f.plcc"
    compiled("floyd_warshall").instantiate(N=3, pes=(2, 2)).save(file)
    assert main(["simulate", str(file), str(file), *MALFORMED[name]]) == 2
    golden(f"together-{name}", capsys.readouterr().err)


LAYOUTS: dict[str, Any] = {
    "columns": {"A": "columns"},
    "one memory": {"A": "columns+100@2", "B": "rows+500@2"},
    "strides": {"A": ((1, 9), 3, 0), "C": "12,2"},
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_lie_where_they_are_put(name: str) -> None:
    instance = compiled("gemm").instantiate(SIZES["gemm"], pes=(2, 2), layouts=LAYOUTS[name])
    (step,) = step_sequence.run(instance.data).configurations
    lying = {a.name: a for a in concrete_file.decode(step.data).arrays}
    if name == "one memory":
        assert (lying["A"].strides, lying["A"].place) == ((1, 7), concrete_file.Place(2, 100))
        assert (lying["B"].strides, lying["B"].place) == ((6, 1), concrete_file.Place(2, 500))
    assert descriptions.verify(instance.data, None) == ()
    assert instance.run().verified


def test_layouts_of_phases_keep_transfers() -> None:
    plain = compiled("covariance").instantiate(SIZES["covariance"], pes=(2, 2))
    turned = compiled("covariance").instantiate(SIZES["covariance"], pes=(2, 2), layouts={"data": "columns+7@3"})
    assert turned.data != plain.data
    assert turned.run().cycles == plain.run().cycles


WRONG: dict[str, Any] = {
    "unknown": {"Q": "rows"},
    "shared": {"A": "1,2"},
    "together": {"A": "rows@1", "B": "rows+3@1"},
    "text": {"A": "diagonal"},
    "rank": {"A": "1"},
    "large": {"A": "rows+4294967290"},
    "value": {"A": 3},
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_layouts(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as refusal:
        compiled("gemm").instantiate(SIZES["gemm"], pes=(2, 2), layouts=WRONG[name])
    golden(f"layout-{name}", str(refusal.value))


def test_arrays_of_steps_lie_where_they_are_put() -> None:
    plain = compiled("floyd_warshall").instantiate(N=5, pes=(2, 2))
    turned = compiled("floyd_warshall").instantiate(N=5, pes=(2, 2), layouts={"path": "1,9+30@2"})
    lying = [a for step in step_sequence.run(turned.data).steps for a in concrete_file.decode(step.data).arrays]
    # What the array holds before a step lies alike in another memory.
    assert {(a.strides, a.place) for a in lying if a.shape} == {
        ((1, 9), concrete_file.Place(2, 30)),
        ((1, 9), concrete_file.Place(3, 30)),
    }
    assert turned.run().verified
    assert turned.run().cycles == plain.run().cycles
