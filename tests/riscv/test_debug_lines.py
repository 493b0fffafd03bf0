# SPDX-License-Identifier: Apache-2.0
"""Line number programs: of clang in two versions, written by hand, and damaged."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from polyloom.riscv.debug_lines import source_lines

TEXT = """int twice(int a) {
  return a * 2;
}
void _start(void) {
  volatile int x = 1;
  x = twice(x);
  for (;;) {}
}
"""


def compiled(folder: Path, version: int) -> bytes:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    (folder / "k.c").write_text(TEXT, encoding="utf-8")
    target = ["-target", "riscv64-freestanding-none", "-mcpu=generic_rv64+m+f+c", "-mabi=lp64f", "-O0"]
    linked = [
        f"-gdwarf-{version}",
        "-fno-sanitize=undefined",
        "-ffreestanding",
        "-nostdlib",
        "-fno-pic",
        "-Wl,-e,_start",
        "k.c",
        "-o",
        "k.elf",
    ]
    command = [sys.executable, "-m", "ziglang", "cc", *target, *linked]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return (folder / "k.elf").read_bytes()


def elf(section: bytes) -> bytes:
    """A file with two sections behind the empty one: `.debug_line` and the names."""
    names = b"\0.debug_line\0.names\0"
    place = 64 + len(section)
    table = [(0,) * 10, (1, 1, 0, 0, 64, len(section), 0, 0, 1, 0), (13, 3, 0, 0, place, len(names), 0, 0, 1, 0)]
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header += struct.pack("<HHIQQQIHHHHHH", 2, 243, 1, 0, 0, place + len(names), 0, 64, 0, 0, 64, 3, 2)
    return header + section + names + b"".join(struct.pack("<IIQQQQIIQQ", *row) for row in table)


def unit(program: bytes) -> bytes:
    """Version 4: a step of 2 bytes, lines from -3 on, 12 of them; the files `a.c` and `b.c`."""
    lengths = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
    head = bytes([2, 1, 1, 0xFD, 12, 13]) + lengths + b"folder\0\0" + b"a.c\0\1\0\0" + b"b.c\0\0\0\0" + b"\0"
    body = struct.pack("<HI", 4, len(head)) + head + program
    return struct.pack("<I", len(body)) + body


def at(address: int) -> bytes:
    return b"\0\x09\x02" + struct.pack("<Q", address)


END = b"\0\x01\x01"


def of(program: bytes) -> Mapping[int, tuple[str, int]]:
    return source_lines(elf(unit(program)))


@pytest.mark.parametrize("version", [4, 5])
def test_of_clang(tmp_path: Path, version: int) -> None:
    found = source_lines(compiled(tmp_path, version))
    numbers = [line for _, (file, line) in sorted(found.items()) if file == "k.c"]
    assert set(numbers) >= {1, 2, 4, 5, 6, 7}
    assert numbers.index(2) < numbers.index(4) < numbers.index(6)
    assert found[max(found)] == ("", 0)


def test_every_operation() -> None:
    """Addresses and lines as section 6.2.5 of DWARF defines them."""
    program = (
        at(0x1000)
        + b"\x03\x09\x01"  # line 10, a row
        + b"\x02\x04\x03\x7e\x01"  # 8 bytes on, two lines back
        + bytes([13 + 12 * 3 + 5])  # 6 bytes on, 2 lines on
        + b"\x08\x01"  # as far as operation 255 goes: 20 steps of 2 bytes
        + b"\x09\x10\x00\x04\x02\x01"  # 16 bytes on; file 2
        + b"\x05\x07\x06\x07\x0a\x0b\x0c\x01\x01"  # what changes neither
        + b"\x02\x01"
        + END
    )
    assert of(program) == {
        0x1000: ("a.c", 10),
        0x1008: ("a.c", 8),
        0x100E: ("a.c", 10),
        0x1036: ("a.c", 10),
        0x1046: ("b.c", 10),
        0x1048: ("", 0),
    }


def test_a_sequence_that_follows_another_goes_on() -> None:
    found = of(at(0x1000) + b"\x01\x02\x02" + END + at(0x1004) + b"\x03\x04\x01\x02\x02" + END)
    assert found == {0x1000: ("a.c", 1), 0x1004: ("a.c", 5), 0x1008: ("", 0)}


def test_a_file_that_is_not_listed_has_no_line() -> None:
    assert of(at(0x1000) + b"\x04\x09\x01" + END) == {0x1000: ("", 0)}


def test_files_without_lines() -> None:
    assert source_lines(b"") == source_lines(b"\x7fELF") == source_lines(elf(b"")) == {}


def test_damage_is_survived() -> None:
    """Any bytes: lines are left out, nothing is raised, and nothing takes long."""
    draw = random.Random(1)
    whole = elf(unit(at(0x1000) + b"\x03\x09\x01\x02\x04" + END))
    for _ in range(3000):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        source_lines(bytes(data[: draw.randint(0, len(data))] if draw.random() < 0.3 else data))
