# SPDX-License-Identifier: Apache-2.0
"""Addresses of a program by symbol and source line; the note that holds the lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.targets.minion.host.programs import CODE, Elf, made

from polyloom.ir.ssa import Place
from polyloom.riscv import note as notes
from polyloom.riscv.source_lines import Lines, decode_lines, encode_lines
from polyloom.targets.minion.words.locate import Locator, Where

TEXT = "start:\naddi x1, x0, 1\naddi x2, x0, 2\nloop:\naddi x3, x0, 3\naddi x4, x0, 4\n"


def test_symbol_and_line() -> None:
    found = Locator.of(made(TEXT, {0: ("k.s", 2), 4: ("k.s", 3), 8: ("l.s", 5)}))
    assert str(found.at(CODE)) == "0x8000001000 (start, k.s:2)"
    assert str(found.at(CODE + 6)) == "0x8000001006 (start+0x6, k.s:3)"
    assert found.at(CODE + 12) == Where(CODE + 12, "loop", 4, "l.s", 5)


def test_outside_of_the_code_nothing_is_known() -> None:
    found = Locator.of(made(TEXT, {0: ("k.s", 2)}))
    assert str(found.at(CODE - 2)) == hex(CODE - 2)
    assert str(found.at(CODE + 16)) == hex(CODE + 16)


def test_a_line_of_zero_ends_the_one_before() -> None:
    found = Locator.of(made(TEXT, {0: ("k.s", 2), 4: ("k.s", 0)}))
    assert [found.at(CODE + offset).source for offset in (0, 4, 8)] == ["k.s:2", "", ""]


def test_files_without_symbols_or_notes() -> None:
    assert Locator.of(b"\x13\0\0\0").at(CODE) == Where(CODE)
    assert Locator.of(Elf().data).at(CODE) == Where(CODE)


LINES = st.dictionaries(st.integers(0, 200), st.tuples(st.sampled_from(["a.s", "b.s"]), st.integers(0, 9)), max_size=12)


@given(LINES)
def test_lines_are_read_back(lines: dict[int, tuple[str, int]]) -> None:
    """For every address, the last line at or before it."""
    places = {at: Place(*place) for at, place in lines.items()}
    text = notes.note_text({"version": 1, "target": "minion", "lines": encode_lines(places)})
    found = decode_lines(_noted(text))
    for address in range(202):
        last = max((at for at in lines if at <= address), default=None)
        place = None if last is None or not lines[last][1] else Place(*lines[last])
        assert found.at(address) == place


def _noted(text: bytes) -> bytes:
    from tests.targets.minion.host.programs import ISA

    from polyloom.riscv.backend.link import executable

    return executable(b"", CODE, b"\x13\0\0\0", ISA, {"start": 0}, note=text)


def test_notes_with_other_lines_have_none() -> None:
    assert (
        decode_lines(_noted(notes.note_text({"version": 1, "target": "minion", "lines": {"k.s": [[0, 1, "x", 2]]}})))
        == Lines()
    )
    assert decode_lines(_noted(notes.note_text({"version": 1, "target": "minion"}))) == Lines()
    assert decode_lines(_noted(notes.note_text({"version": 1, "target": "minion", "lines": [1]}))) == Lines()
