# SPDX-License-Identifier: Apache-2.0
"""No text ends an assembler in an internal error: every instruction of every table with each operand left out, and with
odd ones."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.fuzz import assembly
from tests.fuzz.readers import assembled

from polyloom.cli import main

ODD = 60
"""Texts for a notation; `make fuzz` tries them for as long as one likes."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("on", assembly.NOTATIONS)
def test_the_seeds_are_texts_of_the_notation(on: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Almost all of their lines are assembled; damage to others would be found at once."""
    lines = failed = 0
    for data in assembly.NOTATIONS[on]():
        Path("seed").write_bytes(data)
        lines += data.count(b"\n")
        status = main(["asm", "seed", "--on", on, "-o", "made"])
        failed += 0 if status == 0 else capsys.readouterr().err.count("error[")
    assert lines > 100
    assert failed < lines / (2 if on in ("riscv:rv32imc", "tensix:blackhole") else 8), capsys.readouterr().err


@pytest.mark.parametrize("on", assembly.NOTATIONS)
def test_no_operand_may_be_left_out_at_the_cost_of_an_internal_error(on: str) -> None:
    for data in assembly.NOTATIONS[on]():
        for text in assembly.with_an_empty_operand(data.decode()):
            Path("text").write_text(text, encoding="utf-8")
            assembled("text", on)


@pytest.mark.parametrize("on", assembly.NOTATIONS)
def test_odd_operands(on: str) -> None:
    random, seeds = Random(5), assembly.NOTATIONS[on]()
    for _ in range(ODD):
        data = assembly.of_operands(random.choice(seeds), random)
        Path("text").write_bytes(data)
        try:
            assembled("text", on)
        except Exception as error:
            raise AssertionError(data) from error


def test_an_empty_operand(capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.tts").write_text("SFPLOAD L0, , 3\nSFPMAD L1,,L13, L14\nSFPLOAD ,\nTTI_SFPLOAD(,,,)\n", encoding="utf-8")
    assert main(["asm", "x.tts", "--on", "tensix", "-o", "x.bin"]) == 1
    err = capsys.readouterr().err
    assert [line for line in err.splitlines() if line.startswith((" -->", "error"))] == [
        "error[PL1203]: expected a number",
        " --> x.tts:1:13",
        "error[PL1203]: expected a number",
        " --> x.tts:2:11",
        "error[PL1203]: expected a number",
        " --> x.tts:3:9",
        "error[PL1203]: expected a number",
        " --> x.tts:4:13",
    ]
