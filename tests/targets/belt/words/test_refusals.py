# SPDX-License-Identifier: Apache-2.0
"""What a user reads of a program that is broken: files and conasm, each message as a golden text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from polyloom import binary
from polyloom.codes import CODES as GENERAL
from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt.codes import CODES
from polyloom.targets.belt.machine import member
from polyloom.targets.belt.words import belt_file, conasm_read

SUM = (Path(__file__).parent / "sum.conasm").read_text(encoding="utf-8")
FILE = belt_file.write(*conasm_read.read(SUM))
CODE = 2
"""The section of words."""


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(PolyloomError) as caught:
        action()
    for diagnostic in caught.value.diagnostics:
        assert diagnostic.code in {**CODES, **GENERAL}
        assert diagnostic.help
    return str(caught.value)


def with_code(change: Callable[[bytearray], None]) -> bytes:
    """The file with other words, its checksum right."""
    stamp, sections = binary.unpack(belt_file.KIND, FILE)
    parts = [bytearray(s.data[s.position : s.end]) for s in sections]
    change(parts[CODE])
    return binary.pack(belt_file.KIND, stamp, [bytes(part) for part in parts])


def number_of_an_operation(code: bytearray) -> None:
    code[8 * 4] = 250


def unused_bit(code: bytearray) -> None:
    code[8 * 3 + 3] ^= 1


def cut(code: bytearray) -> None:
    del code[-8:]


def more(code: bytearray) -> None:
    code += bytes(8)


def slots_exchanged(code: bytearray) -> None:
    """The two spills of bundle 0."""
    code[8 * 5 : 8 * 7] = code[8 * 6 : 8 * 7] + code[8 * 5 : 8 * 6]


BLOCK = SUM.replace("routine sum", "data block align 64 arguments (w, d)\nroutine sum")
"""The routine with two arguments in memory."""
DATA = 1
"""The section of data, whose last bytes are 16 zeros, the number of arguments and their widths."""


def with_block(change: Callable[[bytearray], None]) -> bytes:
    """The file of `BLOCK` with other data, its checksum right."""
    stamp, sections = binary.unpack(belt_file.KIND, belt_file.write(*conasm_read.read(BLOCK)))
    parts = [bytearray(s.data[s.position : s.end]) for s in sections]
    assert parts[DATA].endswith(bytes(16) + b"\2\2\3")
    change(parts[DATA])
    return binary.pack(belt_file.KIND, stamp, [bytes(part) for part in parts])


def argument_too_wide(data: bytearray) -> None:
    data[-1] = 4


def one_argument_less(data: bytearray) -> None:
    data[-3:] = b"\1\2"


def more_arguments_than_bytes(data: bytearray) -> None:
    data[-3] = 3


def block_not_zero(data: bytearray) -> None:
    data[-4] = 1


def constant_block(data: bytearray) -> None:
    data[-21] = 1


def no_datum(data: bytearray) -> None:
    data[:] = b"\0\1\2"


BLOCKS = (*(argument_too_wide, one_argument_less, more_arguments_than_bytes, block_not_zero, constant_block, no_datum),)

FILES = {
    "another_kind": b"\x7fELF" + FILE[4:],
    "truncated": FILE[:-40],
    "truncated_header": FILE[:20],
    "altered": FILE[:200] + bytes([FILE[200] ^ 1]) + FILE[201:],
    "newer": FILE[:4] + (4).to_bytes(4, "little") + FILE[8:],
    "unknown_operation": with_code(number_of_an_operation),
    "unused_bit": with_code(unused_bit),
    "code_cut": with_code(cut),
    "code_too_long": with_code(more),
    "slots_out_of_order": with_code(slots_exchanged),
}


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, golden: Callable[[str, str], None]) -> None:
    text = refusal(lambda: belt_file.read(FILES[name]))
    golden(f"file_{name}", re.sub(r"(has|for) \d+", r"\1 N", text))  # sizes change with the table of operations


@pytest.mark.parametrize("change", BLOCKS)
def test_blocks_of_arguments(change: Callable[[bytearray], None], golden: Callable[[str, str], None]) -> None:
    """The model and the reader of the whole file refuse the same."""
    data = with_block(change)
    text = refusal(lambda: belt_file.parts(data))
    assert refusal(lambda: belt_file.read(data)) == text
    golden(f"file_{change.__name__}", text)


def test_a_file_for_another_member(golden: Callable[[str, str], None]) -> None:
    unphased = member("silver", phasing=False)
    golden("file_other_member", refusal(lambda: belt_file.read(FILE, member("gold"))))
    golden("file_other_phasing", refusal(lambda: belt_file.read(FILE, unphased)))


TEXTS = {
    "unknown_operation": ("E1 add(b1 %a", "E1 ad(b1 %a"),
    "unknown_member": ("member silver", "member slver"),
    "no_member": ("member silver\n", ""),
    "unknown_callee": ("F0 retn(b0 %s2)", "F0 call summ(b0)"),
    "no_slot": ("E1 add(b1 %a", "add(b1 %a"),
    "wrong_drop": ("-> %i2 s0", "-> %i2 @4 s0"),
    "bundle_out_of_order": ("   4: E0", "   5: E0"),
    "no_drops": (" : drops 6", ""),
    "number_missing": ("delay 3", "delay"),
    "operand": ("recur(b5 %s2", "recur(c5 %s2"),
    "type": ("(w, w) -> (w)", "(w, i) -> (w)"),
    "pass_before_the_routine": ("back 2", "back 6"),
    "line": ("   5: F0", "bundle 5: F0"),
    "signature": ('"type":"<i4"}],"name":"sum"', '"name":"sum"'),
    "two_on_a_line": ("drops 0\n   1:", "drops 0 1:"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_conasm(name: str, golden: Callable[[str, str], None]) -> None:
    old, new = TEXTS[name]
    assert SUM.count(old) >= 1
    text = SUM.replace(old, new, 1)
    golden(f"conasm_{name}", refusal(lambda: conasm_read.read(text, "sum.conasm")))


BLOCK_TEXTS = {
    "vector_argument": ("(w, d)", "(w, dx2)"),
    "wide_argument": ("(w, d)", "(w, q)"),
    "no_argument": ("(w, d)", "()"),
    "datum_behind_the_block": ("(w, d)\n", "(w, d)\ndata t align 4 00\n"),
}


@pytest.mark.parametrize("name", BLOCK_TEXTS)
def test_conasm_of_a_block(name: str, golden: Callable[[str, str], None]) -> None:
    text = BLOCK.replace(*BLOCK_TEXTS[name])
    assert text != BLOCK
    golden(f"conasm_{name}", refusal(lambda: conasm_read.read(text, "sum.conasm")))


def test_a_routine_is_named_once() -> None:
    routine = SUM[SUM.index("routine") :]
    assert "there is already a routine 'sum'" in refusal(lambda: conasm_read.read(SUM + routine))


def test_a_datum_is_named_once() -> None:
    data = "data t align 4 00\n"
    assert "there is already a datum 't'" in refusal(lambda: conasm_read.read("member silver\n" + data + data))


def test_a_member_of_a_file_is_described(tmp_path: Path) -> None:
    """What is no shipped member stands in the text with every key."""
    text = SUM.replace("member silver", "member\n" + "\n".join(f"| {line}" for line in _described().splitlines()))
    program, signature = conasm_read.read(text)
    assert belt_file.read(belt_file.write(program, signature)).machine.name == "mine"


def _described() -> str:
    return member("silver").description.replace('name = "silver"', 'name = "mine"')


@pytest.mark.parametrize("digits", ["9" * 5000, "0x" + "f" * 5000], ids=["decimal", "hexadecimal"])
def test_a_number_of_thousands_of_digits_is_refused(digits: str) -> None:
    """Python reads no decimal one, and prints neither."""
    for text in (
        re.sub(r"(?m)^ *0:", f"{digits}:", SUM, count=1),
        re.sub(r"drops \d+", f"drops {digits}", SUM, count=1),
    ):
        assert text != SUM
        refusal(lambda text=text: belt_file.write(*conasm_read.read(text)))
