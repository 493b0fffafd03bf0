# SPDX-License-Identifier: Apache-2.0
"""Every error of the language: the faulty texts in `errors/` and what a person reads about them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Golden

from polyloom.codes import CODES
from polyloom.diagnostics import INPUT, PolyloomError
from polyloom.frontend.pla import load, parse

FOLDER = Path(__file__).parent / "errors"
FAULTY = sorted(FOLDER.glob("*.pla"))
UNREACHABLE = {"PL0103", "PL0104", "PL0201", "PL0230", "PL0231", "PL0232", "PL0233", "PL0234"}
"""Codes that no faulty text shows: they have tests of their own."""


def diagnose(path: Path) -> PolyloomError:
    with pytest.raises(PolyloomError) as caught:
        parse(path.read_text(encoding="utf-8"), path.name)
    return caught.value


@pytest.mark.parametrize("path", FAULTY, ids=lambda p: p.stem)
def test_faulty_text_is_explained(path: Path, golden: Golden) -> None:
    error = diagnose(path)
    assert error.exit_code == INPUT
    assert all(d.code in CODES for d in error.diagnostics)
    golden(f"errors/{path.stem}", str(error))


def test_every_code_of_the_language_is_shown_by_a_faulty_text() -> None:
    shown = {d.code for path in FAULTY for d in diagnose(path).diagnostics}
    assert shown | UNREACHABLE == {code for code in CODES if "PL0100" < code < "PL0130" or "PL0200" < code < "PL0240"}


def test_deep_nesting_is_refused_without_a_traceback() -> None:
    text = "parameter N\noutput y[N]: i32\nfor 0 <= i < N do\n  y[i] = " + "(" * 100_000
    with pytest.raises(PolyloomError, match="PL0103"):
        parse(text)


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PolyloomError, match="PL0104"):
        load(tmp_path / "absent.pla")
    (tmp_path / "binary.pla").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolyloomError, match="PL0104"):
        load(tmp_path / "binary.pla")


def test_endless_numbers_are_refused_without_a_traceback() -> None:
    text = "parameter N\noutput y[N]: i32\nfor 0 <= i < N do\n  y[i] = {}\n"
    with pytest.raises(PolyloomError, match="PL0102"):
        parse(text.format("9" * 10_000))
    with pytest.raises(PolyloomError, match="PL0207"):
        parse(text.format("9" * 300))
    with pytest.raises(PolyloomError, match="PL0101"):
        parse(text.format("\u0663"))
    with pytest.raises(PolyloomError, match="PL0103"):
        parse(text.format("1" + " + 1" * 100_000))
