# SPDX-License-Identifier: Apache-2.0
"""docs/glossary.md: each word stands there once, in alphabetical order within its part, and its module exists."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").split("\n## ")[1:]
ROW = re.compile(r"^\| ([^|]+?) \| [^|]+ \| ([\d.]*) ?\| `([^`]+)` \|$", re.MULTILINE)


def test_each_word_stands_once() -> None:
    words = [word for part in PARTS for word, _, _ in ROW.findall(part)]
    assert len(words) == len(set(words)) > 60


def test_every_row_is_read() -> None:
    lines = [line for part in PARTS for line in part.splitlines() if line.startswith("| ")]
    assert len(lines) == sum(len(ROW.findall(part)) for part in PARTS) + len(PARTS)


def test_words_are_in_order() -> None:
    for part in PARTS:
        assert all(one.lower() < other.lower() for one, other in pairwise(word for word, _, _ in ROW.findall(part)))


def test_modules_exist() -> None:
    modules = [module for part in PARTS for _, _, module in ROW.findall(part)]
    assert [m for m in modules if not (ROOT / ("" if m.startswith("native/") else "src/polyloom") / m).is_file()] == []


def test_sections_are_those_of_the_paper() -> None:
    sections = {section for part in PARTS for _, section, _ in ROW.findall(part) if section}
    assert sections <= {"3", "3.1", "3.2", "3.3", "4", "5", *(f"5.{n}" for n in range(1, 8)), "6", "6.1", "6.2", "6.3"}
