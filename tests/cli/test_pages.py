# SPDX-License-Identifier: Apache-2.0
"""docs/errors.md is made of the catalogue of codes, and every code that the sources raise is in the catalogue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import polyloom
from polyloom import codes as catalogue
from polyloom.targets.entry import BUILT_IN, entries, load_named

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
    "PL10": "The belt machine",
    "PL11": "The belt machine: specializer",
    "PL12": "The Tensix tile",
    "PL13": "The Minion",
    "PL14": "Exploration",
}
OWN = [load_named(where) for name in BUILT_IN if (where := entries()[name].codes) is not None]
CODES: dict[str, tuple[str, str]] = {code: text for codes in (catalogue.CODES, *OWN) for code, text in codes.items()}


def page() -> str:
    lines = [
        "# Error codes",
        "",
        "This page lists every error code, with its cause and what helps. `polyloom explain CODE` prints an entry. The "
        "page is generated from the catalogue, `src/polyloom/codes.py`, and those of the targets.",
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
        if not path.name.startswith("codes")
        for code in re.findall(r'"(PL[01]\d{3})"', path.read_text(encoding="utf-8"))
    }
    assert sorted(raised - set(CODES)) == []
    assert all(code[:4] in SECTIONS for code in CODES)
