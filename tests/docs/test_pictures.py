# SPDX-License-Identifier: Apache-2.0
"""Pictures on pages are what the program draws today; `--update-golden` draws them again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.drawn import PICTURES

_ROOT = Path(__file__).parents[2]
_FOLDER = _ROOT / "docs" / "pictures"
_LARGEST = 15_000
"""Bytes."""
_EXPLANATION = re.compile(r"## Explanation\n(.*)\Z", re.DOTALL)


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str, request: pytest.FixtureRequest) -> None:
    path = _FOLDER / f"{name}.svg"
    drawn = PICTURES[name]()
    if request.config.getoption("--update-golden"):
        path.write_text(drawn, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == drawn, "write `pytest tests/docs/test_pictures.py --update-golden`"
    assert len(drawn.encode()) <= _LARGEST
    assert 'aria-label="' in drawn and "prefers-color-scheme:dark" in drawn


def test_each_picture_is_drawn_and_shown() -> None:
    """No file without a drawing, none that no page shows."""
    assert {path.stem for path in _FOLDER.glob("*.svg")} == set(PICTURES)
    pages = "".join(page.read_text(encoding="utf-8") for page in (_ROOT / "docs").glob("**/*.md"))
    assert [name for name in PICTURES if f"pictures/{name}.svg)" not in pages] == []


def test_each_explanation_has_a_picture() -> None:
    index = (_ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    found = _EXPLANATION.search(index)
    assert found is not None
    pages = re.findall(r"\]\(([^)]+\.md)\)", found[1])
    assert len(pages) >= 7
    assert [p for p in pages if "](pictures/" not in (_ROOT / "docs" / p).read_text(encoding="utf-8")] == []
