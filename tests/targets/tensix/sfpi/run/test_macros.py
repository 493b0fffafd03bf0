# SPDX-License-Identifier: Apache-2.0
"""Kernels with SFPLOADMACRO from C++ to checked outputs: the shipping build and the one without macros, and templates
that no macro uses or one uses wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from polyloom.cli.entry import main

pytest.importorskip("ziglang", reason="C++ needs the extra `c`")

KERNELS = str(Path(__file__).parent / "macros.h")
TILE = np.random.default_rng(5).uniform(-4, 4, (32, 32)).astype(np.float32)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
    np.save("x.npy", TILE)
    code = main(["run", KERNELS, *words, "--on", "tensix", "--json", "--in", "dst:bf16=x.npy"])
    found = capsys.readouterr()
    return code, cast("dict[str, Any]", json.loads(found.out) if code == 0 else {}), found.err


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_both_builds_leave_the_same_dst_and_the_one_with_macros_is_faster(capsys: pytest.CaptureFixture[str]) -> None:
    outputs: list[Any] = []
    cycles: list[int] = []
    for build in ([], ["-D", "WITHOUT_MACROS"]):
        words = ["--function", "clamped", "--init", "prepare", *build, "--out", "dst:bf16=y.npy"]
        code, data, err = run(capsys, *words)
        assert code == 0, err
        assert data["verified"] is True and data["hazards"] == []
        outputs.append(np.load("y.npy"))
        cycles.append(data["cycles"])
    assert (outputs[0] == outputs[1]).all()
    assert outputs[0].min() == 0.5
    assert cycles[0] < cycles[1]


def test_a_template_of_another_sub_unit_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "--function", "wrong", "--init", "prepare_wrongly")
    assert code != 0
    assert "captured-template" in err and "MAD sub-unit executes nothing: template 0" in err


def test_a_word_that_no_macro_wants_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "--function", "captured")
    assert code != 0
    assert "captured-template" in err and "becomes a template" in err
