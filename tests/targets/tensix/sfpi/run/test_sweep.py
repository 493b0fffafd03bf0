# SPDX-License-Identifier: Apache-2.0
"""Sweeps: every finite value once, errors against references and other kernels, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.conftest import Golden

from polyloom.cli.entry import main
from polyloom.targets.tensix.run import kernel_run, sweep

pytest.importorskip("ziglang", reason="C++ needs the extra `c`")

HERE = Path(__file__).parent
KERNELS = """\
// SPDX-License-Identifier: Apache-2.0
#include "sfpi.h"

using namespace sfpi;

void same() {
    for (int d = 0; d < 8; d++) {
        dst_reg[0] = dst_reg[0];
        dst_reg++;
    }
}

void magnitude() {
    for (int d = 0; d < 8; d++) {
        dst_reg[0] = abs(dst_reg[0]);
        dst_reg++;
    }
}

void next() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0];
        dst_reg[0] = as<vFloat>(as<vInt>(x) + 0x10000);
        dst_reg++;
    }
}

void complement() {
    for (int d = 0; d < 8; d++) {
        vUInt x = dst_reg[0];
        dst_reg[0] = ~x;
        dst_reg++;
    }
}

void times(unsigned factor) {
    for (int d = 0; d < 8; d++) {
        dst_reg[0] = dst_reg[0] * as<vFloat>(vUInt(factor));
        dst_reg++;
    }
}
"""
Data = dict[str, Any]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]: pytest calls it
    monkeypatch.chdir(tmp_path)
    Path("k.h").write_text(KERNELS, encoding="utf-8")


def swept(capsys: pytest.CaptureFixture[str], *words: str) -> Data:
    code = main(["sweep", "k.h", "--json", *words])
    found = capsys.readouterr()
    assert code == 0, found.err
    data = cast(Data, json.loads(found.out))
    assert data["verified"] is True
    return data


@pytest.mark.parametrize("dest", ["16", "32"])
@pytest.mark.parametrize(("form", "count"), [("bf16", 65280), ("fp16", 63488)])
def test_every_finite_value_goes_through_once(
    capsys: pytest.CaptureFixture[str], form: str, count: int, dest: str
) -> None:
    words = ["--function", "same", "--reference", "positive", "--format", form, "--dest", dest]
    data = swept(capsys, *words, "--out", "x=x.npy", "--out", "y=y.npy", "--domain=-inf:inf")
    x, y = np.load("x.npy"), np.load("y.npy")
    assert data["values"] == len(x) == count
    assert np.all(np.isfinite(x)) and np.all(np.diff(np.abs(x[: count // 2])) > 0)
    normal = np.abs(x) >= np.finfo(x.dtype).tiny
    assert np.array_equal(x[normal], y[normal]) and data["nonfinite_mismatches"] == 0


def test_errors_are_found_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    data = swept(capsys, "--function", "next", "--reference", "positive", "--domain", "1:3")
    assert data["max_ulp"] == 1 and data["at"] == 1.0
    assert (data["got"], data["expected"]) == (1.0078125, 1.0)
    assert data["histogram"] == [{"from": 1, "to": 1, "count": data["values"]}]
    assert data["instructions"] > 0 and 3 <= data["cycles_per_vector"] < 20


def test_infinity_on_one_side_is_counted_apart(capsys: pytest.CaptureFixture[str]) -> None:
    data = swept(capsys, "--function", "next", "--reference", "positive", "--domain", "3e38:3.5e38")
    assert data["nonfinite_mismatches"] == 1 and data["max_ulp"] == 1


def test_fp32_is_sampled(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--function", "magnitude", "--reference", "absolute", "--format", "fp32", "--dest", "32"]
    data = swept(capsys, *words, "--stride", "1000003", "--out", "x=x.npy", "--out", "expected=e.npy")
    assert data["max_ulp"] == 0 and data["values"] == 2 * -(-0x7F800000 // 1000003)
    assert np.array_equal(np.load("e.npy"), np.abs(np.load("x.npy")))


def test_unsigned_integers_of_32_bits(capsys: pytest.CaptureFixture[str]) -> None:
    """Half of the results have the highest bit."""
    Path("mine_of_integers.py").write_text("def flipped(x):\n    return 2.0**32 - 1 - x\n", encoding="utf-8")
    words = [
        "--function",
        "complement",
        "--reference",
        "mine_of_integers:flipped",
        "--format",
        "uint32",
        "--dest",
        "32",
    ]
    data = swept(capsys, *words, "--stride", "1000003", "--out", "x=x.npy", "--out", "y=y.npy")
    x, y = np.load("x.npy"), np.load("y.npy")
    assert x.dtype == y.dtype == np.uint32 and np.array_equal(y, ~x) and y.max() > 2**31
    assert (data["max_ulp"], data["values"], data["nonfinite_mismatches"]) == (0, -(-(2**32) // 1000003), 0)


def test_kernels_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.h").write_text(KERNELS.replace("abs(dst_reg[0])", "dst_reg[0]"), encoding="utf-8")
    data = swept(capsys, "--function", "magnitude", "--against", "other.h", "--domain=-1:1")
    assert data["max_ulp"] == 2 * (0x3F80 - 0x7F) and data["at"] == -1.0
    assert swept(capsys, "--function", "magnitude", "--against", "k.h")["max_ulp"] == 0


def test_references_of_one_s_own(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine_of_sweep.py").write_text("def twice(x):\n    return 2 * x\n", encoding="utf-8")
    words = ["--function", "times", "factor=0x40000000", "--reference", "mine_of_sweep:twice"]
    data = swept(capsys, *words, "--domain", "1:100")
    assert data["max_ulp"] == 0


def test_references_of_mpmath() -> None:
    pytest.importorskip("mpmath")
    x = np.array([0.5, -1.0, 0.0])
    assert sweep.load_reference("erf")(x) == pytest.approx([0.5204998778130465, -0.8427007929497149, 0.0])
    assert np.isnan(sweep.load_reference("ln")(np.array([-1.0]))[0])


def test_every_tile_is_compared_with_the_interpreter(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One bit of one tile of the model's is changed."""
    runs: list[int] = []
    original = kernel_run.run

    def damaged(*given: Any, **named: Any) -> kernel_run.KernelRun:
        found = original(*given, **named)
        runs.append(0)
        if len(runs) == 3:
            found.tile.dst[5, 7] ^= 1
        return found

    words = ["sweep", "k.h", "--function", "same", "--reference", "positive"]
    assert main(words) == 0
    monkeypatch.setattr(kernel_run, "run", damaged)
    assert main(words) == 4
    assert "value 2048 and the 1024 from there on differs" in capsys.readouterr().err


def test_the_page_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--function", "next", "--reference", "positive", "--domain", "1:3.5e38", "--report", "r.html"]
    swept(capsys, *words)
    text = Path("r.html").read_text(encoding="utf-8")
    assert "<svg" in text and "http:" not in text and "https:" not in text and 'class="wrong"' in text
    swept(capsys, *words)
    assert Path("r.html").read_text(encoding="utf-8") == text


def test_what_a_person_reads(golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "k.h", "--function", "next", "--reference", "positive", "--domain", "1:3.5e38"]) == 0
    golden("sweep", capsys.readouterr().out)


def test_what_is_wrong_is_said(golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    same = ["k.h", "--function", "same"]
    cases = [
        same,
        [*same, "--reference", "tanh", "--against", "k.h"],
        [*same, "--reference", "tahn"],
        [*same, "--reference", "no_such_module:f"],
        [*same, "--reference", "math:no_such_function"],
        [*same, "--reference", "math:isqrt", "--domain", "1:2"],
        [*same, "--reference", "tanh", "--format", "fp32"],
        [*same, "--reference", "tanh", "--domain", "1"],
        [*same, "--reference", "tanh", "--domain", "1.001:1.002"],
        [*same, "--reference", "tanh", "--stride", "0"],
        [*same, "--reference", "tanh", "--out", "z=z.npy"],
        [*same, "--reference", "tanh", "--on", "riscv"],
        ["k.h", "--function", "times", "--reference", "tanh"],
        ["k.h", "--function", "times", "factor=0x123456789", "--reference", "tanh"],
    ]
    texts: list[str] = []
    for words in cases:
        code = main(["sweep", *words])
        texts.append(f"$ polyloom sweep {' '.join(words)}\n{capsys.readouterr().err}exit {code}")
    golden("sweep_bad_input", "\n\n".join(texts))
