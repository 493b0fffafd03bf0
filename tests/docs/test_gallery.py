# SPDX-License-Identifier: Apache-2.0
"""The gallery of `make docs`: a page and a bar for each machine, kept until something changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.docs import gallery

from polyloom.cli.bench.comparison import Listed, programs

MATMUL = Listed("matmul", "matmul.pla", {"N": 4, "M": 4, "K": 4})
BITS = Listed("bits", "bits.pla", {"N": 4})


def test_each_program_has_a_page_and_a_bar_on_each_machine(tmp_path: Path) -> None:
    made = gallery.make(tmp_path, [MATMUL, BITS], ["tcpa:2x2", "tensix"], 1)
    assert [(run.program, run.on, bool(run.page)) for run in made] == [
        ("matmul", "tcpa:2x2", True),
        ("matmul", "tensix", True),
        ("bits", "tcpa:2x2", True),
        ("bits", "tensix", False),
    ]
    assert all((tmp_path / run.page).read_text(encoding="utf-8").startswith("<!doctype") for run in made if run.page)
    assert made[3].code.startswith("PL") and made[3].message
    index = (tmp_path / gallery.INDEX).read_text(encoding="utf-8")
    assert 'href="gallery/matmul/tcpa.html"' in index and made[3].code in index
    drawn = (tmp_path / "matmul" / "picture.svg").read_text(encoding="utf-8")
    assert f"{made[0].count:,}" in drawn and drawn.count("<rect") >= 2


def test_a_run_is_kept_until_something_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = gallery.make(tmp_path, [BITS], ["tcpa:1x2"], 1)
    page = tmp_path / first[0].page
    page.write_text("kept")
    assert gallery.make(tmp_path, [BITS], ["tcpa:1x2"], 1) == first and page.read_text() == "kept"
    gallery.make(tmp_path, [replace(BITS, values={"N": 5})], ["tcpa:1x2"], 1)
    assert page.read_text(encoding="utf-8") != "kept"


def test_every_program_of_the_comparison_is_shown() -> None:
    assert [each.name for each in gallery.gallery_programs()] == [each.name for each in programs()]
