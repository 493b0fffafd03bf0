# SPDX-License-Identifier: Apache-2.0
"""docs/errors.md is made of the catalogue of codes, and every code that the sources raise is in the catalogue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import polyloom
from polyloom.codes import CODES

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
SECTIONS = {
    "PL01": "Syntax of programs",
    "PL02": "Meaning of programs",
    "PL03": "Machine descriptions",
    "PL04": "Mapping",
    "PL05": "Instantiation",
    "PL06": "Model and verification",
    "PL07": "Files",
    "PL08": "Command line",
    "PL09": "RISC-V",
}


def page() -> str:
    lines = [
        "# Error codes",
        "",
        "`polyloom explain CODE` prints an entry. This page is made of the catalogue, `src/polyloom/codes.py`.",
    ]
    for prefix, title in SECTIONS.items():
        entries = [(code, *text) for code, text in sorted(CODES.items()) if code.startswith(prefix)]
        lines += ["", f"## {title}"] if entries else []
        for code, name, text in entries:
            lines += ["", f"### {code}: {name}", "", text]
    return "\n".join(lines) + "\n"


def test_page_is_the_catalogue(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_code_is_explained() -> None:
    sources = Path(polyloom.__file__).parent.rglob("*.py")
    raised = {
        code
        for path in sources
        if path.name != "codes.py"
        for code in re.findall(r'"(PL0\d{3})"', path.read_text(encoding="utf-8"))
    }
    assert sorted(raised - set(CODES)) == []
    assert all(code[:4] in SECTIONS for code in CODES)
