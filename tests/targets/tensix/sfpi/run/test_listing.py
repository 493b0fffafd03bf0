# SPDX-License-Identifier: Apache-2.0
"""The listing of words that are written by hand, and what a program prints."""

from __future__ import annotations

import numpy as np
from tests.conftest import Golden

from polyloom.ir.ssa_read import read
from polyloom.targets.tensix.run import kernel_run
from polyloom.targets.tensix.source.executable import Part, build_executable
from polyloom.targets.tensix.source.listing import listing
from polyloom.targets.tensix.source.note import decode
from polyloom.targets.tensix.words.assemble import assemble

WORDS = """\
REPLAY 0, 4, 1, 1
SFPLOAD L0, 0, 0, 3
SFPABS L0, L0, 1
SFPSTORE L0, 0, 0, 3
INCRWC 0, 2, 0, 0
REPLAY 0, 4, 0, 0
SFPSWAP L0, L1, 0
SFPNOP
"""
REASONS = ["4 words from slot 0", "x", "the result", "", "next row", "again", "a and b", "L0 is there a cycle later"]


def part(body: str, reasons: list[str], data: str = "") -> Part:
    text = f"""pointers 32
external @tensix.word(i32) ordered
external @__sfpi_print_text(ptr, i32) ordered
external @__sfpi_print_int(i32) ordered
external @__sfpi_print_unsigned(i32) ordered
{data}function f(%n: i32) {{
entry:
{body}
    return
}}
"""
    return Part(read(text), reasons)


def words() -> str:
    """Calls, of which each stands in a line of its own."""
    found = assemble(WORDS, "words", "wormhole").words
    return "\n".join(
        f"    call @tensix.word {word - (1 << 32) if word >> 31 else word}:i32 !{k}" for k, word in enumerate(found, 1)
    )


def test_a_listing(golden: Golden) -> None:
    golden("listing", listing(build_executable("f", part(words(), REASONS), None, "wormhole", 16, "face")))


def test_what_is_printed_comes_in_order_and_as_often_as_it_is() -> None:
    body = """\
    call @__sfpi_print_text @text, 3:i32
    call @__sfpi_print_int %n
    call @__sfpi_print_text @text+2, 2:i32
    call @__sfpi_print_unsigned %n
    call @__sfpi_print_text @text+3, 1:i32"""
    data = build_executable("f", part(body, [], "data @text align 1 6e3d202c\n"), None, "wormhole", 16, "tile")
    note = decode(data)
    assert note is not None
    assert kernel_run.run(data, note, {"n": np.array(-5)}).text == "n= -5 ,4294967291,"
    assert kernel_run.run(data, note, {"n": np.array(7)}, tiles=2).text == "n= 7 ,7," * 2


def test_more_than_the_log_holds_is_counted() -> None:
    body = "\n".join("    call @__sfpi_print_int %n" for _ in range(100))
    data = build_executable("f", part(body, []), None, "wormhole", 16, "face")
    note = decode(data)
    assert note is not None
    text = kernel_run.run(data, note, {"n": np.array(1)}, tiles=3).text
    assert text.startswith("1" * 1024) and "(176 more printed than the log holds)" in text


def test_notes_of_others_are_none() -> None:
    assert decode(b"\x7fELF" + bytes(60)) is None
