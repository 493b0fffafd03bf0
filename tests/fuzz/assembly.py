# SPDX-License-Identifier: Apache-2.0
"""Assembly text of every target with empty and odd operands: each instruction of each table, and what directives,
labels and macros look like.

`readers.READERS` fuzzes with them; `texts` are seeds, `of_operands` is the damage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Final, TypeVar

from tests.device.devices import ROOT
from tests.fuzz import damage

from polyloom.riscv import disassemble
from polyloom.riscv.encode import decode
from polyloom.riscv.names import parse_isa
from polyloom.targets.minion.words import isa as minion
from polyloom.targets.tensix.words.disassemble import disassemble as tensix_text
from polyloom.targets.tensix.words.disassemble import macro_spelling
from polyloom.targets.tensix.words.isa import table

T = TypeVar("T")
ODD: Final = (
    *(
        "",
        " ",
        "\t",
        ",",
        ",,",
        "(",
        ")",
        "()",
        "(,)",
        "((",
        "a0(",
        "(a0",
        "4(a0",
        "(a0)4",
        "-(a0)",
        "%",
        "%lo",
        "%lo(",
    ),
    *(
        "%lo(x",
        "%hi()",
        "-",
        "--1",
        "~",
        "+",
        "1+",
        "1<<",
        "1<<64",
        "1<<-1",
        "1<<99999",
        "<<",
        "*",
        "/",
        "1/0",
        "=",
        "x=",
    ),
    *(
        "=1",
        "==",
        "0x",
        "0b",
        "0b2",
        "0x1g",
        "1e9",
        "1.5",
        "08",
        "99999999999999999999",
        "0x" + "f" * 40,
        "-0x80000000",
    ),
    *(
        "L",
        "L99",
        "L-1",
        "lreg_dest=",
        "lreg_dest=L0",
        "nothing=3",
        "x99",
        "a0",
        "f0",
        "zero",
        "v0",
        "m0",
        "b0",
        "b99",
        "s1",
    ),
    *(
        "b-1",
        "none",
        "none.q",
        "none.b",
        "%v",
        "%",
        "@",
        "@f",
        "@f+",
        "!",
        "->",
        ":",
        "::",
        ".",
        "..",
        "...",
        "#",
        ";",
        "//",
    ),
    *(
        "/*",
        '"',
        '"a',
        "'",
        "'a",
        "\\",
        "\0",
        "\x1b",
        "é",
        "\ufeff",
        "\u202e",
        "\r",
        "\x0b",
        "\x85",
        "\u2028",
        "rne",
        "dyn",
        "iorw",
    ),
    *(
        "fence",
        ".word",
        ".word 1",
        ".align",
        ".ascii",
        '.ascii "',
        "f:",
        "1b",
        "1f",
        "9f",
        ".+4",
        ".-",
        "i32",
        "wx",
        "wx0",
        "wx99",
    ),
    *("1:w", "1:", ":w", "nan:w", "-1:b", "300:b", "(" * 2000, "-" * 2000, "1+" * 2000, "9" * 5000),
)
_OPERANDS: Final = re.compile(r"^(\s*(?:[\w.$%:=>-]+:?\s+)?[\w.]+\s*\(?)(.*?)(\)?;?\s*(?:[#;].*)?)$")


def of_operands(data: bytes, random: Random) -> bytes:
    """One to three operands are odd, left out or doubled; now and then anything is damaged."""
    if not random.randrange(4):
        return damage.of_text_bytes(data, random)
    lines = data.decode("utf-8", "replace").split("\n")
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = random.randrange(len(lines))
        lines[at] = of_line(lines[at], random.choice(ODD), random)
    return "\n".join(lines).encode()


def with_an_empty_operand(text: str) -> Iterator[str]:
    """Each operand of each line once."""
    for line in text.split("\n"):
        found = _OPERANDS.match(line)
        operands = found[2].split(",") if found is not None else []
        for at in range(len(operands) if len(operands) > 1 or operands != [""] else 0):
            assert found is not None
            kept = [operand if n != at else " " for n, operand in enumerate(operands)]
            yield f"{found[1]}{','.join(kept)}{found[3]}\n"


def of_line(line: str, odd: str, random: Random) -> str:
    """One operand of it is `odd`, or stands beside that."""
    found = _OPERANDS.match(line)
    if found is None:
        return f"{line} {odd}"
    operands = found[2].split(",")
    at = random.randrange(len(operands) + 1)
    operands[at : at + random.randrange(2)] = [odd]
    return f"{found[1]}{','.join(operands)}{found[3]}"


def _some(lines: Sequence[str], around: Callable[[list[str]], list[str]] = list) -> list[bytes]:
    """Texts of twelve lines each."""
    return ["\n".join(around(list(lines[n : n + 12]))).encode() + b"\n" for n in range(0, len(lines), 12)]


@cache
def tensix() -> Sequence[bytes]:
    """Each instruction twice, in both spellings."""
    random = Random(1)
    words = [row.opcode << 24 | random.getrandbits(24) for row in table("wormhole").values()]
    return _some([spell(word) for word in words for spell in (tensix_text, macro_spelling)])


@cache
def riscv() -> Sequence[bytes]:
    """Random words that are instructions, with what else a text has."""
    isa = parse_isa("rv64gc_zicond_zbb")
    return _some(list(_instructions(lambda word: decode(word, isa), disassemble.instruction_text)), _with_labels)


@cache
def minions() -> Sequence[bytes]:
    """Of the vendor's extension as well, and examples with tensor operations."""
    examples = [path.read_bytes() for path in sorted((ROOT / "examples" / "minion").glob("*.s"))]
    return [*_some(list(_instructions(minion.decode, minion.instruction_text)), _with_labels), *examples]


def _instructions(decoded: Callable[[int], T | None], text: Callable[[T], str]) -> Iterator[str]:
    random, seen = Random(2), dict[str, int]()
    for _ in range(6_000):
        found = decoded(random.getrandbits(32))
        if found is None:
            continue
        line = text(found)
        name = line.split()[0]
        seen[name] = seen.get(name, 0) + 1
        if seen[name] <= 2:
            yield line


def _with_labels(lines: list[str]) -> list[str]:
    more = [
        ".align 2",
        ".globl _start",
        "_start:",
        '.ascii "x"',
        ".word 1, 2",
        "li t0, 0x12345678",
        "1: j 1b",
        "la a0, _start",
    ]
    return [*more, *(line.replace(", -", ", ") if line.startswith(("b", "j")) else line for line in lines)]


def belt() -> Sequence[bytes]:
    folder = ROOT / "tests" / "targets" / "belt"
    paths = (folder / "words" / "sum.conasm", *sorted((folder / "source").glob("*.genasm")))
    return [path.read_bytes() for path in paths]


NOTATIONS: Final[Mapping[str, Callable[[], Sequence[bytes]]]] = {
    "tensix:wormhole": tensix,
    "tensix:blackhole": tensix,
    "riscv:rv64gc_zicond_zbb": riscv,
    "riscv:rv32imc": riscv,
    "minion:4": minions,
    "belt:silver": belt,
}
"""By what `--on` names."""
