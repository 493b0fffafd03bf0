# SPDX-License-Identifier: Apache-2.0
"""Inputs that are made up fit the program: what is used as an index is in range, on every target that takes the
program; flat arrays of C are the matrices that they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyloom as pl
from polyloom import api
from polyloom.cli import main
from polyloom.frontend.source import Options
from polyloom.run import inputs as made
from polyloom.targets import registry
from polyloom.targets.subject import Subject

pytest.importorskip("ziglang", reason="C needs the extra `c`")
SPARSE = """
void spmv(int n, int nnz, int row[n + 1], int col[nnz], float val[nnz], float x[n], float y[n]) {
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int k = row[i]; k < row[i + 1]; k++) s += val[k] * x[col[k]];
        y[i] = s;
    }
}
void histogram(int n, int bins, unsigned char v[n], int h[bins]) { for (int i = 0; i < n; i++) h[v[i]]++; }
int at(int n, int k, int a[n]) { return a[k]; }
"""
FLAT = """
void plain(int n, int a[n * n], int p) {
    for (int i = 1; i < n; ++i)
        for (int j = 1; j < n; ++j)
            a[i * n + j] = a[(i - 1) * n + j] - p;
}
"""
PLACES = ("riscv:rv64gc", "riscv:rv32gc", "belt:silver", "belt:gold")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("sparse.c").write_text(SPARSE, encoding="utf-8")
    Path("flat.c").write_text(FLAT, encoding="utf-8")
    return tmp_path


def subject(path: str, on: str, function: str | None = None) -> Subject:
    target, place = registry.split_place(on)
    return api.read_subject(path, target, place, Options(function=function), target.options())


@pytest.mark.parametrize("on", PLACES)
def test_what_the_accesses_prove(on: str, folder: Path) -> None:
    del folder

    def ranges(name: str, **values: int) -> Any:
        found = subject("sparse.c", on, name).ranges
        assert found is not None
        return found(values)

    assert ranges("spmv", n=5, nnz=9) == {"row": (0, 9), "col": (0, 4)}
    assert ranges("histogram", n=5, bins=7) == {"v": (0, 6)}
    assert ranges("at", n=5) == {"k": (0, 4)}
    assert ranges("at", n=5, k=3) == {}


@pytest.mark.parametrize("on", PLACES)
def test_a_sparse_product_runs(on: str, folder: Path) -> None:
    del folder
    for n, nnz in ((1, 1), (5, 9), (40, 100)):
        assert pl.compile("sparse.c:spmv", on=on).run(n=n, nnz=nnz).verified
    assert pl.compile("sparse.c:histogram", on=on).run(n=20, bins=3).verified
    assert pl.compile("sparse.c:at", on=on).run(n=2).verified


def test_the_whole_range_is_drawn(folder: Path) -> None:
    del folder
    job = pl.compile("sparse.c:spmv", on="riscv").prepare_instance({}).job({"n": 7, "nnz": 500})
    assert set(job.inputs["col"].tolist()) == set(range(7))
    job = pl.compile("sparse.c:histogram", on="riscv").prepare_instance({}).job({"n": 500, "bins": 100})
    assert set(job.inputs["v"].tolist()) == set(range(9)), "the usual values, where they are in range"


def test_given_arrays_are_taken_as_they_are(folder: Path) -> None:
    del folder
    row, col = np.array([0, 1, 2], np.int32), np.array([0, 9], np.int32)
    arrays = {"row": row, "col": col, "val": np.ones(2, np.float32), "x": np.ones(2, np.float32)}
    with pytest.raises(pl.PolyloomError, match="PL0972"):
        pl.compile("sparse.c:spmv", on="riscv").run(arrays, n=2, nnz=2, fill="random")


def test_compare_of_a_sparse_product(folder: Path) -> None:
    del folder
    found = pl.compare("sparse.c:spmv", n=6, nnz=11, on="riscv,belt:silver,belt:gold")
    assert [row.verified for row in found.rows] == [True, True, True]


def test_a_sweep_of_a_sparse_product(folder: Path) -> None:
    del folder
    found = pl.explore("sparse.c:spmv", on="riscv", sweep={"n": [4, 8], "nnz": [5, 50]}, level="verify")
    assert [row.verified for row in found.rows] == [True] * 4


@pytest.mark.parametrize("shape", [None, (25,), (5, 5)])
def test_compare_of_a_flat_matrix(
    shape: tuple[int, ...] | None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del folder
    more = []
    if shape is not None:
        np.save("a.npy", np.arange(25, dtype=np.int32).reshape(shape))
        more = ["--in", "a=a.npy"]
    places = "tcpa:2x2,belt:silver,riscv:rv64gc,minion"
    assert main(["compare", "flat.c", "n=5", "p=2", "--on", places, *more]) == 0
    rows = [line.split("|") for line in capsys.readouterr().out.splitlines() if line.startswith("|")][2:]
    assert [row[2].strip() for row in rows[:3]] == ["equal bits"] * 3
    assert "refused" not in rows[3][2]


def test_a_flat_matrix_of_another_size_is_refused(folder: Path) -> None:
    del folder
    with pytest.raises(pl.PolyloomError, match=r"the input `a` has the shape \(24,\), not \(5, 5\)"):
        pl.compare("flat.c", {"a": np.zeros(24, np.int32)}, n=5, p=2, on="tcpa:2x2,riscv")


# --- random programs ---

SUBSCRIPTS = (
    "p[i]",
    "p[i] + 1",
    "2 * p[i]",
    "p[i] - 2",
    "4 - p[i]",
    "p[q[i]]",
    "p[i] + q[i]",
    "p[i] + j",
    "3 * p[i] + j",
    "q[n - 1 - i]",
    "u[i]",
    "k + p[i]",
)
LOOPS = (
    "for (int i = 0; i < n; i++)",
    "for (int i = n - 1; i >= 0; i--)",
    "for (int i = 0; i < n; i += 2)",
    "for (unsigned i = 0; i != n; i++)",
    "for (int i = 0; i + 1 < n; i++)",
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    outer, subscript, second = (draw(st.sampled_from(s)) for s in (LOOPS, SUBSCRIPTS, SUBSCRIPTS))
    inner = "for (int j = 0; j < 3; j++)" if "j" in subscript + second else ""
    cell = draw(st.sampled_from([f"a[{subscript}]", f"b[{subscript}][{second}]", f"a[{subscript}] + a[{second}]"]))
    parameters = "int n, int m, int k, int p[n], short q[n], unsigned char u[n], float a[m], float b[m][m], float y[n]"
    return f"void f({parameters}) {{ {outer} {inner} y[i] += {cell}; }}\n"


@settings(max_examples=8)
@given(program=programs(), n=st.integers(1, 6), m=st.integers(12, 20), seed=st.integers(0, 3))
def test_random_gathers_are_in_range(
    program: str, n: int, m: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The interpreter faults at an access beside its array."""
    path = tmp_path_factory.mktemp("gather") / "f.c"
    path.write_text(program, encoding="utf-8")
    for on in ("riscv:rv64gc", "belt:silver"):
        read = subject(str(path), on)
        values, scalars = made.read_values(read.signature, {"n": n, "m": m})
        inputs = made.complete_inputs(read.signature, values, scalars, seed=seed, ranges=read.ranges)
        assert read.oracles[0].outputs(values, inputs) is not None, program
