# SPDX-License-Identifier: Apache-2.0
"""Vector kernels in Python on the same way: run, show, sweep, constants that are bound, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.conftest import Golden

import polyloom as pl
from polyloom.cli.entry import main

TEXT = """\
import polyloom as pl


@pl.tensix.kernel
def prepare(dst, offset: pl.f32):
    pl.tensix.prgm[0] = offset


@pl.tensix.kernel
def leaky(dst, slope: pl.f32, rows=8):
    for _ in range(rows):
        x = dst[0]
        with pl.v_if(x < 0.0):
            x = x * slope
        dst[0] = x
        dst.advance()


@pl.tensix.kernel
def moved(dst):
    for _ in range(8):
        dst[0] = dst[0] + pl.tensix.prgm[0]
        dst.advance()
"""
SLOPE = ["slope=0x3e800000"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]: pytest calls it
    monkeypatch.chdir(tmp_path)
    Path("k.py").write_text(TEXT, encoding="utf-8")
    np.save("x.npy", (np.arange(1024) % 250 - 125).astype(np.float32).reshape(32, 32))


@pytest.mark.parametrize(
    "name", [["k.py:leaky"], ["k.py", "--function", "leaky"], ["k.py", "--function", "leaky(rows=8)"]]
)
def test_a_kernel_runs_and_is_compared(name: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = [*name, *SLOPE, "--on", "tensix", "--in", "dst:bf16=x.npy", "--out", "dst:bf16=y.npy", "--json"]
    assert main(["run", *words]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] is True
    x: NDArray[np.float32] = np.load("x.npy")
    assert np.array_equal(np.load("y.npy"), np.where(x < 0, x / 4, x))


def test_constants_are_bound_and_functions_initialize(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--in", "dst:bf16=x.npy", "--out", "dst:bf16=y.npy", "--on", "tensix"]
    assert main(["run", "k.py", "--function", "moved", "--init", "prepare", "offset=0x40000000", *files]) == 0
    assert np.array_equal(np.load("y.npy"), np.load("x.npy") + 2)
    assert main(["run", "k.py", "--function", "leaky(rows=4)", *SLOPE, *files]) == 0
    x: NDArray[np.float32] = np.load("x.npy")
    rows = np.arange(32)[:, None] % 16 < 8
    assert np.array_equal(np.load("y.npy"), np.where((x < 0) & rows, x / 4, x))


def test_both_languages_make_the_same_words(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ziglang", reason="C++ needs the extra `c`")
    text = "for (int d = 0; d < 8; d++) { dst_reg[0] = abs(dst_reg[0]); dst_reg++; }"
    Path("k.h").write_text(f'#include "sfpi.h"\nusing namespace sfpi;\nvoid f() {{ {text} }}\n', encoding="utf-8")
    body = "    for _ in range(8):\n        dst[0] = abs(dst[0])\n        dst.advance()\n"
    Path("f.py").write_text(f"import polyloom as pl\n@pl.tensix.kernel\ndef f(dst):\n{body}", encoding="utf-8")
    found: list[dict[str, object]] = []
    for words in (["k.h", "--function", "f"], ["f.py"]):
        assert main(["run", *words, "--on", "tensix", "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["outputs"] == found[1]["outputs"]


def test_a_listing_has_the_lines_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "k.py", "--function", "leaky(rows=1)", "--on", "tensix"]) == 0
    assert "  k.py:15  dst[0] = x" in capsys.readouterr().out.splitlines()


def test_a_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "k.py:leaky", "slope=0xbf800000", "--reference", "abs", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["max_ulp"] == 0


def test_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    from polyloom.targets.tensix.source.language.file import load_kernel

    compiled = pl.compile(load_kernel("k.py", "leaky"), on="tensix")
    x: NDArray[np.float32] = np.load("x.npy")
    result = compiled.run({"slope": 0x3E800000, "dst:bf16": x})
    assert result.verified and np.array_equal(result.outputs["dst:bf16"], np.where(x < 0, x / 4, x))


def test_what_is_wrong_is_said(golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        ["run", "k.py", "--on", "tensix"],
        ["run", "k.py", "--function", "leaky(8, 9, 10)", "--on", "tensix"],
        ["run", "k.py", "--function", "leaky(rows=)", "--on", "tensix"],
        ["run", "k.py", "--function", "leaky(rows=open)", "--on", "tensix"],
        ["run", "k.py:other", "--on", "tensix"],
        ["run", "k.py:leaky", "--init", "other", "--on", "tensix"],
    ]
    texts: list[str] = []
    for words in cases:
        code = main(words)
        texts.append(f"$ polyloom {' '.join(words)}\n{capsys.readouterr().err}exit {code}")
    golden("python_bad_input", "\n\n".join(texts))
