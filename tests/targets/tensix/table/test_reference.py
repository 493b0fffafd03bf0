# SPDX-License-Identifier: Apache-2.0
"""docs/targets/tensix.md has the tables of the instruction table, and its commands work."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyloom.targets.tensix import codes
from polyloom.targets.tensix.words.isa import MEMBERS, table
from polyloom.targets.tensix.words.reference import BEGIN, END, instructions

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs" / "targets" / "tensix.md"


def test_the_page_has_the_table(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    begin = text.find(BEGIN)
    made = text[: begin if begin >= 0 else len(text)].rstrip("\n") + f"\n\n{instructions()}\n"
    if request.config.getoption("--update-golden"):
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made
    assert made.count(END) == 1


def test_every_instruction_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for member in MEMBERS:
        assert [row.mnemonic for row in table(member).values() if f"`{row.mnemonic}`" not in text] == []


def test_every_finding_is_explained() -> None:
    text = PAGE.read_text(encoding="utf-8")
    golden = (Path(__file__).parent / "golden").glob("*.txt")
    kinds = {
        line.split(": ")[1]
        for path in golden
        for line in path.read_text().splitlines()
        if line.startswith("error[PL1212]")
    }
    assert len(kinds) >= 8
    assert [kind for kind in kinds if f"`{kind}`" not in text] == []


def test_codes_are_of_this_target() -> None:
    assert all(code.startswith("PL12") for code in codes.CODES)
